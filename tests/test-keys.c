/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/keys.h"
#include <glib/gstdio.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct
{
  char    *machine;
  guint64  nodes, spare;
  double   bandwidth, latency, share, factor;
  int      kind;
  gboolean overlap;
} Sample;

static const char *const kinds[] = { "ring", "tree", "reduction-server", NULL };
static const Key sample_keys[] = {
  { .name = "machine", .type = KEY_STRING, .offset = offsetof (Sample, machine), .help = "A machine.", .required = TRUE },
  { .name = "nodes", .type = KEY_COUNT, .offset = offsetof (Sample, nodes), .default_text = "3", .help = "Nodes." },
  { .name = "spare", .type = KEY_COUNT, .offset = offsetof (Sample, spare), .help = "Spare nodes.", .min = 0, .max = 7 },
  { .name = "nic-bandwidth", .type = KEY_QUANTITY, .unit = UNIT_RATE, .offset = offsetof (Sample, bandwidth), .help = "Bandwidth." },
  { .name = "latency", .type = KEY_QUANTITY, .unit = UNIT_TIME, .offset = offsetof (Sample, latency),
    .default_text = "5 us", .help = "Latency.", .min = 0, .max = 1 },
  { .name = "share", .type = KEY_QUANTITY, .unit = UNIT_SHARE, .offset = offsetof (Sample, share), .help = "A share.", .min = 0.01, .max = 1 },
  { .name = "factor", .type = KEY_NUMBER, .offset = offsetof (Sample, factor), .default_text = "1.25", .help = "A factor." },
  { .name = "kind", .type = KEY_CHOICE, .offset = offsetof (Sample, kind), .default_text = "tree", .help = "An algorithm.", .choices = kinds },
  { .name = "overlap", .type = KEY_BOOLEAN, .offset = offsetof (Sample, overlap), .default_text = "true", .help = "Overlap." },
  { NULL }
};
static const Key other_keys[] = {
  { .name = "count", .type = KEY_COUNT, .offset = 0, .help = "How many." },
  { NULL }
};
static const KeyGroup groups[] = {
  { "cluster", "The machines.", sample_keys, sizeof (Sample) },
  { "reduction-server", "Servers.", other_keys, sizeof (guint64) },
  { "sweep", "Lists.", NULL, 0 },
  { NULL }
};

typedef struct { const char *name, *text, *message; } Bad;

/* Faults of the text itself: refused by key_file_parse. */
static const Bad bad_text[] = {
  { "empty", "", "a.ini: empty; there must be a group such as '[cluster]'" },
  { "blank", " \n\t\r\n", "a.ini: empty; there must be a group such as '[cluster]'" },
  { "only-comments", "# one\n#two\n", "a.ini: only comments; there must be a group such as '[cluster]'" },
  { "before-group", "\nnodes = 4\n[cluster]\n", "a.ini:2: 'nodes = 4' stands before the first group; a line such as '[cluster]' must come first" },
  { "group-twice", "[cluster]\nnodes = 4\n[sweep]\n[cluster]\nspare = 1\n",
    "a.ini:4: [cluster]: group given twice; the first is in line 1, put the keys there" },
  { "key-twice", "[cluster]\nnodes = 4\n\n  nodes=5\n", "a.ini:4: [cluster] nodes: key given twice; the first is in line 2, keep one" },
  { "comment-behind", "[cluster]\nnodes = 4 # four\n", "a.ini:2: [cluster] nodes: text behind the value; a comment must stand on its own line" },
  { "semicolon-behind", "[cluster]\nnodes = 4\t;four\n", "a.ini:2: [cluster] nodes: text behind the value; a comment must stand on its own line" },
  { "comment-alone", "[cluster]\nnodes = # four\n", "a.ini:2: [cluster] nodes: text behind the value; a comment must stand on its own line" },
  { "comment-tight", "[cluster]\nnodes =#four\n", "a.ini:2: [cluster] nodes: text behind the value; a comment must stand on its own line" },
  { "semicolon-line", "[cluster]\n; four\n", "a.ini:2: [cluster]: '; four': a comment starts with '#'" },
  { "no-equals", "[cluster]\nnodes 4\n", "a.ini:2: [cluster]: 'nodes 4' has no '='; a line is 'key = value', '[group]' or '# comment'" },
  { "no-key", "[cluster]\n = 4\n", "a.ini:2: [cluster]: '= 4' has no key before '='; a line is 'key = value'" },
  { "locale-key", "[cluster]\nmachine[de] = x\n", "a.ini:2: [cluster]: 'machine[de]' is no key; a key has letters, digits, '.', '-' and '_'" },
  { "key-blank", "[cluster]\nnic bandwidth = x\n", "a.ini:2: [cluster]: 'nic bandwidth' is no key; a key has letters, digits, '.', '-' and '_'" },
  { "group-open", "[cluster\n", "a.ini:1: '[cluster' lacks its ']'; a group stands as '[name]'" },
  { "group-behind", "[cluster] # the machines\n", "a.ini:1: '[cluster] # the machines' has text behind ']'; a group stands alone on its line" },
  { "group-empty", "[]\n", "a.ini:1: '[]' is no group; its name has letters, digits, '.', '-' and '_', as in '[cluster]'" },
  { "control", "[cluster]\nnodes = 4\x01\n", "a.ini:2: [cluster]: control byte 0x01; a file is plain text" },
  { "lone-cr", "[cluster]\rnodes = 4\n", "a.ini:1: control byte 0x0d; a file is plain text" },
  { "not-utf8", "[cluster]\n# ok\nmachine = a\xff\n", "a.ini:3: byte 0xff is not UTF-8; a file is plain text" },
};

