/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/training-validate.h"

#include <math.h>

#include "compute/efficiency.h"
#include "compute/llm.h"
#include "run/interval.h"

const char *const training_anchor_names[] = { "smallest", "full-node", "none", NULL };

static void
item_clear (gpointer data)
{
  training_row_free (((TrainingItem *) data)->read);
}

static gboolean
wanted (const char *const *where, const CsvTable *table, guint row)
{
  for (; where != NULL && *where != NULL; where++)
    {
      if (!condition_met (*where, table, row))
        return FALSE;
    }
  return TRUE;
}

GArray *
training_items (const TrainingReader *reader, GPtrArray *tables, const char *const *where, GError **error)
{
  g_autoptr (GArray) items = g_array_new (FALSE, FALSE, sizeof (TrainingItem));

  g_array_set_clear_func (items, item_clear);
  for (const char *const *w = where; w != NULL && *w != NULL; w++)
    {
      if (!condition_check (*w, error))
        return NULL;
    }
  for (guint t = 0; t < tables->len; t++)
    {
      const CsvTable *table = tables->pdata[t];

      for (guint row = 0; row < csv_rows (table); row++)
        {
          if (!wanted (where, table, row))
            continue;
          const TrainingItem item = { t, row, t, training_row_read (reader, table, row), G_MAXUINT, FALSE, NAN, { 0 } };
          g_array_append_val (items, item);
        }
    }
  return g_steal_pointer (&items);
}

/* ---- which row predicts which ---- */

#define ITEM(items, i) (&g_array_index ((items), TrainingItem, (i)))

/* May `a` set the efficiency of `b`?  One GPU communicates with nobody, so its
 * strategy does not matter. */
static gboolean
may_anchor (const TrainingItem *a, const TrainingItem *b, TrainingAnchor anchor, guint64 full, gboolean same_batch)
{
  const TrainingRow *from = a->read, *to = b->read;

  if (from->skip != NULL || a->table != b->table || !g_str_equal (from->group, to->group) || (same_batch && !to->loose && from->batch != to->batch))
    return FALSE;
  if (anchor == ANCHOR_FULL_NODE)
    return from->nodes == 1 && to->nodes > 1 && from->per_node == full && g_str_equal (from->layout, to->layout);
  return (same_batch ? from->gpus <= to->gpus : from->gpus < to->gpus)
         && (to->loose || g_str_equal (from->layout, to->layout) || from->gpus == 1);
}

/* Fewer GPUs first; then the same layout. */
static gboolean
better (const TrainingItem *a, const TrainingItem *than, const TrainingItem *b)
{
  if (a->read->gpus != than->read->gpus)
    return a->read->gpus < than->read->gpus;
  return g_str_equal (a->read->layout, b->read->layout) && !g_str_equal (than->read->layout, b->read->layout);
}

static guint
find_anchor (const GArray *items, const GArray *group, guint at, TrainingAnchor anchor, gboolean same_batch)
{
  const TrainingItem *item = ITEM (items, at);
  guint best = G_MAXUINT;

  for (guint k = 0; k < group->len; k++)
    {
      const guint i = g_array_index (group, guint, k);

      if (may_anchor (ITEM (items, i), item, anchor, item->read->per_node, same_batch)
          && (best == G_MAXUINT || better (ITEM (items, i), ITEM (items, best), item)))
        best = i;
    }
  return best;
}

static GHashTable *
by_group (const GArray *items)
{
  GHashTable *groups = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) g_array_unref);

  for (guint i = 0; i < items->len; i++)
    {
      const TrainingRow *row = ITEM (items, i)->read;
      GArray *group = g_hash_table_lookup (groups, row->group);

      if (group == NULL)
        {
          group = g_array_new (FALSE, FALSE, sizeof (guint));
          g_hash_table_insert (groups, row->group, group);
        }
      g_array_append_val (group, i);
    }
  return groups;
}

static void
anchor_group (GArray *items, const GArray *group, TrainingAnchor anchor, gboolean same_batch)
{
  for (guint k = 0; k < group->len; k++)
    {
      const guint i = g_array_index (group, guint, k);
      TrainingItem *item = ITEM (items, i);

      if (item->read->skip != NULL || item->serves || item->anchor != G_MAXUINT
          || (anchor == ANCHOR_FULL_NODE && item->read->nodes < 2))
        continue;
      const guint found = find_anchor (items, group, i, anchor, same_batch);
      if (found == G_MAXUINT || found == i)
        continue;
      item->anchor = found;
      ITEM (items, found)->serves = TRUE;
      ITEM (items, found)->anchor = found;
    }
}

/* With the same batch where there is such a row, else (strong scaling) of the
 * same run with another batch. */
void
training_anchors (GArray *items, TrainingAnchor anchor)
{
  g_autoptr (GHashTable) groups = by_group (items);
  GHashTableIter iter;
  gpointer group;

  g_hash_table_iter_init (&iter, groups);
  while (g_hash_table_iter_next (&iter, NULL, &group))
    {
      anchor_group (items, group, anchor, TRUE);
      anchor_group (items, group, anchor, FALSE);
    }
}

