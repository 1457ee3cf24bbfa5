/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import/nccl-tests-parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"

/* The printed tables of nccl-tests since 2019: 12 or 13 fields a row (root came
 * later), "error" or "#wrong", NCCL's own log lines and mpirun's labels between. */

#define MAX_FIELDS 24u
#define MAX_RANKS 65536u

typedef struct
{
  Reading    *reading;
  CollectiveOp op;
  const char *op_name;        /* NULL: not said so far */
  char        version[32], gpu[128];
  GHashTable *hosts;          /* name -> NULL */
  guint       ranks;
  guint       devices;        /* lines "Rank n" of this table */
  double      last_size;
  gboolean    in_table, ended;
  guint       last_line, rows, table_start;
  char        label[64];      /* mpirun's, of the first row of data; "" none */
} Log;

/* "[1,0]<stdout>:" of mpirun, "0: " of srun. */
static const char *
skip_label (const char *line, char label[64])
{
  const char *c = line;
  gsize length;

  label[0] = '\0';
  if (*c == '[')
    {
      while (g_ascii_isdigit (*++c) || *c == ',')
        ;
      if (!g_str_has_prefix (c, "]<std"))
        return line;
      c = strchr (c, ':');
    }
  else
    {
      while (g_ascii_isdigit (*c))
        c++;
      if (c == line || *c != ':' || c[1] != ' ')
        return line;
    }
  if (c == NULL)
    return line;
  length = MIN ((gsize) (c - line), 63);
  memcpy (label, line, length);
  label[length] = '\0';
  return c + 1;
}

static gboolean
field_number (const char *text, double *value)
{
  char *end;

  *value = g_ascii_strtod (text, &end);
  return end != text && *end == '\0' && isfinite (*value);
}

static void
read_version (Log *log, const char *line)
{
  const char *plain = strstr (line, "NCCL version "), *code = strstr (line, "nccl-library=");
  gsize length;

  if (plain != NULL)
    {
      plain += strlen ("NCCL version ");
      length = strspn (plain, "0123456789.");
      if (length > 0 && length < sizeof log->version)
        g_strlcpy (log->version, plain, length + 1);
    }
  else if (code != NULL)
    {
      const int number = atoi (code + strlen ("nccl-library="));

      if (number > 10000 && number < 1000000)
        g_snprintf (log->version, sizeof log->version, "%d.%d.%d", number / 10000, number / 100 % 100, number % 100);
    }
}

/* "#  Rank  0 Group  0 Pid  41207 on     node-a device  0 [0000:07:00] NVIDIA A100-SXM4-80GB" */
static gboolean
read_device (Log *log, const char *line, guint number, GError **error)
{
  const char *on = strstr (line, " on "), *device = on != NULL ? strstr (on, " device ") : NULL;
  const char *bracket = device != NULL ? strchr (device, ']') : NULL;
  g_autofree char *host = NULL, *gpu = NULL;

  if (bracket == NULL)
    return TRUE;
  if (log->rows > 0 && log->ended)
    {
      log->devices = 0;
      g_hash_table_remove_all (log->hosts);
      log->gpu[0] = '\0';
      log->ended = FALSE;
    }
  host = g_strndup (on + 4, device - on - 4);
  g_strstrip (host);
  gpu = g_strdup (bracket + 1);
  g_strstrip (gpu);
  if (log->gpu[0] == '\0')
    g_strlcpy (log->gpu, gpu, sizeof log->gpu);
  else if (strncmp (log->gpu, gpu, sizeof log->gpu - 1) != 0)
    {
      g_autofree char *one = names_quote (log->gpu), *other = names_quote (gpu);

      return reading_wrong (log->reading, number, error, "ranks on different GPUs, %s and %s; give runs of one kind", one, other);
    }
  if (++log->devices > MAX_RANKS)
    return reading_wrong (log->reading, number, error, "more than %u ranks", MAX_RANKS);
  g_hash_table_add (log->hosts, g_steal_pointer (&host));
  return TRUE;
}

/* Fields of a row behind size, count and type: operation and root may lack. */
static guint
skip_words (char **fields, guint n)
{
  guint at = 3;
  double value;

  if (at < n && !field_number (fields[at], &value))
    at++;
  if (at < n && (n - at) % 4 == 1)
    at++;
  return at;
}