/* Faults against the tables: refused by key_file_check or key_file_read. */
static const Bad bad_keys[] = {
  { "near-key", "[cluster]\nmachine = x\nnic-bandwith = 3 GB/s\n", "a.ini:3: [cluster] nic-bandwith: unknown key; did you mean 'nic-bandwidth'?" },
  { "other-group", "[cluster]\nmachine = x\ncount = 3\n", "a.ini:3: [cluster] count: unknown key; 'count' belongs in [reduction-server]" },
  { "far-key", "[cluster]\nmomentum = x\n",
    "a.ini:2: [cluster] momentum: unknown key; there are: machine, nodes, spare, nic-bandwidth, latency, share, factor, kind, overlap" },
  { "near-group", "[cluster]\nmachine = x\n[clutser]\n", "a.ini:3: [clutser]: unknown group; did you mean 'cluster'?" },
  { "far-group", "[optimizer]\nlr = 3\n", "a.ini:1: [optimizer]: unknown group; there are: cluster, reduction-server, sweep" },
  { "required", "# q\n[cluster]\nnodes = 4\n", "a.ini:2: [cluster] machine: missing; add 'machine = ...' to [cluster]: A machine." },
  { "required-group", "[sweep]\nx = 4\n", "a.ini: [cluster] machine: missing; add 'machine = ...' to [cluster]: A machine." },
  { "no-value", "[cluster]\nmachine =\n", "a.ini:2: [cluster] machine: no value; give one, or leave the key out" },
  { "count-part", "[cluster]\nmachine = x\nnodes = 4.5\n", "a.ini:3: [cluster] nodes: '4.5' is not a whole number; write digits only, as in '4'" },
  { "count-power", "[cluster]\nmachine = x\nnodes = 1e3\n", "a.ini:3: [cluster] nodes: '1e3' is not a whole number; write digits only, as in '4'" },
  { "count-word", "[cluster]\nmachine = x\nnodes = four\n", "a.ini:3: [cluster] nodes: 'four' is not a whole number; write digits only, as in '4'" },
  { "count-negative", "[cluster]\nmachine = x\nnodes = -1\n", "a.ini:3: [cluster] nodes: '-1' is out of range; it must be from 1 to 1000000000" },
  { "count-zero", "[cluster]\nmachine = x\nnodes = 0\n", "a.ini:3: [cluster] nodes: '0' is out of range; it must be from 1 to 1000000000" },
  { "count-absurd", "[cluster]\nmachine = x\nnodes = 1000000000000\n", "a.ini:3: [cluster] nodes: '1000000000000' is out of range; it must be from 1 to 1000000000" },
  { "count-overflow", "[cluster]\nmachine = x\nnodes = 99999999999999999999999999\n",
    "a.ini:3: [cluster] nodes: '99999999999999999999999999' is out of range; it must be from 1 to 1000000000" },
  { "count-table", "[cluster]\nmachine = x\nspare = 8\n", "a.ini:3: [cluster] spare: '8' is out of range; it must be from 0 to 7" },
  { "no-unit", "[cluster]\nmachine = x\nnic-bandwidth = 100\n",
    "a.ini:3: [cluster] nic-bandwidth: '100' has no unit; a rate needs one, as in '100 Gbit/s'" },
  { "negative", "[cluster]\nmachine = x\nnic-bandwidth = -2 GB/s\n", "a.ini:3: [cluster] nic-bandwidth: '-2 GB/s' is out of range; it must be more than 0" },
  { "absurd", "[cluster]\nmachine = x\nnic-bandwidth = 1e20 GB/s\n", "a.ini:3: [cluster] nic-bandwidth: '1e20 GB/s' is out of range; it must be at most 1000 PB/s" },
  { "table-range", "[cluster]\nmachine = x\nlatency = 2 s\n", "a.ini:3: [cluster] latency: '2 s' is out of range; it must be from 0 s to 1 s" },
  { "share-range", "[cluster]\nmachine = x\nshare = 56\n", "a.ini:3: [cluster] share: '56' is out of range; it must be from 1 % to 100 %" },
  { "number-unit", "[cluster]\nmachine = x\nfactor = 3 s\n",
    "a.ini:3: [cluster] factor: '3 s' has 's' behind the number; a pure number stands alone, as in '4'" },
  { "choice-near", "[cluster]\nmachine = x\nkind = rings\n", "a.ini:3: [cluster] kind: 'rings' is no choice; did you mean 'ring'? There are: ring, tree, reduction-server" },
  { "choice-far", "[cluster]\nmachine = x\nkind = star\n", "a.ini:3: [cluster] kind: 'star' is no choice; there are: ring, tree, reduction-server" },
  { "boolean", "[cluster]\nmachine = x\noverlap = 1\n", "a.ini:3: [cluster] overlap: '1' is neither 'true' nor 'false'" },
};