/* ---- prediction ---- */

typedef struct
{
  const TrainingValidation *how;
  Validation *validation;
  GPtrArray  *tables;
  GArray     *items;
  GString    *remarks;
  IntervalTable *intervals;
  Shelf      *parts;
} Run;

static void
remark (Run *run, const TrainingItem *item, const char *text)
{
  const CsvTable *table = run->tables->pdata[item->table];

  if (run->remarks != NULL)
    g_string_append_printf (run->remarks, "%s:%u: %s\n", csv_name (table), csv_line (table, item->row), text);
}

static void
refuse (Run *run, const TrainingItem *item, const char *reason, const char *why)
{
  validation_skip (run->validation, item->source, item->row, reason);
  if (why != NULL && reason == skip_inconsistent)
    remark (run, item, why);
}

/* models/efficiency.csv without the row's own source. */
static gboolean
catalogue_efficiency (Run *run, const TrainingItem *item, Efficiency *out, GError **error)
{
  g_auto (TrainingKey) key = { 0 };

  return training_key (run->parts, item->read, &key, error)
         && efficiency_find (key.family, key.tuning, key.precision, key.generation, item->read->label, out, error);
}

/* Transformers in stacks that shard or cut them: models/llm.csv has their
 * constants by stack, the rows that set them are marked in the rules. */
static gboolean
has_own_constants (Run *run, const TrainingItem *item)
{
  static const char *const kinds[] = { "fsdp", "zero", "megatron", NULL };
  g_auto (TrainingKey) key = { 0 };

  return g_strv_contains (kinds, item->read->scenario->strategy.kind) && training_key (run->parts, item->read, &key, NULL)
         && (g_str_equal (key.family, "transformer") || g_str_equal (key.family, "bert"));
}

static const char *
software_of (Run *run, const TrainingItem *item)
{
  const StrategySpec *spec = &item->read->scenario->strategy;

  if (item->read->scenario->workload.shape.experts > 1)
    return "experts";
  return spec->stack > 0 && has_own_constants (run, item) ? llm_stacks[spec->stack] : spec->kind;
}

static void
add_prediction (Run *run, const TrainingItem *item, const TrainingStep *step, const TrainingStep *anchor, const char *known,
                double ideal, const char *from)
{
  const TrainingRow *row = item->read;
  const char *tuning = row->scenario->compute.tuning;
  const int precision = row->scenario->workload.precision;
  IntervalSituation situation = {
    .anchor = known, .software = g_strcmp0 (tuning, "mlperf") == 0 ? tuning : software_of (run, item),
    .nodes = row->nodes, .gpus = row->gpus, .tensor = precision != PRECISION_FP32,
    .link_assumed = row->link_assumed, .input_unknown = row->input_unknown,
  };
  Interval interval;

  interval_shares (&situation, step->ledger, step->seconds, anchor != NULL ? anchor->ledger : NULL,
                   anchor != NULL ? anchor->seconds : 0);
  interval_find (run->intervals, &situation, &interval);
  g_autofree char *parts = g_strdup_printf ("%s, %s%s", row->platform, from, row->link_assumed ? ", link assumed" : "");
  validation_add (run->validation, item->source, item->row, row->measured, step->seconds, step->seconds * interval.lo,
                  step->seconds * interval.hi, parts);
  validation_beside (run->validation, ideal);
}

/* And without the row's own source: what that takes from elsewhere. */
static char *
own_constants_text (Run *run, const TrainingItem *item)
{
  g_auto (TrainingKey) key = { 0 };

  if (!training_key (run->parts, item->read, &key, NULL))
    return g_strdup ("models/llm.csv");
  g_autofree char *other = llm_without_text (item->read->scenario->strategy.stack, key.generation, item->read->label);
  return other == NULL ? g_strdup ("models/llm.csv") : g_strdup_printf ("models/llm.csv without %s (%s)", item->read->label, other);
}

static void
predict_catalogue (Run *run, const TrainingItem *item)
{
  const gboolean own = has_own_constants (run, item);
  g_autoptr (GError) error = NULL;
  Efficiency e;
  TrainingStep step;

  if (!catalogue_efficiency (run, item, &e, &error)
      || !training_step (run->parts, item->read, own ? NAN : e.value / item->read->share, &step, &error))
    refuse (run, item, skip_inconsistent, error->message);
  else if (item->read->constant)
    validation_fitted (run->validation, item->source, 1);
  else
    {
      g_autofree char *from = own ? own_constants_text (run, item) : g_strdup (e.origin.text);

      add_prediction (run, item, &step, NULL, e.match, NAN, from);
    }
}

static double
samples_per_gpu (const TrainingRow *row)
{
  return row->samples / (double) row->gpus;
}

