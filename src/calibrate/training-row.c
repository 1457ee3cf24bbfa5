/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/training-row.h"

#include <math.h>
#include <string.h>

#include "base/names.h"
#include "base/origin.h"
#include "calibrate/training-reading.h"

/* A printed time and a printed rate further apart than this contradict each other. */
static const double most_apart = 0.1;

TrainingReader *
training_reader_new (GError **error)
{
  g_autofree char *software = calibration_path ("software.csv"), *platforms = calibration_path ("platforms.csv");
  g_autoptr (TrainingReader) reader = g_new0 (TrainingReader, 1);

  if ((reader->software = rules_load (software, error)) == NULL
      || (reader->platforms = csv_load (platforms, error)) == NULL)
    return NULL;
  return g_steal_pointer (&reader);
}

void
training_reader_free (TrainingReader *reader)
{
  if (reader == NULL)
    return;
  rules_free (reader->software);
  csv_free (reader->platforms);
  g_free (reader);
}

void
training_row_free (TrainingRow *row)
{
  if (row == NULL)
    return;
  scenario_free (row->scenario);
  g_free (row->why);
  g_free (row->label);
  g_free (row->tuned);
  g_free (row->apart);
  g_free (row->group);
  g_free (row->layout);
  g_free (row->platform);
  g_free (row);
}

static gboolean
word_is (const Reading *r, const char *name, const char *value)
{
  const char *text = reading_word (r, name);

  return text != NULL && g_str_equal (text, value);
}

static void
on_rule (gpointer user, const char *name, const char *value, const char *origin)
{
  Reading *r = user;

  (void) origin;
  if (strchr (name, '.') == NULL)
    {
      g_hash_table_insert (r->words, (gpointer) name, (gpointer) value);
      return;
    }
  if (*value == '\0')
    return;
  reading_put (r, name, value);
  if (g_str_has_prefix (name, "strategy.") && !g_str_equal (name, "strategy.kind"))
    g_string_append_printf (r->layout, " %s=%s", name + strlen ("strategy."), value);
}

/* "grad_accum=32" in the notes, else what is left of the global batch. */
static guint64
accumulation_of (const Reading *r, guint64 batch)
{
  static const char mark[] = "grad_accum";
  const char *note = strstr (reading_cell (r, "notes"), mark);
  const double global = reading_number (r, "global_batch");

  if (note != NULL)
    {
      note += strlen (mark);
      note += strspn (note, " =");
      return MAX (g_ascii_strtoull (note, NULL, 10), 1);
    }
  return MAX ((guint64) (global / ((double) (batch * r->out->gpus)) + 0.5), 1);
}

static void
read_batch (Reading *r)
{
  TrainingRow *out = r->out;
  if (transformer_row (r))
    {
      transformer_layout (r);
      return;
    }
  const double given = reading_number (r, "microbatch") > 0 ? reading_number (r, "microbatch") : reading_number (r, "batch_per_gpu");
  const double global = reading_number (r, "global_batch");

  if (given > 0)
    out->batch = (guint64) given;
  else if (global > 0)
    out->batch = (guint64) (global / (double) out->gpus);
  else
    out->batch = (guint64) reading_word_number (r, "batch", 0);
  if (out->batch == 0)
    {
      reading_refuse (r, skip_inconsistent, "no batch size");
      return;
    }
  out->accumulation = accumulation_of (r, out->batch);
  out->samples = (double) (out->batch * out->accumulation * out->gpus);
  reading_put_count (r, "training.batch-per-gpu", out->batch);
  if (out->accumulation > 1)
    reading_put_count (r, "training.accumulation", out->accumulation);
}

/* Samples a second of all GPUs; 0: not given, or in a unit of no use. */
static double
rate_of (const Reading *r)
{
  static const ReadingWords units[] = {
    { "img/s*|seq/s*|samples/s*|images/s*|sequences/s*|sentences/s*|records/s*", "samples" }, { "tokens/s*|tok/s*|words/s*", "tokens" }, { NULL, NULL },
  };
  const char *unit = reading_cell (r, "throughput_unit"), *what = reading_translate (units, unit);
  double rate = reading_number (r, "throughput");

  if (what == NULL || rate <= 0)
    return 0;
  if (g_str_equal (what, "tokens"))
    {
      const double tokens = reading_word_number (r, "tokens", reading_number (r, "seq_len"));

      rate = tokens > 0 ? rate / tokens : 0;
    }
  return pattern_fits ("*/gpu", unit) ? rate * (double) r->out->gpus : rate;
}

static void
read_time (Reading *r)
{
  TrainingRow *out = r->out;
  const double rate = rate_of (r), printed = reading_number (r, "step_time_s");

  out->measured = rate > 0 ? out->samples / rate : printed;
  if (!(out->measured > 0))
    out->measured = transformer_time (r, out->samples);
  if (!(out->measured > 0))
    reading_refuse (r, skip_no_time, "neither throughput nor step time");
  else if (rate > 0 && printed > 0 && fabs (printed / out->measured - 1) > most_apart)
    reading_refuse (r, skip_inconsistent, "batch, throughput and step time contradict each other");
}