static const struct { const char *assignment, *message; } bad_sets[] = {
  { "nodes=4", "--set: 'nodes=4' names no group; write 'group.key=value', as in 'cluster.nodes=4'" },
  { "cluster.nodes", "--set: 'cluster.nodes' has no '='; write 'group.key=value', as in 'cluster.nodes=4'" },
  { ".nodes=4", "--set: '.nodes=4' names no group; write 'group.key=value', as in 'cluster.nodes=4'" },
  { "cluster.=4", "--set: 'cluster.=4' names no key; write 'group.key=value', as in 'cluster.nodes=4'" },
  { "", "--set: '' has no '='; write 'group.key=value', as in 'cluster.nodes=4'" },
  { "cluster=a.b", "--set: 'cluster=a.b' names no group; write 'group.key=value', as in 'cluster.nodes=4'" },
  { "cluster.nodes=4\n", "--set: 'cluster.nodes=4\\x0a' has a control byte; write 'group.key=value', as in 'cluster.nodes=4'" },
  { "cluster.nodes=\xff", "--set: 'cluster.nodes=\\xff' is not UTF-8; write 'group.key=value', as in 'cluster.nodes=4'" },
};

static KeyFile *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  KeyFile *file = key_file_parse ("a.ini", text, strlen (text), &error);

  g_assert_no_error (error);
  return file;
}

static void
test_bad_text (gconstpointer data)
{
  const Bad *row = data;
  g_autoptr (GError) error = NULL;

  g_assert_null (key_file_parse ("a.ini", row->text, strlen (row->text), &error));
  g_assert_cmpuint (error->domain, ==, KEYS_ERROR);
  g_assert_cmpstr (error->message, ==, row->message);
  g_assert_null (key_file_parse ("a.ini", row->text, strlen (row->text), NULL));
}

static void
test_bad_keys (gconstpointer data)
{
  const Bad *row = data;
  g_autoptr (KeyFile) file = parse (row->text);
  g_autoptr (GError) error = NULL;
  Sample sample = { NULL };

  g_assert_false (key_file_check (file, groups, &error) && key_file_read (file, &groups[0], &sample, &error));
  g_assert_cmpuint (error->domain, ==, KEYS_ERROR);
  g_assert_cmpstr (error->message, ==, row->message);
  g_assert_null (sample.machine);
}

