/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/study.h"
#include <math.h>
#include <string.h>

/* Throughputs nearer than this tie: below what any prediction tells apart. */
static const double tie = 0.005;
/* Exposed communication under this share of the step is called hidden. */
static const double hidden = 0.02;

static gboolean
check_batches (Result *const *results, guint n, gboolean allow, GError **error)
{
  for (guint i = 1; i < n && !allow; i++)
    {
      if (results[i]->global_batch == results[0]->global_batch)
        continue;
      g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE,
                   "compare: a step of '%s' trains %" G_GUINT64_FORMAT " samples, one of '%s' %" G_GUINT64_FORMAT
                   "; make the global batches equal, or say --allow-unequal-batch",
                   results[0]->scenario, results[0]->global_batch, results[i]->scenario, results[i]->global_batch);
      return FALSE;
    }
  return TRUE;
}

/* 1 + the number of clearly faster ones. */
static void
rank_results (Comparison *c)
{
  for (guint i = 0; i < c->n; i++)
    {
      c->rank[i] = 1;
      for (guint k = 0; k < c->n; k++)
        {
          if (c->results[k]->throughput > c->results[i]->throughput * (1 + tie))
            c->rank[i]++;
        }
    }
}

static Cause
largest_loss (const Result *r)
{
  Cause largest = CAUSE_HOST;

  for (guint cause = CAUSE_HOST; cause < N_CAUSES; cause++)
    {
      if (r->ledger[cause] > r->ledger[largest])
        largest = (Cause) cause;
    }
  return largest;
}

/* The line of the ledger, a sample, that differs most. */
static Cause
largest_change (const Result *from, const Result *to)
{
  Cause largest = CAUSE_COMPUTE;
  double most = -1;

  for (guint cause = 0; cause < N_CAUSES; cause++)
    {
      const double change = fabs (to->ledger[cause] / (double) to->global_batch - from->ledger[cause] / (double) from->global_batch);

      if (change > most)
        {
          most = change;
          largest = (Cause) cause;
        }
    }
  return largest;
}

/* The call that is exposed longest, or NULL. */
static const CollectiveUse *
most_exposed (const Result *r)
{
  const CollectiveUse *most = NULL;

  for (guint i = 0; i < r->n_collectives; i++)
    {
      if (r->collectives[i].exposed_s > 0 && (most == NULL || r->collectives[i].exposed_s > most->exposed_s))
        most = &r->collectives[i];
    }
  return most;
}

static void
append_call (GString *text, const Result *r)
{
  const CollectiveUse *use = most_exposed (r);

  if (use != NULL && use->link != NULL)
    g_string_append_printf (text, " (%s by %s on %s)", use->op, use->algorithm, use->link);
}

static void
append_ms (GString *text, double seconds)
{
  g_autofree char *time = quantity_format (seconds, UNIT_TIME);

  g_string_append (text, time);
}

static char *
reference_reason (const Result *r)
{
  const Cause loss = largest_loss (r);
  GString *text = g_string_new ("the one compared with: ");

  g_string_append_printf (text, "its largest loss is %s, %.0f %% of the step", cause_titles[loss],
                          100 * r->ledger[loss] / r->step_time);
  if (loss == CAUSE_EXPOSED_COMM)
    append_call (text, r);
  return g_string_free (text, FALSE);
}

/* Seconds on the wire of what goes through servers. */
static double
served (const Result *r)
{
  double seconds = 0;

  for (guint i = 0; i < r->n_collectives; i++)
    {
      if (g_str_has_suffix (r->collectives[i].algorithm, "-server"))
        seconds += r->collectives[i].wire_s;
    }
  return seconds;
}

/* "all-gather and reduce-scatter": what a step has but all-reduces, which are all that
 * servers do; NULL where they carry more than a little of it, or it has nothing else. */
static char *
past_servers (const Result *r)
{
  g_autoptr (GPtrArray) ops = g_ptr_array_new ();
  GString *text;

  for (guint i = 0; i < r->n_collectives; i++)
    {
      const char *op = r->collectives[i].op;

      if (!g_str_equal (op, "all-reduce") && !g_ptr_array_find_with_equal_func (ops, op, g_str_equal, NULL))
        g_ptr_array_add (ops, (gpointer) op);
    }
  if (ops->len == 0 || served (r) > hidden * r->step_time)
    return NULL;
  text = g_string_new (g_ptr_array_index (ops, 0));
  for (guint i = 1; i < ops->len; i++)
    g_string_append_printf (text, "%s%s", i == ops->len - 1 ? " and " : ", ", (const char *) g_ptr_array_index (ops, i));
  return g_string_free (text, FALSE);
}

static char *
tie_reason (const Result *first, const Result *r)
{
  const gboolean servers_differ = r->reducers != first->reducers || r->servers != first->servers;
  const Result *with = r->reducers + r->servers > 0 ? r : first;
  g_autofree char *past = servers_differ ? past_servers (with) : NULL;
  GString *text = g_string_new (NULL);

  g_string_printf (text, "ties with '%s'", first->scenario);
  if (servers_differ && r->nodes == 1 && first->nodes == 1)
    g_string_append (text, ": on one node nothing goes to the servers");
  else if (past != NULL)
    g_string_append_printf (text, ": servers only do all-reduces between nodes; this step has %s, but %s, which NCCL does",
                            served (with) > 0 ? "next to none" : "none", past);
  else if (MAX (r->ledger[CAUSE_EXPOSED_COMM] / r->step_time, first->ledger[CAUSE_EXPOSED_COMM] / first->step_time) < hidden)
    g_string_append (text, ": communication is hidden behind the backward pass, so a faster one moves nothing");
  else if (r->servers > 0 || r->reducers > 0)
    g_string_append (text, ": both put the same bytes on the slowest links");
  return g_string_free (text, FALSE);
}