static gboolean
settle_op (Log *log, guint number, double ratio, gboolean reduces, GError **error)
{
  const double n = log->devices, all = 2 * (n - 1) / n, half = (n - 1) / n;
  const char *found = NULL;

  if (log->op_name != NULL)
    return TRUE;
  if (nccl_tests_op (log->reading->name, &log->op, &log->op_name))
    return TRUE;
  /* an old log that does not say its operation: the factor of busbw over algbw does */
  if (reduces && fabs (ratio - all) < 0.02)
    found = "all_reduce";
  else if (reduces && fabs (ratio - half) < 0.02)
    found = "reduce_scatter";
  if (found == NULL || !nccl_tests_op (found, &log->op, &log->op_name))
    return reading_wrong (log->reading, number, error, "the log does not say which collective it is; keep its line "
                          "'# Collective test starting' or put the name into the file's (all_gather.txt)");
  return TRUE;
}

static void
add_pass (Log *log, char **fields, double size, guint number, const char *gpu)
{
  Pass pass = { .op = log->op, .op_name = log->op_name, .line = number, .index = log->reading->passes->len, .size = size, .wrong = NAN };

  pass.nodes = MAX (g_hash_table_size (log->hosts), 1);
  pass.per_node = log->devices / pass.nodes;
  pass.system = reading_system (log->reading, gpu, "", "", log->version, NAN);
  if (!field_number (fields[0], &pass.time) || !field_number (fields[1], &pass.algbw) || !field_number (fields[2], &pass.busbw))
    {
      reading_remark (log->reading, number, "not three numbers for a time and its bandwidths; the row is left out");
      reading_skip (log->reading, number, log->reading->passes->len, NCCL_TESTS_TRUNCATED);
      return;
    }
  /* "error" of old logs is a distance of sums, "#wrong" a count; N/A: not checked */
  if (field_number (fields[3], &pass.wrong) && pass.wrong < 1)
    pass.wrong = 0;
  g_array_append_val (log->reading->passes, pass);
}

static gboolean
check_place (Log *log, guint number, const char *label, double size, GError **error)
{
  if (log->devices < 2)
    return reading_wrong (log->reading, number, error, "rows before a list of at least two ranks; keep the lines '#  Rank  0 ...' of the log");
  if (log->devices % MAX (g_hash_table_size (log->hosts), 1) != 0)
    return reading_wrong (log->reading, number, error, "%u ranks are not even over %u hosts; give a run with as many GPUs on each",
                          log->devices, g_hash_table_size (log->hosts));
  if (log->rows > 0 && !g_str_equal (label, log->label))
    return reading_wrong (log->reading, number, error, "rows of several processes, %s and %s: each ran alone or printed into one file; "
                          "build nccl-tests with MPI=1 and keep the output of one rank", log->label, label);
  if (log->rows > 0 && size <= log->last_size && log->in_table)
    return reading_wrong (log->reading, number, error, "size %.0f after %.0f without a new head: the output of several runs is mixed; "
                          "give each run its own file", size, log->last_size);
  return TRUE;
}

static gboolean
read_data (Log *log, char **fields, guint n, guint number, const char *label, GError **error)
{
  double size, alg, bus;
  const guint at = skip_words (fields, n);
  const gboolean reduces = at > 3 && strcmp (fields[3], "none") != 0;

  if (!field_number (fields[0], &size))
    return TRUE;
  if (n < at + 4 || (n - at) % 4 != 0)
    {
      reading_remark (log->reading, number, "a row of %u fields, not of 11 to 13; it is left out (cut, or mixed with other output)", n);
      reading_skip (log->reading, number, log->reading->passes->len, NCCL_TESTS_TRUNCATED);
      return TRUE;
    }
  if (!check_place (log, number, label, size, error))
    return FALSE;
  if (!field_number (fields[at + 1], &alg) || !field_number (fields[at + 2], &bus))
    alg = bus = NAN;
  /* the first rows print 0.00; wait for one that says more, unless the operation is known */
  if (log->op_name == NULL && !(alg > 0.5) && strcmp (log->reading->name, "") != 0
      && !nccl_tests_op (log->reading->name, &log->op, &log->op_name))
    {
      log->op = 0;
      log->op_name = "";
    }
  if (log->op_name == NULL || *log->op_name == '\0')
    {
      if (alg > 0.5)
        {
          log->op_name = NULL;
          if (!settle_op (log, number, bus / alg, reduces, error))
            return FALSE;
          for (guint i = log->table_start; i < log->reading->passes->len; i++)
            {
              g_array_index (log->reading->passes, Pass, i).op = log->op;
              g_array_index (log->reading->passes, Pass, i).op_name = log->op_name;
            }
        }
    }
  for (guint i = at; i + 4 <= n; i += 4)
    add_pass (log, fields + i, size, number, log->gpu);
  g_strlcpy (log->label, label, sizeof log->label);
  log->last_size = size;
  log->in_table = TRUE;
  log->last_line = number;
  log->rows++;
  return TRUE;
}