static void
test_bad_set (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (bad_sets); i++)
    {
      g_autoptr (KeyFile) file = parse ("[cluster]\nmachine = x\n");
      g_autoptr (GError) error = NULL;

      g_assert_false (key_file_set (file, bad_sets[i].assignment, &error));
      g_assert_cmpstr (error->message, ==, bad_sets[i].message);
    }
}

static void
test_set_unknown (void)
{
  g_autoptr (KeyFile) file = parse ("[cluster]\nmachine = x\n");
  g_autoptr (GError) key_error = NULL;
  g_autoptr (GError) group_error = NULL;
  g_autoptr (KeyFile) other = parse ("[cluster]\nmachine = x\n");

  g_assert_true (key_file_set (file, "cluster.nods=4", NULL));
  g_assert_false (key_file_check (file, groups, &key_error));
  g_assert_cmpstr (key_error->message, ==, "--set: [cluster] nods: unknown key; did you mean 'nodes'?");
  g_assert_cmpint (key_error->code, ==, KEYS_ERROR_UNKNOWN);
  g_assert_true (key_file_set (other, "cluter.nodes=4", NULL));
  g_assert_false (key_file_check (other, groups, &group_error));
  g_assert_cmpstr (group_error->message, ==, "--set: [cluter]: unknown group; did you mean 'cluster'?");
}

/* CR LF, trailing blanks, a byte order mark, no last line end. */
static void
test_read (void)
{
  g_autoptr (KeyFile) file = parse ("\xef\xbb\xbf# SPDX-License-Identifier: GPL-3.0-or-later\r\n# Does it scale?\r\n#  More.\r\n\r\n"
                                    "[cluster]  \r\n  machine =  n1-highmem 96  \r\nnodes\t=5\t\r\n# between\r\n"
                                    "nic-bandwidth = 100 Gbit/s\r\nkind=reduction-server\r\noverlap = no\r\n"
                                    "[sweep]\r\nreduction-server.count = 0, 4, 8\r\n4x8 = 3");
  g_autoptr (GError) error = NULL;
  Sample sample = { NULL };

  g_assert_true (key_file_check (file, groups, &error));
  g_assert_true (key_file_read (file, &groups[0], &sample, &error));
  g_assert_cmpstr (sample.machine, ==, "n1-highmem 96");
  g_assert_cmpuint (sample.nodes, ==, 5);
  g_assert_cmpuint (sample.spare, ==, 0);
  g_assert_cmpfloat_with_epsilon (sample.bandwidth, 12.5e9, 1e-3);
  g_assert_cmpfloat_with_epsilon (sample.latency, 5e-6, 1e-18);
  g_assert_cmpfloat_with_epsilon (sample.factor, 1.25, 1e-12);
  g_assert_true (isnan (sample.share));
  g_assert_cmpint (sample.kind, ==, 2);
  g_assert_false (sample.overlap);
  keys_clear (sample_keys, &sample);
  g_assert_null (sample.machine);
  g_assert_cmpstr (key_file_preamble (file), ==, "Does it scale?\n More.");
  g_auto (GStrv) keys = key_file_keys (file, "sweep");
  g_assert_cmpstr (keys[0], ==, "reduction-server.count");
  g_assert_cmpstr (keys[1], ==, "4x8");
  g_assert_null (keys[2]);
  g_assert_cmpstr (key_file_get (file, "sweep", keys[0]), ==, "0, 4, 8");
  g_autofree char *where = key_file_where (file, "cluster", "nodes");
  g_autofree char *none = key_file_where (file, "cluster", "spare");
  g_assert_cmpstr (where, ==, "a.ini:7");
  g_assert_cmpstr (none, ==, "default");
  g_auto (GStrv) absent = key_file_keys (file, "absent");
  g_assert_null (absent[0]);
}

/* GKeyFile's escapes, list separators and quotes are not ours. */
static void
test_as_typed (void)
{
  static const char *const values[] = { "a\\sb\\nc\\t\\\\", "x;y;z", "\"quoted\"", "a=b=c", "[x]", "%d", "UTF-8 \xc3\xa9", "a#b;c" };

  for (gsize i = 0; i < G_N_ELEMENTS (values); i++)
    {
      g_autofree char *text = g_strdup_printf ("[cluster]\nmachine = %s\n", values[i]);
      g_autoptr (KeyFile) file = parse (text);

      g_assert_cmpstr (key_file_get (file, "cluster", "machine"), ==, values[i]);
    }
}