static char *
change_reason (const Result *first, const Result *r)
{
  const double ratio = r->throughput / first->throughput;
  const Cause change = largest_change (first, r);
  GString *text = g_string_new (NULL);

  g_string_printf (text, ratio < 0.1 ? "%.2g x as fast as '%s': %s " : "%.2f x as fast as '%s': %s ", ratio, first->scenario, cause_titles[change]);
  append_ms (text, first->ledger[change]);
  g_string_append (text, " -> ");
  append_ms (text, r->ledger[change]);
  g_string_append (text, " a step");
  if (r->ledger[CAUSE_EXPOSED_COMM] > hidden * r->step_time)
    append_call (text, r);
  if (change == CAUSE_COMPUTE && r->gpus != first->gpus)
    g_string_append_printf (text, ": %" G_GUINT64_FORMAT " GPUs instead of %" G_GUINT64_FORMAT " do the same work",
                            r->gpus, first->gpus);
  return g_string_free (text, FALSE);
}

/* Against one before it that it ties with, else against the first. */
static char *
give_reason (const Comparison *c, guint i)
{
  if (i == 0)
    return reference_reason (c->results[0]);
  for (guint k = 0; k < i; k++)
    {
      if (fabs (c->results[i]->throughput / c->results[k]->throughput - 1) <= tie)
        return tie_reason (c->results[k], c->results[i]);
    }
  return change_reason (c->results[0], c->results[i]);
}

typedef struct { GPtrArray *keys; GHashTable *values; guint n, column; } Gather;

static void
gather_value (gpointer user, const char *group, const char *key, const char *text, const char *where)
{
  Gather *gather = user;
  g_autofree char *name = g_strdup_printf ("%s.%s", group, key);
  char **row = g_hash_table_lookup (gather->values, name);

  (void) where;
  if (g_str_equal (group, "scenario"))
    return;
  if (row == NULL)
    {
      row = g_new0 (char *, gather->n + 1);
      g_ptr_array_add (gather->keys, g_strdup (name));
      g_hash_table_insert (gather->values, g_strdup (name), row);
    }
  g_free (row[gather->column]);
  row[gather->column] = g_strdup (text);
}

static void
free_row (gpointer data)
{
  g_free (data);
}

static gboolean
row_differs (char *const *row, guint n)
{
  for (guint i = 1; i < n; i++)
    {
      if (g_strcmp0 (row[i], row[0]) != 0)
        return TRUE;
    }
  return FALSE;
}

/* Takes rows that differ, frees the others. */
static void
find_differences (Comparison *c, Scenario *const *scenarios)
{
  g_autoptr (GPtrArray) keys = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_row);
  Gather gather = { keys, values, c->n, 0 };

  for (; gather.column < c->n; gather.column++)
    scenario_values (scenarios[gather.column], gather_value, &gather);
  c->differences = g_new0 (Difference, keys->len + 1);
  for (guint i = 0; i < keys->len; i++)
    {
      char **row = g_hash_table_lookup (values, g_ptr_array_index (keys, i));
      gpointer stolen = NULL;

      for (guint k = 0; k < c->n; k++)
        if (row[k] == NULL)
          row[k] = g_strdup ("");
      if (row_differs (row, c->n))
        {
          c->differences[c->n_differences++] = (Difference) { g_strdup (g_ptr_array_index (keys, i)), row };
          g_hash_table_steal_extended (values, g_ptr_array_index (keys, i), &stolen, NULL);
          g_free (stolen);
          continue;
        }
      for (guint k = 0; k < c->n; k++)
        g_free (row[k]);
    }
}

Comparison *
study_compare (Scenario *const *scenarios, guint n, gboolean allow_unequal_batch, GError **error)
{
  g_autoptr (Shelf) parts = shelf_new ();
  const RunOptions options = { .one_gpu = TRUE, .unused = TRUE, .parts = parts };
  g_autoptr (Comparison) c = g_new0 (Comparison, 1);

  c->results = g_new0 (Result *, n);
  c->rank = g_new0 (guint, n);
  c->reasons = g_new0 (char *, n + 1);
  for (; c->n < n; c->n++)
    {
      c->results[c->n] = run_scenario (scenarios[c->n], &options, error);
      if (c->results[c->n] == NULL)
        return NULL;
    }
  if (!check_batches (c->results, n, allow_unequal_batch, error))
    return NULL;
  rank_results (c);
  for (guint i = 0; i < n; i++)
    c->reasons[i] = give_reason (c, i);
  find_differences (c, scenarios);
  return g_steal_pointer (&c);
}

void
comparison_free (Comparison *c)
{
  if (c == NULL)
    return;
  for (guint i = 0; i < c->n; i++)
    result_free (c->results[i]);
  g_free (c->results);
  g_free (c->rank);
  g_strfreev (c->reasons);
  for (guint i = 0; i < c->n_differences; i++)
    {
      for (guint k = 0; k < c->n; k++)
        g_free (c->differences[i].values[k]);
      g_free (c->differences[i].values);
      g_free (c->differences[i].key);
    }
  g_free (c->differences);
  g_free (c);
}
