/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "calibrate/fit.h"
#include "calibrate/network-part.h"

/* A few plateaus tell no hop from a launch. */
static const guint64 fewest_rows = 8;

/* How near a donor is; only the nearest that are there give. */
enum { TIER_GENERATION, TIER_LINK, TIER_NONE };

/* A value as it carries over to another installation: rates over nominal ones,
 * launches of pairs over those of rings. */
static double
normal_value (const System *system, SystemParameter p)
{
  const double value = system->value[p], b = system->value[SYSTEM_B], t0 = system->value[SYSTEM_T0], ds = system->value[SYSTEM_DS];

  switch (p)
    {
    case SYSTEM_B:
    case SYSTEM_BV:
      return value / system->link_rate;
    case SYSTEM_CL:
      return value / b;
    case SYSTEM_BN:
      return value / system->node_rate;
    case SYSTEM_TP:
      return system->nodes > 1 ? value : value / t0;
    case SYSTEM_DP:
      return system->nodes > 1 ? value : value / ds;
    default:
      return value;
    }
}

static gboolean
is_between (SystemParameter p)
{
  return (p >= SYSTEM_HL && p <= SYSTEM_FMN) || p == SYSTEM_FPN || p == SYSTEM_FPP;
}

/* Fabrics that behave alike. */
static const char *
family (const char *transport)
{
  static const struct { const char *transport, *family; } known[] = {
    { "ib", "rdma" }, { "roce", "rdma" }, { "efa", "efa" }, { "slingshot", "slingshot" }, { "tcp", "sockets" },
    { "slingshot-tcp", "sockets" }, { "ipoib", "sockets" }, { "tcpx", "tcpx" }, { "tcpxo", "tcpx" },
  };

  for (gsize i = 0; transport != NULL && i < G_N_ELEMENTS (known); i++)
    if (g_str_equal (known[i].transport, transport))
      return known[i].family;
  return transport != NULL ? transport : "";
}

typedef struct
{
  const NetworkModel *model;
  GPtrArray  *systems;          /* const System * */
  GPtrArray  *generations;      /* char *, of each */
  const char *launch;           /* NULL: not known */
  gboolean    many_nodes;
} Donors;

static gboolean
is_slot (const char *transport)
{
  return g_str_has_prefix (transport, "pcie");
}

static int
tier_of (const Donors *donors, guint i, SystemParameter p)
{
  const System *system = g_ptr_array_index (donors->systems, i);
  const gboolean same = g_str_equal (g_ptr_array_index (donors->generations, i), donors->model->gpu->generation);

  if (isnan (system->value[p]) || isnan (normal_value (system, p)) || system->rows < fewest_rows)
    return TIER_NONE;
  if (is_between (p))
    {
      if (g_strcmp0 (system->transport, donors->model->between->name) == 0)
        return same ? TIER_GENERATION : TIER_LINK;
      return g_str_equal (family (system->transport), family (donors->model->between->name)) ? TIER_LINK : TIER_NONE;
    }
  if (donors->many_nodes != (system->nodes > 1) && (p == SYSTEM_TP || p == SYSTEM_DP || p == SYSTEM_FLP || p == SYSTEM_PHI || p == SYSTEM_Q))
    return TIER_NONE;
  /* of a ring over nodes the box's numbers are hardly seen */
  if (system->nodes > 1 && !donors->many_nodes)
    return TIER_NONE;
  if (is_slot (system->node_transport) != is_slot (donors->model->in_node->name))
    return TIER_NONE;
  if (donors->launch != NULL && system->launch_style != NULL && (p == SYSTEM_T0 || p == SYSTEM_DM || p == SYSTEM_DS || p == SYSTEM_GL)
      && g_str_equal (donors->launch, "one-process") != g_str_equal (system->launch_style, "one-process"))
    return TIER_NONE;
  /* what the switch adds with is the GPUs' own */
  if (p == SYSTEM_BV || p == SYSTEM_AV)
    return same ? TIER_GENERATION : TIER_NONE;
  return same ? TIER_GENERATION : TIER_LINK;
}

static double
median (GArray *values)
{
  return fit_quantile ((double *) (gpointer) values->data, values->len, 0.5);
}

/* ln of the median over the donors of one generation in a tier; NAN: none. */
static double
median_of_generation (const Donors *donors, SystemParameter p, int tier, const char *generation, GHashTable *used)
{
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint i = 0; i < donors->systems->len; i++)
    if (tier_of (donors, i, p) == tier && g_str_equal (g_ptr_array_index (donors->generations, i), generation))
      {
        const System *system = g_ptr_array_index (donors->systems, i);
        const double value = log (normal_value (system, p));

        g_array_append_val (values, value);
        g_hash_table_add (used, system->name);
      }
  return median (values);
}

/* Median in ln over the donors of the nearest tier; NAN: none.  Of other generations
 * each has one vote, and so have NCCL's constants (`usual`). */