static void
test_set (void)
{
  g_autoptr (KeyFile) file = parse ("[cluster]\nmachine = x\nnodes = 5\n");
  Sample sample = { NULL };

  g_assert_true (key_file_set (file, "cluster.nodes=7", NULL));
  g_assert_true (key_file_set (file, " cluster.nic-bandwidth = 3 GB/s ", NULL));
  g_assert_true (key_file_set (file, "sweep.reduction-server.count=0, 4", NULL));
  g_assert_true (key_file_check (file, groups, NULL));
  g_assert_true (key_file_read (file, &groups[0], &sample, NULL));
  g_assert_cmpuint (sample.nodes, ==, 7);
  g_assert_cmpfloat_with_epsilon (sample.bandwidth, 3e9, 1e-3);
  g_assert_cmpstr (key_file_get (file, "sweep", "reduction-server.count"), ==, "0, 4");
  g_autofree char *where = key_file_where (file, "cluster", "nodes");
  g_assert_cmpstr (where, ==, "--set");
  keys_clear (sample_keys, &sample);
}

static void
test_merge (void)
{
  g_autoptr (KeyFile) file = parse ("[cluster]\nnodes = 5\n");
  g_autoptr (GError) error = NULL;
  Sample sample = { NULL };

  {
    g_autoptr (KeyFile) below = key_file_parse ("b.ini", "\n[cluster]\nmachine = y\nnodes = 2\nspare = 9\n", 43, NULL);
    key_file_merge (file, below);
  }
  g_assert_cmpstr (key_file_get (file, "cluster", "nodes"), ==, "5");
  g_assert_cmpstr (key_file_get (file, "cluster", "machine"), ==, "y");
  g_assert_false (key_file_read (file, &groups[0], &sample, &error));
  g_assert_cmpstr (error->message, ==, "b.ini:5: [cluster] spare: '9' is out of range; it must be from 0 to 7");
}

static void
test_error (void)
{
  g_autoptr (KeyFile) file = parse ("\n[cluster]\nnodes = 5\n");
  g_autoptr (GError) at_key = NULL;
  g_autoptr (GError) at_group = NULL;
  g_autoptr (GError) at_file = NULL;

  key_file_error (file, "cluster", "nodes", &at_key, "%d do not divide; %d would", 5, 4);
  key_file_error (file, "cluster", NULL, &at_group, "wrong");
  key_file_error (file, NULL, NULL, &at_file, "wrong");
  g_assert_cmpstr (at_key->message, ==, "a.ini:3: [cluster] nodes: 5 do not divide; 4 would");
  g_assert_cmpstr (at_group->message, ==, "a.ini:2: [cluster]: wrong");
  g_assert_cmpstr (at_file->message, ==, "a.ini: wrong");
}

/* What key_format writes reads back to the same struct. */
static void
test_format (void)
{
  g_autoptr (KeyFile) file = parse ("[cluster]\nmachine = x\nnodes = 12\nspare = 0\nnic-bandwidth = 7.123456789 GB/s\n"
                                    "latency = 3 us\nshare = 56 %\nfactor = 0.3\nkind = ring\noverlap = false\n");
  static const char *const expected[] = { "x", "12", "0", "7.123456789 GB/s", "3 us", "56 %", "0.3", "ring", "false" };
  Sample sample = { NULL };
  const Sample empty = { .bandwidth = NAN };

  g_assert_true (key_file_read (file, &groups[0], &sample, NULL));
  for (gsize i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      g_autofree char *text = key_format (&sample_keys[i], &sample);
      g_assert_cmpstr (text, ==, expected[i]);
    }
  g_autofree char *no_string = key_format (key_find (sample_keys, "machine"), &empty);
  g_autofree char *no_number = key_format (key_find (sample_keys, "nic-bandwidth"), &empty);
  g_assert_cmpstr (no_string, ==, "");
  g_assert_cmpstr (no_number, ==, "");
  keys_clear (sample_keys, &sample);
}

static void
assert_refused (const char *path, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GTimer) timer = g_timer_new ();
  g_autoptr (KeyFile) file = key_file_load (path, &error);

  g_assert_null (file);
  g_assert_nonnull (strstr (error->message, message));
  g_assert_null (strchr (error->message, '\n'));
  g_assert_cmpfloat (g_timer_elapsed (timer, NULL), <, 1.0);
}

