/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/effect.h"
#include "run/unused.h"
#include <math.h>
#include <string.h>

/* Groups whose keys may be without effect, with text that reads as all defaults.
 * `only`: these keys of the group; the others are figures that people write down
 * even where they are the usual ones. */
typedef struct { const char *name, *plain; const Key *keys; gsize offset, size; const char *const *only; } Group;

static const char *const of_fabric[] = { "oversubscription", "nodes-per-leaf", "leaves-per-pod", "pod-oversubscription", "nodes-per-group",
                                         "groups", "routing", "ecmp-share", "pxn", "level-latency", "switch-reduction", NULL };
static const char *const of_traffic[] = { "uplink-rate", "job-compute", "checkpoint-size", "checkpoint-blocking", "storage-rate", NULL };
static const char *const of_noise[] = { "distribution", "ranks", "pause-steps", "pause-interval", "pause-together", NULL };
static const char *const of_compute[] = { "without-source", NULL };
static const char *const of_training[] = { "offload-rate", "offload-activations", "chunked-loss", NULL };
static const char *const of_cluster[] = { "placement", "rank-order", NULL };
static const Group groups[] = {
  { "strategy", "[strategy]\nkind = ddp\n", strategy_keys, offsetof (Scenario, strategy), sizeof (StrategySpec), NULL },
  { "training", "[training]\n", training_keys, offsetof (Scenario, training), sizeof (TrainingSpec), of_training },
  { "compute", "[compute]\n", compute_keys, offsetof (Scenario, compute), sizeof (ComputeSpec), of_compute },
  { "noise", "[noise]\n", noise_keys, offsetof (Scenario, noise), sizeof (NoiseSpec), of_noise },
  { "traffic", "[traffic]\n", traffic_keys, offsetof (Scenario, traffic), sizeof (TrafficSpec), of_traffic },
  { "network", "[network]\n", network_keys, offsetof (Scenario, network), sizeof (NetworkSpec), of_fabric },
  { "cluster", "[cluster]\n", cluster_keys, offsetof (Scenario, cluster), sizeof (ClusterSpec), of_cluster },
};

static gsize
field_size (const Key *key)
{
  switch (key->type)
    {
    case KEY_STRING: return sizeof (char *);
    case KEY_CHOICE: return sizeof (int);
    case KEY_BOOLEAN: return sizeof (gboolean);
    case KEY_COUNT: return sizeof (guint64);
    default: return sizeof (double);
    }
}

static gboolean
same_field (const Key *key, gconstpointer a, gconstpointer b)
{
  return key->type == KEY_STRING ? g_strcmp0 (*(char *const *) a, *(char *const *) b) == 0 : memcmp (a, b, field_size (key)) == 0;
}

/* The scenario with one field of one group as its default has it. */
static gboolean
same_without (const Result *r, const Scenario *scenario, const Group *group, const Key *key, gconstpointer plain, Shelf *parts)
{
  const RunOptions options = { .parts = parts };
  Scenario without = *scenario;
  g_autoptr (Result) other = NULL;
  gpointer field = (char *) &without + group->offset + key->offset;

  if (same_field (key, field, (const char *) plain + key->offset))
    return FALSE;
  memcpy (field, (const char *) plain + key->offset, field_size (key));
  other = run_scenario (&without, &options, NULL);
  return other != NULL && !(fabs (other->step_time - r->step_time) > 0) && !(fabs (other->memory.total - r->memory.total) > 0);
}

static gboolean
group_remarks (GStrvBuilder *remarks, const Result *r, const Scenario *scenario, const Group *group, Shelf *parts, GError **error)
{
  const KeyGroup table = { group->name, NULL, group->keys, group->size };
  g_autoptr (KeyFile) file = key_file_parse ("defaults", group->plain, strlen (group->plain), error);
  g_autofree gpointer plain = g_malloc0 (group->size);

  if (file == NULL || !key_file_read (file, &table, plain, error))
    return FALSE;
  for (const Key *key = group->keys; key->name != NULL; key++)
    {
      g_autofree char *remark = NULL, *where = NULL;

      if (key->required || (group->only != NULL && !g_strv_contains (group->only, key->name))
          || key_file_get (scenario->file, group->name, key->name) == NULL
          || (r->unused != NULL && unused_has (r->unused, group->name, key->name)) || !same_without (r, scenario, group, key, plain, parts))
        continue;
      where = key_file_where (scenario->file, group->name, key->name);
      remark = g_strdup_printf ("[%s] %s (%s) changes nothing here: neither the step nor its memory", group->name, key->name, where);
      g_strv_builder_add (remarks, remark);
    }
  keys_clear (group->keys, plain);
  return TRUE;
}

gboolean
effect_remarks (Result *r, const Scenario *scenario, Shelf *parts, GError **error)
{
  g_autoptr (GStrvBuilder) remarks = g_strv_builder_new ();

  if (r->warnings != NULL)
    g_strv_builder_addv (remarks, (const char **) r->warnings);
  for (gsize i = 0; i < G_N_ELEMENTS (groups); i++)
    {
      if (!group_remarks (remarks, r, scenario, &groups[i], parts, error))
        return FALSE;
    }
  g_strfreev (r->warnings);
  r->warnings = g_strv_builder_end (remarks);
  return TRUE;
}
