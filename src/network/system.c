/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "network/system.h"

#include <math.h>
#include <string.h>

const SystemParameterInfo system_parameters[N_SYSTEM] = {
  [SYSTEM_T0] = { "t0", UNIT_TIME, "Launch." },
  [SYSTEM_GL] = { "gL", UNIT_TIME, "One hop in the node, LL." },
  [SYSTEM_GM] = { "gM", UNIT_TIME, "The same, LL128." },
  [SYSTEM_GS] = { "gS", UNIT_TIME, "The same, Simple." },
  [SYSTEM_DM] = { "dM", UNIT_TIME, "Launch of LL128, more than LL's." },
  [SYSTEM_DS] = { "dS", UNIT_TIME, "Launch of Simple, more than LL's." },
  [SYSTEM_B] = { "B", UNIT_RATE, "Rate of a ring in the node, a GPU." },
  [SYSTEM_FL] = { "fL", UNIT_SHARE, "Of B, LL." },
  [SYSTEM_FM] = { "fM", UNIT_SHARE, "Of B, LL128." },
  [SYSTEM_CL] = { "Cl", UNIT_RATE, "Rate of a rank's own block." },
  [SYSTEM_PHI] = { "phi", UNIT_NONE, "Weight of the pipeline fill." },
  [SYSTEM_Q] = { "q", UNIT_NONE, "Step of LL's latency." },
  [SYSTEM_GAM] = { "gam", UNIT_NONE, "B falls as (2/GPUs of the node) to this power." },
  [SYSTEM_NU] = { "nu", UNIT_NONE, "How hops and bytes of Simple add in the node: 1 a sum, 2 overlap." },
  [SYSTEM_BV] = { "Bv", UNIT_RATE, "Bus bandwidth of an all-reduce in NVSwitch." },
  [SYSTEM_AV] = { "av", UNIT_TIME, "Its latency." },
  [SYSTEM_HL] = { "hL", UNIT_TIME, "One hop between nodes, LL." },
  [SYSTEM_HM] = { "hM", UNIT_TIME, "The same, LL128." },
  [SYSTEM_HS] = { "hS", UNIT_TIME, "The same, Simple." },
  [SYSTEM_BN] = { "Bn", UNIT_RATE, "Rate of a whole node." },
  [SYSTEM_FT] = { "fT", UNIT_SHARE, "Of the rate, a tree, Simple." },
  [SYSTEM_FTL] = { "fTl", UNIT_SHARE, "The same, LL and LL128." },
  [SYSTEM_FLN] = { "fLn", UNIT_SHARE, "Of the rate between nodes, LL." },
  [SYSTEM_FMN] = { "fMn", UNIT_SHARE, "Of the rate between nodes, LL128." },
  [SYSTEM_TP] = { "tP", UNIT_TIME, "Launch, point to point." },
  [SYSTEM_DP] = { "dP", UNIT_TIME, "The same, more for Simple." },
  [SYSTEM_FP] = { "fP", UNIT_SHARE, "Of B, point to point." },
  [SYSTEM_FLP] = { "fLp", UNIT_SHARE, "Of the rate, point to point, LL." },
  [SYSTEM_FPN] = { "fPn", UNIT_SHARE, "Of Bn, point to point with many peers." },
  [SYSTEM_FPP] = { "fPp", UNIT_SHARE, "Of one NIC's rate, point to point with one peer." },
};

static const char *const choice_names[] = { "cheapest", "table", NULL };