static void
begin_table (Log *log)
{
  if (log->in_table)
    log->table_start = log->reading->passes->len;
  log->in_table = FALSE;
}

static gboolean
read_comment (Log *log, const char *line, guint number, GError **error)
{
  const char *starting = strstr (line, "Collective test starting:");

  if (starting != NULL)
    {
      if (log->in_table && !log->ended)
        return reading_wrong (log->reading, number, error, "a second run begins inside the table of the first: the output of several runs "
                              "is mixed; give each run its own file");
      begin_table (log);
      if (!nccl_tests_op (starting + strlen ("Collective test starting:"), &log->op, &log->op_name))
        return reading_wrong (log->reading, number, error, "a collective of no known name; all_reduce, all_gather, reduce_scatter, "
                              "alltoall, broadcast, reduce and sendrecv are read");
    }
  else if (strstr (line, "Rank") != NULL && strstr (line, " Pid ") != NULL)
    return read_device (log, line, number, error);
  else if (strstr (line, "Out of bounds values") != NULL || strstr (line, "Avg bus bandwidth") != NULL)
    log->ended = TRUE;
  else if (strstr (line, "Using devices") != NULL || strstr (line, " nThread ") != NULL)
    {
      if (log->in_table && !log->ended)
        return reading_wrong (log->reading, number, error, "a second run begins inside the table of the first: the output of several runs "
                              "is mixed; give each run its own file");
      begin_table (log);
    }
  return TRUE;
}

static gboolean
read_line (Log *log, const char *line, guint number, GError **error)
{
  char label[64];
  const char *start = skip_label (line, label);
  g_autofree char *copy = NULL;
  char *fields[MAX_FIELDS + 1], *save = NULL;
  guint n = 0;

  while (g_ascii_isspace (*start))
    start++;
  read_version (log, start);
  if (*start == '#')
    return read_comment (log, start, number, error);
  if (!g_ascii_isdigit (*start))
    return TRUE;
  copy = g_strdup (start);
  for (char *f = strtok_r (copy, " \t\r", &save); f != NULL && n < MAX_FIELDS; f = strtok_r (NULL, " \t\r", &save))
    fields[n++] = f;
  /* a row is: size count type ...; nothing else in a log begins with two whole numbers */
  if (n < 2 || strspn (fields[0], "0123456789") != strlen (fields[0]) || strspn (fields[1], "0123456789") != strlen (fields[1]))
    return TRUE;
  return read_data (log, fields, n, number, label, error);
}

static gboolean
check_end (Log *log, GError **error)
{
  if (log->rows == 0)
    return reading_wrong (log->reading, 0, error, "no rows of nccl-tests in it; give its text or JSON output, or a table with the columns "
                          "collective, nodes, gpus_per_node, ranks, gpu, size_bytes, time_us");
  if (log->op_name == NULL || *log->op_name == '\0')
    return settle_op (log, log->last_line, NAN, FALSE, error);
  if (!log->ended)
    reading_remark (log->reading, log->last_line, "the log ends without its summary: cut short; the rows that are there are used");
  return TRUE;
}

gboolean
read_text (Reading *reading, const char *text, gsize length, GError **error)
{
  Log log = { .reading = reading };
  const char *line = text, *last = text + length;
  gboolean fine = TRUE;
  guint number = 0;

  if (memchr (text, '\0', length) != NULL)
    return reading_wrong (reading, 0, error, "not text; give what nccl-tests prints");
  log.hosts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  while (fine && line < last)
    {
      const char *end = memchr (line, '\n', last - line);
      const gsize n = (end != NULL ? end : last) - line;

      number++;
      if (n > NCCL_TESTS_MAX_LINE)
        fine = reading_wrong (reading, number, error, "a line of more than %u bytes", NCCL_TESTS_MAX_LINE);
      else if (log.reading->passes->len > NCCL_TESTS_MAX_ROWS)
        fine = reading_wrong (reading, number, error, "more than %u rows", NCCL_TESTS_MAX_ROWS);
      else
        {
          g_autofree char *copy = g_utf8_make_valid (line, (gssize) n);

          fine = read_line (&log, copy, number, error);
        }
      line += n + 1;
    }
  fine = fine && check_end (&log, error);
  g_hash_table_unref (log.hosts);
  return fine;
}