static double
median_of (const Donors *donors, SystemParameter p, double usual, int *tier, GHashTable *used)
{
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  *tier = TIER_NONE;
  for (guint i = 0; i < donors->systems->len; i++)
    *tier = MIN (*tier, tier_of (donors, i, p));
  for (guint i = 0; i < donors->systems->len && *tier < TIER_NONE; i++)
    if (tier_of (donors, i, p) == *tier && g_hash_table_add (seen, g_ptr_array_index (donors->generations, i)))
      {
        const double value = median_of_generation (donors, p, *tier, g_ptr_array_index (donors->generations, i), used);

        g_array_append_val (values, value);
      }
  if (values->len == 0)
    return NAN;
  if (*tier == TIER_LINK && usual > 0)
    {
      const double value = log (usual);

      g_array_append_val (values, value);
    }
  return exp (median (values));
}

/* NCCL's table is that of 2.27-2.30; of a library whose age is not said, what
 * installations started alike showed. */
static gboolean
picks_by_table (const Donors *donors, const NcclTestsSystem *names)
{
  int more = 0;

  if (*names->version != '\0')
    return network_table_version (names->version);
  for (guint i = 0; i < donors->systems->len; i++)
    {
      const System *system = g_ptr_array_index (donors->systems, i);

      if (system->nodes < 2 && donors->launch != NULL && g_strcmp0 (system->launch_style, donors->launch) == 0)
        more += system->table ? 1 : -1;
    }
  return more >= 0;
}

/* All parts but those that saw the file, or the same sweep beside it. */
static gboolean
load_donors (Shelf *shelf, const char *path, Donors *donors, GError **error)
{
  g_auto (GStrv) names = part_list ("system");

  for (guint i = 0; names[i] != NULL; i++)
    {
      const System *system = shelf_get (shelf, &system_kind, names[i], names[i], error);
      g_autoptr (Gpu) gpu = system != NULL ? gpu_load (system->gpu, error) : NULL;

      if (gpu == NULL)
        return FALSE;
      if (system_has_file (system, path))
        continue;
      g_ptr_array_add (donors->systems, (gpointer) system);
      g_ptr_array_add (donors->generations, g_strdup (gpu->generation));
    }
  return TRUE;
}

/* ln of the donor's share where it is of that generation and of the fabric's family;
 * NAN otherwise. */
static gboolean
ln_share (Shelf *shelf, const Donors *donors, guint donor, const char *generation, guint64 nodes, double *out, GError **error)
{
  const System *system = g_ptr_array_index (donors->systems, donor);
  GError *wrong = NULL;

  *out = NAN;
  if (!g_str_equal (g_ptr_array_index (donors->generations, donor), generation)
      || !g_str_equal (family (system->transport), family (donors->model->between->name)))
    return TRUE;
  *out = log (network_plateau_share (shelf, system, nodes, &wrong));
  if (wrong != NULL)
    g_propagate_error (error, wrong);
  return wrong == NULL;
}

/* Median in ln over the donors of the fabric's family, each generation of GPUs with one
 * vote: parameters of rings and of trees of two nodes do not compare, what both reach
 * does.  NAN: none. */
static gboolean
plateau_of (Shelf *shelf, const Donors *donors, guint64 nodes, double *out, GError **error)
{
  g_autoptr (GArray) medians = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  const double usual = log (donors->model->between->efficiency_several);

  for (guint i = 0; i < donors->systems->len; i++)
    {
      const char *generation = g_ptr_array_index (donors->generations, i);
      g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (double));

      if (!g_hash_table_add (seen, (gpointer) generation))
        continue;
      for (guint k = i; k < donors->systems->len; k++)
        {
          double share;

          if (!ln_share (shelf, donors, k, generation, nodes, &share, error))
            return FALSE;
          if (!isnan (share))
            g_array_append_val (values, share);
        }
      const double middle = median (values);
      if (values->len > 0)
        g_array_append_val (medians, middle);
    }
  if (medians->len == 1)
    g_array_append_val (medians, usual);
  *out = medians->len > 0 ? exp (median (medians)) : NAN;
  return TRUE;
}

static void
unshare (NetworkFit *fit, const NetworkPlatform *platform, double of_ring[N_SYSTEM], gboolean many_nodes)
{
  double *v = fit->values;

  for (int p = 0; p < N_SYSTEM; p++)
    if (!isnan (of_ring[p]) && p != SYSTEM_B && p != SYSTEM_BV && p != SYSTEM_CL && p != SYSTEM_BN
        && (many_nodes || (p != SYSTEM_TP && p != SYSTEM_DP)))
      v[p] = of_ring[p];
  if (!isnan (of_ring[SYSTEM_B]))
    v[SYSTEM_B] = of_ring[SYSTEM_B] * fit->model.nominal;
  if (!isnan (of_ring[SYSTEM_BV]))
    v[SYSTEM_BV] = of_ring[SYSTEM_BV] * fit->model.nominal;
  v[SYSTEM_CL] = v[SYSTEM_B] * (isnan (of_ring[SYSTEM_CL]) ? 1.5 : of_ring[SYSTEM_CL]);
  if (!isnan (platform->node_rate))
    v[SYSTEM_BN] = platform->node_rate * (isnan (of_ring[SYSTEM_BN]) ? 0.9 : of_ring[SYSTEM_BN]);
  if (!many_nodes)
    {
      v[SYSTEM_TP] = v[SYSTEM_T0] * (isnan (of_ring[SYSTEM_TP]) ? 1.5 : of_ring[SYSTEM_TP]);
      v[SYSTEM_DP] = v[SYSTEM_DS] * (isnan (of_ring[SYSTEM_DP]) ? 0.7 : of_ring[SYSTEM_DP]);
    }
}

