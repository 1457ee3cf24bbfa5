/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/keys.h"
#include "base/origin.h"
#include "fuzz.h"
#include <stddef.h>
#include <string.h>

typedef struct { char *machine; guint64 nodes; double bandwidth, factor; int kind; gboolean overlap; } Sample;

static const char *const kinds[] = { "ring", "tree", NULL };
static const Key keys[] = {
  { .name = "machine", .type = KEY_STRING, .offset = offsetof (Sample, machine), .help = "A machine.", .required = TRUE },
  { .name = "nodes", .type = KEY_COUNT, .offset = offsetof (Sample, nodes), .default_text = "3", .help = "Nodes." },
  { .name = "nic-bandwidth", .type = KEY_QUANTITY, .unit = UNIT_RATE, .offset = offsetof (Sample, bandwidth), .help = "Bandwidth." },
  { .name = "factor", .type = KEY_NUMBER, .offset = offsetof (Sample, factor), .help = "A factor.", .max = 10 },
  { .name = "kind", .type = KEY_CHOICE, .offset = offsetof (Sample, kind), .help = "An algorithm.", .choices = kinds },
  { .name = "overlap", .type = KEY_BOOLEAN, .offset = offsetof (Sample, overlap), .help = "Overlap." },
  { .name = NULL }
};
static const KeyGroup groups[] = {
  { "cluster", "The machines.", keys, sizeof (Sample) },
  { "sweep", "Lists.", NULL, 0 },
  { "origin", "Sources.", NULL, 0 },
  { .name = NULL }
};

const char *const fuzz_seeds[] = {
  "# Does it scale?\n[cluster]\nmachine = n1-highmem-96\nnodes = 5\nnic-bandwidth = 100 Gbit/s\nfactor = 1.5\n"
  "kind = ring\noverlap = no\n[sweep]\ncluster.nodes = 1, 2, 4\n4x8 = 0.167 s\n",
  "[cluster]\r\nmachine=x\r\n\r\n# c\r\n[origin]\r\ndefault = assumed: a, b\r\nnodes = measured: x.csv",
  "[cluster]\nnodes = 4 # four\n", "[cluster]\nmachine[de] = x\\s\\n\\t\n", "[a]\n[a]\n", "[choice one]\nk = 1\nk = 2\n", "\xef\xbb\xbf[sweep]\n",
  "[cluster]\nEncoding = latin1\n", NULL
};

static void
check_message (const GError *error)
{
  g_assert_nonnull (error);
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
  if (strpbrk (error->message, "\n\r\x1b") != NULL)
    g_error ("not one clean line: %s", error->message);
}

static void
check_struct (Sample *sample)
{
  for (const Key *k = keys; k->name != NULL; k++)
    {
      g_autofree char *text = key_format (k, sample);
      g_assert_nonnull (text);
    }
  keys_clear (keys, sample);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) set_error = NULL;
  g_autoptr (KeyFile) file = key_file_parse ("fuzz.ini", (const char *) data, size, &error);
  g_autoptr (KeyFile) below = key_file_parse ("below.ini", "[cluster]\nmachine = x\n", 22, NULL);
  g_autofree char *text = g_strndup ((const char *) data, size);
  Sample sample = { .machine = NULL };
  Origin origin;

  if (!key_file_set (below, text, &set_error))
    check_message (set_error);
  if (file == NULL)
    {
      check_message (error);
      return 0;
    }
  g_assert_no_error (error);
  key_file_merge (file, below);
  origin_read (file, "nodes", &origin, NULL);
  if (key_file_check (file, groups, &error) && key_file_read (file, &groups[0], &sample, &error))
    check_struct (&sample);
  else
    check_message (error);
  return 0;
}