static void
predict_anchored (Run *run, guint at)
{
  const TrainingItem *item = ITEM (run->items, at), *anchor = ITEM (run->items, item->anchor);
  const double ideal = anchor->read->measured * samples_per_gpu (item->read) / samples_per_gpu (anchor->read);
  g_autoptr (GError) error = NULL;
  TrainingStep step;

  if (isnan (anchor->efficiency))
    {
      refuse (run, item, skip_few_sizes, NULL);
      return;
    }
  if (!training_step (run->parts, item->read, anchor->efficiency, &step, &error))
    refuse (run, item, skip_inconsistent, error->message);
  else if (item->read->constant)
    validation_fitted (run->validation, item->source, 1);
  else
    {
      g_autofree char *from = g_strdup_printf ("efficiency of the %" G_GUINT64_FORMAT "x%" G_GUINT64_FORMAT " row",
                                               anchor->read->nodes, anchor->read->per_node);

      add_prediction (run, item, &step, &anchor->step, run->how->anchor == ANCHOR_FULL_NODE ? "full-node" : "measured", ideal, from);
    }
}

static void
solve_anchors (Run *run)
{
  for (guint i = 0; i < run->items->len; i++)
    {
      TrainingItem *item = ITEM (run->items, i);
      g_autoptr (GError) error = NULL;

      if (!item->serves)
        continue;
      item->efficiency = training_solve (run->parts, item->read, item->read->measured, 0.8 / item->read->share, &error);
      if (!isnan (item->efficiency) && !training_step (run->parts, item->read, item->efficiency, &item->step, &error))
        item->efficiency = NAN;
      if (error != NULL)
        remark (run, item, error->message);
    }
}

/* "table.csv, mixtures of experts": rows that others of their table say nothing of. */
static void
set_apart (Run *run)
{
  g_autoptr (GHashTable) sources = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < run->items->len; i++)
    {
      TrainingItem *item = ITEM (run->items, i);
      const CsvTable *table = run->tables->pdata[item->table];

      if (item->read->apart == NULL)
        continue;
      g_autofree char *base = g_path_get_basename (csv_name (table)), *name = g_strdup_printf ("%s, %s", base, item->read->apart);
      gpointer known = g_hash_table_lookup (sources, name);

      item->source = known != NULL ? GPOINTER_TO_UINT (known) - 1 : validation_source (run->validation, name, table);
      g_hash_table_insert (sources, g_steal_pointer (&name), GUINT_TO_POINTER (item->source + 1));
    }
}

static void
predict_all (Run *run)
{
  for (guint i = 0; i < run->items->len; i++)
    {
      const TrainingItem *item = ITEM (run->items, i);

      if (item->read->skip != NULL)
        refuse (run, item, item->read->skip, item->read->why);
      else if (run->how->anchor == ANCHOR_NONE)
        predict_catalogue (run, item);
      else if (item->serves)
        validation_fitted (run->validation, item->source, 1);
      else if (item->anchor == G_MAXUINT || item->anchor == i)
        refuse (run, item, skip_few_sizes, NULL);
      else
        predict_anchored (run, i);
    }
}

CsvTable *
training_table (const char *path, GError **error)
{
  static const char *const needed[] = { "source", "model", "framework", "gpu", "total_gpus" };
  g_autoptr (CsvTable) table = csv_load (path, error);
  guint column;

  for (gsize k = 0; table != NULL && k < G_N_ELEMENTS (needed); k++)
    {
      if (!csv_require (table, needed[k], &column, error))
        return NULL;
    }
  return g_steal_pointer (&table);
}

static gboolean
load_tables (const char *const *paths, GPtrArray *keep, GPtrArray *tables, Validation *validation, GError **error)
{
  for (gsize i = 0; paths[i] != NULL; i++)
    {
      CsvTable *table = training_table (paths[i], error);
      g_autofree char *name = g_path_get_basename (paths[i]);

      if (table == NULL)
        return FALSE;
      g_ptr_array_add (keep, table);
      g_ptr_array_add (tables, table);
      validation_source (validation, name, table);
    }
  return TRUE;
}

gboolean
training_validate (const char *const *paths, const TrainingValidation *how, Validation *validation, GPtrArray *keep,
                   GString *remarks, GError **error)
{
  g_autoptr (TrainingReader) reader = training_reader_new (error);
  g_autoptr (GPtrArray) tables = g_ptr_array_new ();
  g_autoptr (Shelf) parts = shelf_new ();
  g_autoptr (GArray) items = NULL;
  g_autoptr (IntervalTable) intervals = reader != NULL ? interval_table_load (error) : NULL;
  Run run = { how, validation, tables, NULL, remarks, intervals, parts };

  if (intervals == NULL || !load_tables (paths, keep, tables, validation, error)
      || (items = training_items (reader, tables, how->where, error)) == NULL)
    return FALSE;
  run.items = items;
  set_apart (&run);
  if (how->anchor != ANCHOR_NONE)
    {
      training_anchors (items, how->anchor);
      solve_anchors (&run);
    }
  predict_all (&run);
  return TRUE;
}