/* The parts say how far installations of a kind are apart.  Boxes on NVLink differ
 * by their GPUs' generation most: half of that (in ln) where it is the same, half
 * more where it is not. */
static double
spread_of (const NetworkModel *model, gboolean many_nodes, int tier)
{
  if (many_nodes)
    return model->between->spread;
  return model->nvlink ? pow (model->in_node->spread, tier == TIER_GENERATION ? 0.5 : 1.5) : model->in_node->spread;
}

static char *
say_parts (GHashTable *used, int tier)
{
  g_autoptr (GList) names = g_list_sort (g_hash_table_get_keys (used), (GCompareFunc) strcmp);
  g_autoptr (GString) text = g_string_new (tier == TIER_GENERATION ? "same GPU generation: " : tier == TIER_LINK ? "same kind of link: " : "NCCL's constants; of the box: ");

  for (GList *l = names; l != NULL; l = l->next)
    g_string_append_printf (text, "%s%s", l != names ? ", " : "", (const char *) l->data);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* The prior as normal_value () has it. */
static double
usual_value (const NetworkModel *model, const NetworkPriors *priors, SystemParameter p)
{
  const double *c = priors->centre;

  switch (p)
    {
    case SYSTEM_B:
      return c[p] / model->nominal;
    case SYSTEM_CL:
      return c[p] / c[SYSTEM_B];
    case SYSTEM_BV:
    case SYSTEM_TP:
    case SYSTEM_DP:
      return NAN;
    case SYSTEM_BN:
      return model->between->efficiency_several;
    default:
      return c[p];
    }
}

/* Nobody says the NICs: one a GPU, the fastest of its slot's generation (100, 200,
 * 400 Gbit/s are 0.8 of PCIe 3, 4, 5 x16). */
static void
assume_rails (NetworkFit *fit, const RankGroup *group, NetworkPlatform *platform)
{
  static const double of_slot = 0.8;

  if (!(fit->model.gpu->pcie > 0))
    return;
  platform->node_rate = of_slot * fit->model.gpu->pcie * (double) group->per_node;
  fit->model.rails = (guint) group->per_node;
}

NetworkFit *
network_catalogue (Shelf *shelf, const NcclTestsSystem *names, const char *path, const RankGroup *group, char **what, GError **error)
{
  const gboolean many_nodes = group->n_nodes > 1;
  g_autoptr (NetworkFit) fit = g_new0 (NetworkFit, 1);
  g_autoptr (GPtrArray) systems = g_ptr_array_new (), generations = g_ptr_array_new_with_free_func (g_free), none = g_ptr_array_new ();
  g_autoptr (GHashTable) used = g_hash_table_new (g_str_hash, g_str_equal);
  g_auto (NetworkPlatform) platform = { 0 };
  Donors donors = { .model = &fit->model, .systems = systems, .generations = generations, .many_nodes = many_nodes };
  NetworkPriors priors;
  double of_ring[N_SYSTEM], share = NAN;
  int nearest = TIER_GENERATION;

  fit->points = g_array_new (FALSE, FALSE, sizeof (NetworkPoint));
  if (!network_model_init (&fit->model, shelf, names, 0, error) || !load_donors (shelf, path, &donors, error)
      || !network_platform_find (path, &platform, error))
    return NULL;
  donors.launch = platform.launch;
  fit->model.rails = MAX (platform.rails, 1);
  network_priors (&fit->model, none, &priors);
  memcpy (fit->values, priors.centre, sizeof fit->values);
  for (int p = 0; p < N_SYSTEM; p++)
    {
      int tier;

      of_ring[p] = NAN;
      if (!many_nodes && is_between ((SystemParameter) p))
        continue;
      of_ring[p] = median_of (&donors, (SystemParameter) p, usual_value (&fit->model, &priors, (SystemParameter) p), &tier, used);
      if (many_nodes ? p == SYSTEM_BN : p == SYSTEM_T0 || p == SYSTEM_B)
        nearest = MAX (nearest, tier);
    }
  if (isnan (platform.node_rate))
    platform.node_rate = names->nic;
  if (isnan (platform.node_rate) && many_nodes)
    assume_rails (fit, group, &platform);
  fit->model.table = picks_by_table (&donors, names);
  unshare (fit, &platform, of_ring, many_nodes);
  if (many_nodes && !isnan (platform.node_rate) && !plateau_of (shelf, &donors, group->n_nodes, &share, error))
    return NULL;
  if (!isnan (share))
    network_plateau_set (fit, group, platform.node_rate, share);
  fit->spread = spread_of (&fit->model, many_nodes, nearest);
  fit->nodes = fit->ranks = G_MAXUINT64;
  *what = say_parts (used, nearest);
  return g_steal_pointer (&fit);
}