#define AT(field) offsetof (System, field)
static const Key system_keys[] = {
  { "name", KEY_STRING, UNIT_NONE, AT (name), NULL, "Name.", .required = TRUE },
  { "aliases", KEY_STRING, UNIT_NONE, AT (aliases), NULL, "Other names, a comma list." },
  { "summary", KEY_STRING, UNIT_NONE, AT (summary), NULL, "One line for lists.", .required = TRUE },
  { "gpu", KEY_STRING, UNIT_NONE, AT (gpu), NULL, "GPU part.", .required = TRUE },
  { "machine", KEY_STRING, UNIT_NONE, AT (machine), NULL, "Machine part; without it not known." },
  { "node-transport", KEY_STRING, UNIT_NONE, AT (node_transport), NULL, "Transport in the node.", .required = TRUE },
  { "transport", KEY_STRING, UNIT_NONE, AT (transport), NULL, "Transport between nodes; without it one node was measured." },
  { "launch", KEY_STRING, UNIT_NONE, AT (launch_style), NULL, "Library and how its ranks were started, as far as known." },
  { "ranks", KEY_COUNT, UNIT_NONE, AT (ranks), NULL, "Most ranks that were measured.", 2, 1e8, .required = TRUE },
  { "nodes", KEY_COUNT, UNIT_NONE, AT (nodes), "1", "Most nodes that were measured.", 1, 1e7 },
  { "rails", KEY_COUNT, UNIT_NONE, AT (rails), "1", "NICs of a node that Bn is the sum of.", 1, 1024 },
  { "link-rate", KEY_QUANTITY, UNIT_RATE, AT (link_rate), NULL, "Nominal rate of a GPU's link in the node." },
  { "node-rate", KEY_QUANTITY, UNIT_RATE, AT (node_rate), NULL, "Nominal rate of all NICs of a node; without it not known." },
  { "choice", KEY_CHOICE, UNIT_NONE, AT (table), "table", "Who picks algorithm and protocol in a node: NCCL's table, or what is cheapest.",
    .choices = choice_names },
  { "simple-from", KEY_STRING, UNIT_NONE, AT (onset_text), NULL,
    "Size of an all-reduce between nodes from which NCCL takes Simple, a placement each: 2x8: 16 MiB ring, 8x8: 8 MiB." },
  { "files", KEY_STRING, UNIT_NONE, AT (files), NULL, "Measured tables it was fitted to, a comma list.", .required = TRUE },
  { "date", KEY_STRING, UNIT_NONE, AT (date), NULL, "When it was fitted." },
  { NULL }
};
static const Key residual_keys[] = {
  { "rows", KEY_COUNT, UNIT_NONE, AT (rows), NULL, "Sizes that were fitted." },
  { "median", KEY_NUMBER, UNIT_NONE, AT (median), NULL, "Of |ln(model/measured)|.", 0, 10 },
  { "q90", KEY_NUMBER, UNIT_NONE, AT (q90), NULL, "Nine of ten are below.", 0, 10 },
  { NULL }
};
static const KeyGroup system_groups[] = {
  { "system", "What was measured.", system_keys, sizeof (System) },
  { "parameters", "What was fitted.", NULL, 0 },
  { "covariance", "Of ln(parameter): a row a parameter, up to itself.", NULL, 0 },
  { "residuals", "How well it fits.", residual_keys, sizeof (System) },
  { "origin", "Where the values come from.", NULL, 0 },
  { NULL }
};

