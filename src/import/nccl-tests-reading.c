/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import/nccl-tests-parts.h"

#include <math.h>
#include <string.h>

G_DEFINE_QUARK (lockstep-nccl-tests-error-quark, nccl_tests_error)

gboolean
nccl_tests_op (const char *text, CollectiveOp *op, const char **name)
{
  static const struct { const char *letters, *name; CollectiveOp op; } known[] = {
    { "allreduce", "all-reduce", OP_ALL_REDUCE }, { "allgather", "all-gather", OP_ALL_GATHER },
    { "reducescatter", "reduce-scatter", OP_REDUCE_SCATTER }, { "alltoall", "all-to-all", OP_ALL_TO_ALL },
    { "sendrecv", "send-recv", OP_SEND_RECV }, { "broadcast", "broadcast", OP_BROADCAST },
    { "reduce", "reduce", OP_BROADCAST },
  };
  g_autoptr (GString) letters = g_string_new (NULL);

  for (const char *c = text; *c != '\0' && letters->len < 100; c++)
    if (g_ascii_isalpha (*c))
      g_string_append_c (letters, g_ascii_tolower (*c));
  for (gsize i = 0; i < G_N_ELEMENTS (known); i++)
    if (strstr (letters->str, known[i].letters) != NULL)
      {
        *op = known[i].op;
        *name = known[i].name;
        return TRUE;
      }
  return FALSE;
}

static char *
place (const Reading *reading, guint line)
{
  return line > 0 ? g_strdup_printf ("%s:%u", reading->name, line) : g_strdup (reading->name);
}

gboolean
reading_wrong (const Reading *reading, guint line, GError **error, const char *format, ...)
{
  g_autofree char *where = place (reading, line);
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, NCCL_TESTS_ERROR, NCCL_TESTS_ERROR_INPUT, "%s: %s", where, message);
  return FALSE;
}

/* A log with one fault often has it in every row: name a few. */
void
reading_remark (Reading *reading, guint line, const char *format, ...)
{
  static const guint enough = 8;
  g_autofree char *where = place (reading, line);
  g_autofree char *message = NULL;
  va_list args;

  if (reading->tests->remarks->len == enough)
    g_ptr_array_add (reading->tests->remarks, g_strdup_printf ("%s: more rows are left out for reasons like these", reading->name));
  if (reading->tests->remarks->len >= enough)
    return;
  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  g_ptr_array_add (reading->tests->remarks, g_strdup_printf ("%s: %s", where, message));
}

void
reading_skip (Reading *reading, guint line, guint index, NcclTestsReason reason)
{
  const NcclTestsSkip skip = { line, index, reason };

  g_array_append_val (reading->tests->skips, skip);
}

static gboolean
same_number (double a, double b)
{
  return (isnan (a) && isnan (b)) || fabs (a - b) <= 1e-9 * fabs (a);
}

guint
reading_system (Reading *reading, const char *gpu, const char *intra, const char *inter, const char *version, double nic)
{
  GPtrArray *systems = reading->tests->systems;
  NcclTestsSystem *system;

  for (guint i = 0; i < systems->len; i++)
    {
      system = g_ptr_array_index (systems, i);
      if (g_str_equal (system->gpu, gpu) && g_str_equal (system->intra, intra) && g_str_equal (system->inter, inter)
          && g_str_equal (system->version, version) && same_number (system->nic, nic))
        return i;
    }
  system = g_new0 (NcclTestsSystem, 1);
  *system = (NcclTestsSystem) { g_strdup (gpu), g_strdup (intra), g_strdup (inter), g_strdup (version), nic };
  g_ptr_array_add (systems, system);
  return systems->len - 1;
}