static char *
scenario_text (const Reading *r)
{
  g_autofree gpointer *keys = g_hash_table_get_keys_as_array (r->keys, NULL);
  const guint n = g_hash_table_size (r->keys);
  GString *text = g_string_new (NULL);
  const char *group = "";

  qsort (keys, n, sizeof *keys, names_compare);
  for (guint i = 0; i < n; i++)
    {
      const char *key = keys[i], *dot = strchr (key, '.');
      const gsize length = (gsize) (dot - key);

      if (strncmp (group, key, length) != 0 || strlen (group) < length || group[length] != '.')
        g_string_append_printf (text, "[%.*s]\n", (int) length, key);
      group = key;
      g_string_append_printf (text, "%s = %s\n", dot + 1, (const char *) g_hash_table_lookup (r->keys, key));
    }
  return g_string_free (text, FALSE);
}

static void
make_scenario (Reading *r)
{
  g_autofree char *text = NULL, *name = NULL;
  g_autoptr (GError) error = NULL;

  reading_put_count (r, "cluster.nodes", r->out->nodes);
  reading_put_count (r, "cluster.gpus-per-node", r->out->per_node);
  reading_put (r, "compute.without-source", r->out->label);
  text = scenario_text (r);
  name = g_strdup_printf ("%s:%u", csv_name (r->table), csv_line (r->table, r->row));
  r->out->scenario = scenario_parse (name, text, strlen (text), NULL, &error);
  if (r->out->scenario == NULL)
    reading_refuse (r, skip_inconsistent, "%s", error->message);
}

/* TensorFlow drives one node by the one and several by the other. */
static const char *
layout_kind (const char *kind)
{
  return g_str_equal (kind, "multi-worker-mirrored") ? "mirrored" : kind;
}

/* Rows that may share an efficiency.  Where the rules say that many submitters
 * ran the same code, the part of the GPU counts, not its spelling. */
static char *
group_of (const Reading *r)
{
  static const char *const columns[] = { "source", "model", "framework", "precision", "gpu", "seq_len" };
  static const char *const keys[] = { "workload.name", "workload.precision", "cluster.gpu" };
  const char *code = reading_word (r, "code"), *variant = reading_word (r, "variant"), *alike = reading_word (r, "alike");
  GString *group = g_string_new (code);

  if (alike != NULL)
    {
      g_auto (GStrv) names = g_strsplit (alike, " ", -1);

      for (char **name = names; *name != NULL; name++)
        g_string_append_printf (group, "|%s", reading_cell (r, *name));
      return g_string_free (group, FALSE);
    }

  for (gsize i = 0; code == NULL && i < G_N_ELEMENTS (columns); i++)
    g_string_append_printf (group, "|%s", reading_cell (r, columns[i]));
  for (gsize i = 0; code != NULL && i < G_N_ELEMENTS (keys); i++)
    g_string_append_printf (group, "|%s", (const char *) g_hash_table_lookup (r->keys, keys[i]));
  g_string_append_printf (group, "|%s", variant != NULL ? variant : "");
  return g_string_free (group, FALSE);
}

static void
name_row (Reading *r)
{
  const char *kind = g_hash_table_lookup (r->keys, "strategy.kind");

  r->out->group = group_of (r);
  r->out->loose = reading_word (r, "alike") != NULL;
  r->out->layout = g_strdup_printf ("%s%s", layout_kind (kind != NULL ? kind : ""), r->layout->str);
  r->out->tuned = g_strdup (reading_word (r, "tuned"));
  r->out->apart = g_strdup (reading_word (r, "apart"));
  r->out->label = g_strdup (reading_word (r, "label"));
  if (r->out->label == NULL)
    {
      g_autofree char *base = g_path_get_basename (csv_name (r->table));
      char *dot = strrchr (base, '.');

      if (dot != NULL)
        *dot = '\0';
      r->out->label = g_steal_pointer (&base);
    }
}

static void
read_row (Reading *r)
{
  TrainingRow *out = r->out;

  platform_size (r);
  rules_apply (r->reader->software, r->table, r->row, on_rule, r);
  out->share = reading_word_number (r, "share", 1);
  out->layer = word_is (r, "layer", "yes");
  out->constant = word_is (r, "constant", "yes");
  out->input_unknown = word_is (r, "input", "unknown");
  if (reading_word (r, "skip") != NULL)
    reading_refuse (r, word_is (r, "skip", "shape") ? skip_no_shape : skip_slip, "%s", reading_word (r, "skip"));
  if (transformer_row (r) || g_hash_table_contains (r->keys, "workload.architecture"))
    transformer_shape (r);
  else if (!g_hash_table_contains (r->keys, "workload.name"))
    reading_refuse (r, skip_no_shape, "%s", reading_cell (r, "model"));
  platform_read (r);
  read_batch (r);
  if (out->skip == NULL)
    read_time (r);
  name_row (r);
  if (out->skip == NULL)
    make_scenario (r);
}

TrainingRow *
training_row_read (const TrainingReader *reader, const CsvTable *table, guint row)
{
  g_autoptr (GHashTable) keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (GHashTable) words = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GString) layout = g_string_new (NULL);
  Reading r = { reader, table, row, keys, words, layout, g_new0 (TrainingRow, 1) };

  read_row (&r);
  return r.out;
}