static gboolean
known_names (const KeyFile *part, const char *group, GError **error)
{
  g_auto (GStrv) keys = key_file_keys (part, group);

  for (guint k = 0; keys != NULL && keys[k] != NULL; k++)
    {
      guint i = 0;

      while (i < N_SYSTEM && !g_str_equal (system_parameters[i].name, keys[k]))
        i++;
      if (i == N_SYSTEM)
        {
          key_file_error (part, group, keys[k], error, "no parameter of the cost model; there are t0, gL, gM, gS, dM, dS, B and so on");
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
read_values (const KeyFile *part, System *system, GError **error)
{
  for (int i = 0; i < N_SYSTEM; i++)
    {
      const Key key[] = { { system_parameters[i].name, system_parameters[i].unit == UNIT_TIME || system_parameters[i].unit == UNIT_RATE
                                                         ? KEY_QUANTITY : KEY_NUMBER,
                            system_parameters[i].unit, 0, NULL, system_parameters[i].help, 1e-12, 1e15 }, { NULL } };
      const KeyGroup group = { "parameters", "", key, sizeof (double) };
      double value = NAN;

      if (!key_file_read (part, &group, &value, error))
        return FALSE;
      system->value[i] = value;
    }
  return TRUE;
}

static gboolean
read_covariance (const KeyFile *part, System *system, GError **error)
{
  guint at[N_SYSTEM], n = 0;

  for (guint i = 0; i < N_SYSTEM; i++)
    {
      const char *text = key_file_get (part, "covariance", system_parameters[i].name);
      g_auto (GStrv) items = text != NULL ? g_strsplit (text, ",", N_SYSTEM + 1) : NULL;

      if (text == NULL)
        continue;
      at[n++] = i;
      if (g_strv_length (items) != n)
        {
          key_file_error (part, "covariance", system_parameters[i].name, error, "%u numbers; give %u, one for each parameter up to this",
                          g_strv_length (items), n);
          return FALSE;
        }
      for (guint j = 0; j < n; j++)
        {
          char *end;
          const double value = g_ascii_strtod (items[j], &end);

          if (end == items[j] || *g_strchug (end) != '\0' || !(fabs (value) < 1e6))
            {
              key_file_error (part, "covariance", system_parameters[i].name, error, "'%s' is no number", items[j]);
              return FALSE;
            }
          system->covariance[i][at[j]] = system->covariance[at[j]][i] = value;
        }
    }
  return TRUE;
}

static gboolean
read_onset_size (char *text, SystemOnset *onset)
{
  onset->ring = g_str_has_suffix (text, " ring");
  if (onset->ring)
    text[strlen (text) - 5] = '\0';
  return quantity_parse (text, UNIT_BYTES, &onset->size, NULL);
}

static gboolean
read_onsets (const KeyFile *part, System *system, GError **error)
{
  g_auto (GStrv) items = system->onset_text != NULL ? g_strsplit (system->onset_text, ",", SYSTEM_MAX_ONSETS + 1) : NULL;

  for (guint i = 0; items != NULL && items[i] != NULL; i++)
    {
      SystemOnset *onset = &system->onset[MIN (i, SYSTEM_MAX_ONSETS - 1)];
      char *end = items[i];

      onset->nodes = g_ascii_strtoull (g_strstrip (items[i]), &end, 10);
      onset->per_node = *end == 'x' ? g_ascii_strtoull (end + 1, &end, 10) : 0;
      if (i >= SYSTEM_MAX_ONSETS || onset->nodes < 2 || onset->per_node < 1 || *end != ':'
          || !read_onset_size (g_strstrip (end + 1), onset))
        {
          key_file_error (part, "system", "simple-from", error, "'%s' is wrong; give NODESxGPUS: SIZE or NODESxGPUS: SIZE ring, at most %u of them, like 2x8: 16 MiB",
                          items[i], SYSTEM_MAX_ONSETS);
          return FALSE;
        }
      system->n_onsets = i + 1;
    }
  return TRUE;
}

void
system_onset (const SystemOnset *onsets, guint n, guint64 nodes, Paths *paths)
{
  const SystemOnset *best = NULL;

  paths->simple_ring = FALSE;
  for (guint i = 0; i < n; i++)
    paths->simple_ring |= onsets[i].nodes == nodes && onsets[i].ring;
  for (guint i = 0; i < n; i++)
    if (!(onsets[i].size > 0))
      continue;
    else if (best == NULL || fabs (log ((double) onsets[i].nodes / (double) nodes)) < fabs (log ((double) best->nodes / (double) nodes)))
      best = &onsets[i];
  paths->simple_from = best != NULL ? best->size : 0;
}

System *
system_load (const char *name, GError **error)
{
  g_autofree char *path = part_is_file (name) ? g_strdup (name) : part_find ("system", name, error);
  g_autoptr (KeyFile) part = path != NULL ? key_file_load (path, error) : NULL;
  g_autoptr (System) system = g_new0 (System, 1);
  System residuals = { 0 };

  if (part == NULL || !key_file_check (part, system_groups, error) || !known_names (part, "parameters", error)
      || !known_names (part, "covariance", error)
      || !key_file_read (part, &system_groups[0], system, error) || !key_file_read (part, &system_groups[3], &residuals, error)
      || !read_values (part, system, error) || !read_onsets (part, system, error) || !read_covariance (part, system, error))
    return NULL;
  system->rows = residuals.rows;
  system->median = residuals.median;
  system->q90 = residuals.q90;
  system->part = g_steal_pointer (&part);
  return g_steal_pointer (&system);
}

void
system_free (System *system)
{
  if (system == NULL)
    return;
  keys_clear (system_keys, system);
  g_clear_pointer (&system->part, key_file_free);
  g_free (system);
}

static gpointer
kind_load (gconstpointer what, GError **error)
{
  return system_load (what, error);
}

static void
kind_free (gpointer system)
{
  system_free (system);
}

const ShelfKind system_kind = { "system", kind_load, kind_free };

Origin
system_origin (const System *system, SystemParameter parameter)
{
  Origin origin = { ORIGIN_MEASURED, system->files };

  origin_read (system->part, system_parameters[parameter].name, &origin, NULL);
  return origin;
}

gboolean
system_has_file (const System *system, const char *path)
{
  g_autofree char *name = g_path_get_basename (path);
  g_auto (GStrv) files = g_strsplit (system->files, ",", -1);

  for (guint i = 0; files[i] != NULL; i++)
    {
      g_autofree char *file = g_path_get_basename (g_strstrip (files[i]));

      if (g_str_equal (file, name))
        return TRUE;
    }
  return FALSE;
}

static void
put (double value, double *to)
{
  if (!isnan (value))
    *to = value;
}

static void
apply_node (const double v[N_SYSTEM], const RankGroup *group, Paths *paths)
{
  PathLeg *leg = &paths->in_node;
  const double shared = isnan (v[SYSTEM_GAM]) ? 0 : v[SYSTEM_GAM];

  put (v[SYSTEM_GL], &leg->hop[PROTOCOL_LL]);
  put (v[SYSTEM_GM], &leg->hop[PROTOCOL_LL128]);
  put (v[SYSTEM_GS], &leg->hop[PROTOCOL_SIMPLE]);
  put (v[SYSTEM_FL], &leg->share[PROTOCOL_LL]);
  put (v[SYSTEM_FM], &leg->share[PROTOCOL_LL128]);
  if (!isnan (v[SYSTEM_B]) && group->per_node > 1 && leg->capacity > 0)
    {
      leg->rate = fmin (v[SYSTEM_B] * pow (2 / (double) group->per_node, shared), leg->capacity);
      if (group->n_nodes < 2)
        put (v[SYSTEM_NU], &paths->norm);
      leg->n_bridges = 0;   /* what they cost is in the measured rate */
      put (v[SYSTEM_CL], &paths->local);
    }
  if (paths->nvls_rate > 0)
    {
      put (v[SYSTEM_BV], &paths->nvls_rate);
      put (v[SYSTEM_AV], &paths->nvls_latency);
    }
}

static void
apply_between (const double v[N_SYSTEM], double rails, Paths *paths)
{
  PathLeg *leg = &paths->between;

  put (v[SYSTEM_HL], &leg->hop[PROTOCOL_LL]);
  put (v[SYSTEM_HM], &leg->hop[PROTOCOL_LL128]);
  put (v[SYSTEM_HS], &leg->hop[PROTOCOL_SIMPLE]);
  put (v[SYSTEM_FLN], &leg->share[PROTOCOL_LL]);
  put (v[SYSTEM_FMN], &leg->share[PROTOCOL_LL128]);
  if (isnan (v[SYSTEM_BN]) || !(leg->capacity > 0))
    return;
  leg->rate = v[SYSTEM_BN] * fmin (leg->links / rails, 1);
  paths->between_efficiency = leg->rate / (leg->links * leg->capacity);
  paths->between_capped = FALSE;   /* measured: nobody knows by what */
}

void
system_apply (const double v[N_SYSTEM], const RankGroup *group, double rails, Paths *paths)
{
  const double more[N_PROTOCOLS] = { 0, v[SYSTEM_DM], v[SYSTEM_DS] };

  if (!isnan (v[SYSTEM_T0]))
    {
      const double before = paths->launch[PROTOCOL_LL];

      for (int p = 0; p < N_PROTOCOLS; p++)
        paths->launch[p] = v[SYSTEM_T0] + (isnan (more[p]) ? fmax (paths->launch[p] - before, 0) : more[p]);
    }
  apply_node (v, group, paths);
  if (group->n_nodes > 1)
    apply_between (v, rails, paths);
  put (v[SYSTEM_PHI], &paths->fill);
  put (v[SYSTEM_Q], &paths->ramp);
  put (v[SYSTEM_FT], &paths->tree_share);
  put (isnan (v[SYSTEM_FTL]) ? v[SYSTEM_FT] : v[SYSTEM_FTL], &paths->tree_share_ll);
  put (v[SYSTEM_TP], &paths->p2p_launch);
  put (v[SYSTEM_DP], &paths->p2p_simple);
  put (v[SYSTEM_FP], &paths->p2p_node_share);
  put (v[SYSTEM_FLP], &paths->p2p_ll);
  put (v[SYSTEM_FPN], &paths->p2p_share);
  put (v[SYSTEM_FPP], &paths->p2p_pair_share);
  put (v[SYSTEM_FPP], &paths->p2p_few_share);
}

/* Chosen on sizes and placements left out of fits of 27 installations. */
double
system_spread (const System *system, const RankGroup *group)
{
  const gboolean beyond = group->n_ranks > system->ranks || group->n_nodes > system->nodes;

  return exp (beyond ? fmax (2.5 * system->q90, 0.15) : fmax (1.5 * system->q90, 0.1));
}