/* A sparse file of 1 GB, a FIFO without a writer, a folder, a device. */
static void
test_load (void)
{
  g_autofree char *folder = g_dir_make_tmp ("lockstep-keys-XXXXXX", NULL);
  g_autofree char *huge = g_build_filename (folder, "huge.ini", NULL);
  g_autofree char *fifo = g_build_filename (folder, "fifo.ini", NULL);
  g_autofree char *fine = g_build_filename (folder, "fi\nne.ini", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_true (g_file_set_contents (huge, "[cluster]\n", -1, NULL));
  g_assert_cmpint (truncate (huge, 1000000000), ==, 0);
  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  g_assert_true (g_file_set_contents (fine, "[cluster]\nmachine = x\n", -1, NULL));
  assert_refused (huge, "huge.ini: too large; at most 1024 KiB are read");
  assert_refused (fifo, "is a pipe or device; give a regular file, or '-' for standard input");
  assert_refused (folder, "is a directory; a file is needed");
  assert_refused ("/dev/zero", "is a pipe or device");
  assert_refused ("no/such.ini", "no/such.ini: no such file");
  g_autoptr (KeyFile) file = key_file_load (fine, &error);
  g_assert_no_error (error);
  g_assert_nonnull (strstr (key_file_name (file), "fi\\x0ane.ini"));
  g_remove (huge);
  g_remove (fifo);
  g_remove (fine);
  g_rmdir (folder);
}

static void
test_limits (void)
{
  g_autoptr (GString) text = g_string_new ("[sweep]\n");
  g_autofree char *blank = g_strnfill (5000, 'x');
  g_autofree char *big = g_strnfill (KEYS_MAX_BYTES + 1, '\n');
  g_autoptr (GError) key_error = NULL;
  g_autoptr (GError) line_error = NULL;
  g_autoptr (GError) size_error = NULL;
  g_autoptr (GError) zero_error = NULL;

  for (guint i = 0; i < KEYS_MAX_KEYS; i++)
    g_string_append_printf (text, "k%u = %u\n", i, i);
  g_autoptr (KeyFile) full = parse (text->str);
  g_assert_cmpstr (key_file_get (full, "sweep", "k4095"), ==, "4095");
  g_string_append (text, "last = 1\n");
  g_assert_null (key_file_parse ("a.ini", text->str, text->len, &key_error));
  g_assert_cmpstr (key_error->message, ==, "a.ini:4098: [sweep] last: too many keys; a file has at most 4096");
  g_autofree char *line = g_strconcat ("[sweep]\nk = ", blank, NULL);
  g_assert_null (key_file_parse ("a.ini", line, strlen (line), &line_error));
  g_assert_cmpstr (line_error->message, ==, "a.ini:2: [sweep]: line of 5004 bytes; at most 4096 are read");
  g_assert_null (key_file_parse ("a.ini", big, KEYS_MAX_BYTES + 1, &size_error));
  g_assert_cmpstr (size_error->message, ==, "a.ini: too large; at most 1024 KiB are read");
  g_assert_null (key_file_parse ("a.ini", "[a]\n\0", 5, &zero_error));
  g_assert_cmpstr (zero_error->message, ==, "a.ini:2: zero byte; a file is plain text");
}

#define ADD(rows, what, function)                                                  \
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)                                  \
    {                                                                              \
      g_autofree char *path = g_strdup_printf ("/keys/" what "/%s", rows[i].name); \
      g_test_add_data_func (path, &rows[i], function);                             \
    }

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD (bad_text, "text", test_bad_text)
  ADD (bad_keys, "table", test_bad_keys)
  g_test_add_func ("/keys/read", test_read);
  g_test_add_func ("/keys/as-typed", test_as_typed);
  g_test_add_func ("/keys/set/good", test_set);
  g_test_add_func ("/keys/set/bad", test_bad_set);
  g_test_add_func ("/keys/set/unknown", test_set_unknown);
  g_test_add_func ("/keys/merge", test_merge);
  g_test_add_func ("/keys/error", test_error);
  g_test_add_func ("/keys/format", test_format);
  g_test_add_func ("/keys/load", test_load);
  g_test_add_func ("/keys/limits", test_limits);
  return g_test_run ();
}
