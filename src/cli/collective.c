/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/collective.h"

#include <string.h>

#include "base/names.h"
#include "cli/cli.h"
#include "cli/rows.h"
#include "report/text.h"
#include "scenario/values.h"

#define MAX_SIZES 10000u
/* As nccl-tests starts and ends. */
static const char default_sizes[] = "8..1GiB x8";
/* Largest message, bytes: 1 PB. */
static const double largest_size = 1e15;

static const Option options[] = {
  { "machine", 0, OPTION_TEXT, offsetof (Options, machine), "MACHINE", "The nodes ('lockstep list machines')." },
  { "nodes", 0, OPTION_TEXT, offsetof (Options, nodes), "N", "How many; 1 if not given." },
  { "gpus-per-node", 0, OPTION_TEXT, offsetof (Options, gpus_per_node), "G", "All of the machine if not given." },
  { "sizes", 0, OPTION_TEXT, offsetof (Options, sizes), "LIST", "8,1KiB,100MB or 8..1GiB x2; a bare number is bytes." },
  { "algorithm", 0, OPTION_TEXT, offsetof (Options, algorithm), "NAME", "auto, or one of 'lockstep list algorithms'." },
  { "protocol", 0, OPTION_TEXT, offsetof (Options, protocol), "NAME", "auto, ll, ll128 or simple." },
  { "tier", 0, OPTION_TEXT, offsetof (Options, tier), "NAME", "auto, flow, message or max-plus." },
  { "chunks", 0, OPTION_TEXT, offsetof (Options, chunks), "K", "Parts that a message is cut in (message, max-plus, --steps)." },
  { "steps", 0, OPTION_FLAG, offsetof (Options, steps), NULL, "The messages of one size, one a line, instead of the table." },
  { "verbose", 0, OPTION_FLAG, offsetof (Options, verbose), NULL, "Says which tier and why busbw may pass what a link carries." },
  { NULL, 0, 0, 0, NULL, NULL }
};

static gboolean
read_size (const char *text, double *size, GError **error)
{
  char *end;

  *size = g_ascii_strtod (text, &end);
  if ((end == text || *end != '\0') && !quantity_parse (text, UNIT_BYTES, size, error))
    return FALSE;
  if (*size > 0 && *size <= largest_size)
    return TRUE;
  g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "'%s' is no size of a message; give 1 B to 1000 TB", text);
  return FALSE;
}

static gboolean
add_range (const ValueRange *range, GArray *sizes, GError **error)
{
  double low, high, step;
  guint n;

  if (!read_size (range->low, &low, error) || !read_size (range->high, &high, error) ||
      !read_size (range->step, &step, error))
    return FALSE;
  n = value_range_count (low, high, step, range->multiply, MAX_SIZES, error);
  for (guint i = 0; i < n; i++)
    {
      const double size = value_range_at (low, step, range->multiply, i);

      g_array_append_val (sizes, size);
    }
  return n > 0;
}

static GArray *
read_sizes (const char *text, GError **error)
{
  g_auto (GStrv) items = values_split (text, error);
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (double));

  for (gsize i = 0; items != NULL && items[i] != NULL; i++)
    {
      g_auto (ValueRange) range = { 0 };
      GError *wrong = NULL;
      double size;

      if (value_range_split (items[i], &range, &wrong))
        add_range (&range, sizes, &wrong);
      else if (wrong == NULL && read_size (items[i], &size, &wrong))
        g_array_append_val (sizes, size);
      if (wrong == NULL && sizes->len > MAX_SIZES)
        g_set_error (&wrong, KEYS_ERROR, KEYS_ERROR_VALUE, "more than %u sizes", MAX_SIZES);
      if (wrong != NULL)
        {
          g_propagate_error (error, wrong);
          return NULL;
        }
    }
  return items != NULL ? g_steal_pointer (&sizes) : NULL;
}

/* What the options say, as if it were a scenario file of these groups. */
typedef struct
{
  ClusterSpec    cluster;
  NetworkSpec    network;
  CollectiveSpec collective;
  ServerSpec     reducers, servers;
  CalibrationSpec calibration;
} Specs;

static const struct { const char *group; gsize offset; } fills[] = {
  { "cluster", offsetof (Specs, cluster) },
  { "network", offsetof (Specs, network) },
  { "collective", offsetof (Specs, collective) },
  { "reduction-server", offsetof (Specs, reducers) },
  { "parameter-server", offsetof (Specs, servers) },
  { "calibration", offsetof (Specs, calibration) },
};

static void
specs_clear (Specs *specs)
{
  for (gsize i = 0; i < G_N_ELEMENTS (fills); i++)
    keys_clear (scenario_group (fills[i].group)->keys, (char *) specs + fills[i].offset);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Specs, specs_clear)

static gboolean
set_option (KeyFile *file, const char *key, const char *value, GError **error)
{
  g_autofree char *assignment = value != NULL ? g_strconcat (key, "=", value, NULL) : NULL;

  return assignment == NULL || key_file_set (file, assignment, error);
}

static gboolean
read_specs (KeyFile *file, const Options *given, Specs *specs, GError **error)
{
  KeyGroup groups[G_N_ELEMENTS (fills) + 1] = { { NULL } };

  for (gsize i = 0; i < G_N_ELEMENTS (fills); i++)
    groups[i] = *scenario_group (fills[i].group);
  if (!set_option (file, "cluster.machine", given->machine, error) ||
      !set_option (file, "cluster.nodes", given->nodes, error) ||
      !set_option (file, "cluster.gpus-per-node", given->gpus_per_node, error) ||
      !set_option (file, "collective.algorithm", given->algorithm, error) ||
      !set_option (file, "collective.protocol", given->protocol, error))
    return FALSE;
  for (gsize i = 0; given->sets[i] != NULL; i++)
    if (!key_file_set (file, given->sets[i], error))
      return FALSE;
  if (!key_file_check (file, groups, error))
    return FALSE;
  if (key_file_get (file, "cluster", "machine") == NULL && key_file_get (file, "cluster", "gpu") == NULL)
    {
      usage_error (error, "no machine is given; give --machine MACHINE ('lockstep list machines')");
      return FALSE;
    }
  for (gsize i = 0; i < G_N_ELEMENTS (fills); i++)
    if (!key_file_read (file, &groups[i], (char *) specs + fills[i].offset, error))
      return FALSE;
  return TRUE;
}

/* An option stands for a key: the error names the option. */
static void
name_option (GError **error)
{
  static const struct { const char *key, *option; } names[] = {
    { "--set: [cluster] machine: ", "--machine: " },
    { "--set: [cluster] nodes: ", "--nodes: " },
    { "--set: [cluster] gpus-per-node: ", "--gpus-per-node: " },
    { "--set: [collective] algorithm: ", "--algorithm: " },
    { "--set: [collective] protocol: ", "--protocol: " },
  };

  for (gsize i = 0; error != NULL && *error != NULL && i < G_N_ELEMENTS (names); i++)
    if (g_str_has_prefix ((*error)->message, names[i].key))
      {
        char *message = g_strconcat (names[i].option, (*error)->message + strlen (names[i].key), NULL);

        g_free ((*error)->message);
        (*error)->message = message;
      }
}

/* The names of the operation and the algorithm: wrong ones are of the command line. */
static gboolean
check_names (const KeyFile *file, const char *op, const char *algorithm, GError **error)
{
  const CollectiveAlgorithm *found;
  g_autoptr (GError) wrong = NULL;
  CollectiveOp code;

  if (!collective_op_find (op, &code, &wrong))
    usage_error (error, "%s", wrong->message);
  else if (!collective_find (algorithm, &found, &wrong))
    key_file_error (file, "collective", "algorithm", error, "%s", wrong->message);
  return wrong == NULL;
}

/* A step without reduction servers is the one to compare with; a table without them that
 * was asked for by name would show another algorithm. */
static gboolean
check_servers (const char *algorithm, const Specs *specs, GError **error)
{
  if (!g_str_equal (algorithm, "reduction-server") || specs->reducers.count > 0)
    return TRUE;
  usage_error (error, "--algorithm: reduction-server needs servers; give --set reduction-server.count=16");
  return FALSE;
}

/* Behind what there is to remark. */
static void
explain (CollectiveTable *table, const Cluster *cluster)
{
  g_autofree char *remark = table->note, *why = study_collective_explain (table, cluster);

  table->note = remark != NULL && why != NULL ? g_strdup_printf ("%s. %s", remark, why) : g_strdup (remark != NULL ? remark : why);
}

/* Of --tier, --chunks and --steps. */
typedef struct { CollectiveTier tier; guint chunks; gboolean steps; } Tiers;
#define MOST_CHUNKS 1000000u
#define MOST_STEPS 10000u

static gboolean
read_tiers (const Options *given, Tiers *out, GError **error)
{
  g_autoptr (GError) wrong = NULL;
  guint64 chunks = 0;

  *out = (Tiers) { .tier = TIER_AUTO, .steps = given->steps };
  if (given->tier != NULL && !collective_tier_find (given->tier, &out->tier, &wrong))
    usage_error (error, "--tier: %s", wrong->message);
  else if (given->chunks != NULL && !g_ascii_string_to_unsigned (given->chunks, 10, 1, MOST_CHUNKS, &chunks, &wrong))
    usage_error (error, "--chunks: '%s' is no count; give 1 to %u", given->chunks, MOST_CHUNKS);
  else if (chunks > 0 && out->tier < TIER_MESSAGE && !out->steps)
    usage_error (error, "--chunks is for --steps and the tiers message and max-plus; give --tier message");
  else if (out->steps && given->tier != NULL && out->tier != TIER_MESSAGE)
    usage_error (error, "--steps shows the messages of the tier message, not of %s; leave --tier out", given->tier);
  else
    {
      out->chunks = (guint) chunks;
      return TRUE;
    }
  return FALSE;
}

typedef struct { Rows *rows; guint n; } Steps;

static void
add_step (gpointer user, const PlayedMessage *m)
{
  Steps *steps = user;

  if (++steps->n > MOST_STEPS)
    return;
  rows_take (steps->rows, g_strdup_printf ("%u", m->step));
  rows_take (steps->rows, g_strdup_printf ("%u", m->chunk));
  rows_take (steps->rows, g_strdup_printf ("%u", m->from));
  rows_take (steps->rows, g_strdup_printf ("%u", m->to));
  rows_take (steps->rows, text_fixed (m->message->bytes, 0));
  rows_add (steps->rows, m->message->reduces ? "adds" : "copies");
  rows_take (steps->rows, text_fixed ((double) m->ready * 1e-6, 3));
  rows_take (steps->rows, text_fixed ((double) m->flows * 1e-6, 3));
  rows_take (steps->rows, text_fixed ((double) m->end * 1e-6, 3));
}

/* Ranks from 0, servers and switches behind them. */
static gboolean
show_steps (Call *call, const CollectiveTable *table, const Cluster *cluster, guint chunks, GError **error)
{
  static const char *const titles[] = { "step", "chunk", "from", "to", "bytes", "does", "ready_us", "flows_us", "end_us", NULL };
  g_autoptr (Rows) rows = rows_new (titles);
  Steps steps = { rows, 0 };

  if (!study_collective_steps (table, cluster, chunks, MOST_STEPS, add_step, &steps, error))
    return FALSE;
  rows_print (rows, "messages", call);
  if (steps.n > MOST_STEPS)
    call_remark (call, "the first %u of %u messages", MOST_STEPS, steps.n);
  return TRUE;
}

/* In front of what there is to remark. */
static void
say_tier (CollectiveTable *table, CollectiveTier tier)
{
  g_autofree char *remark = table->note;

  table->note = remark != NULL ? g_strdup_printf ("%s. %s", study_collective_tier_reason (tier), remark)
                               : g_strconcat (study_collective_tier_reason (tier), ".", NULL);
}

/* What ranks numbered leaf by leaf would give, where they are not. */
static gboolean
say_order (CollectiveTable *table, const Cluster *cluster, const Specs *specs, const Tiers *tiers, GError **error)
{
  const CollectiveHow how = { specs->collective.algorithm, protocol_names[specs->collective.protocol], tiers->tier, tiers->chunks };
  ClusterSpec by_leaf = specs->cluster;
  g_autoptr (Cluster) best = NULL;
  guint64 made, needed;

  by_leaf.rank_order = RANK_ORDER_BY_LEAF;
  if (!cluster_crossings (cluster, &made, &needed))
    return TRUE;
  best = cluster_new (&by_leaf, &specs->network, &specs->reducers, &specs->servers, error);
  return best != NULL && cluster_use_system (best, &specs->calibration, error)
         && study_collective_order (table, cluster, best, &how, error);
}

static CollectiveTable *
predict (Call *call, const KeyFile *file, const Specs *specs, const GArray *sizes, const Tiers *tiers, GError **error)
{
  const char *op = call->args[0];
  const char *algorithm = specs->collective.algorithm != NULL ? specs->collective.algorithm : "auto";
  g_autoptr (Cluster) cluster = NULL;
  g_autoptr (CollectiveTable) table = NULL;

  if (!check_names (file, op, algorithm, error) || !check_servers (algorithm, specs, error))
    return NULL;
  cluster = cluster_new (&specs->cluster, &specs->network, &specs->reducers, &specs->servers, error);
  if (cluster == NULL || !cluster_use_system (cluster, &specs->calibration, error))
    return NULL;
  if (tiers->tier >= TIER_MESSAGE)
    g_atomic_pointer_set (&call->doing, "each message of each rank is played, of every size (fewer: --sizes)");
  table = study_collective (op, cluster, algorithm, protocol_names[specs->collective.protocol],
                            (const double *) (gpointer) sizes->data, sizes->len, error);
  if (table == NULL
      || (tiers->steps ? !show_steps (call, table, cluster, tiers->chunks, error)
                       : !study_collective_tier (table, cluster, tiers->tier, tiers->chunks, error)
                           || !say_order (table, cluster, specs, tiers, error)))
    return NULL;
  if (call->options.verbose && !tiers->steps)
    {
      explain (table, cluster);
      say_tier (table, tiers->tier);
    }
  return g_steal_pointer (&table);
}

static gboolean
run_collective (Call *call, GError **error)
{
  static const char nothing[] = "[cluster]\n";
  g_autoptr (KeyFile) file = key_file_parse ("lockstep collective", nothing, sizeof nothing - 1, error);
  g_autoptr (GError) wrong = NULL;
  g_autoptr (GArray) sizes = read_sizes (call->options.sizes ? call->options.sizes : default_sizes, &wrong);
  g_autoptr (CollectiveTable) table = NULL;
  g_auto (Specs) specs = { 0 };
  const Look look = call_look (call);
  Tiers tiers;

  if (sizes == NULL)
    usage_error (error, "--sizes: %s", wrong->message);
  if (file == NULL || sizes == NULL || !read_tiers (&call->options, &tiers, error))
    return FALSE;
  if (tiers.steps && sizes->len != 1)
    {
      usage_error (error, "--steps shows the messages of one size; give --sizes 1MB");
      return FALSE;
    }
  if (read_specs (file, &call->options, &specs, error))
    table = predict (call, file, &specs, sizes, &tiers, error);
  if (table == NULL)
    {
      key_file_locate_error (file, error);
      name_option (error);
      return FALSE;
    }
  if (tiers.steps)
    return TRUE;
  if (table->note != NULL && call->options.format != FORMAT_TABLE)   /* the table says it */
    call_remark (call, "%s", table->note);
  report_collective (call->out, (Format) call->options.format, table, &look);
  return TRUE;
}

const Command command_collective = {
  .name = "collective",
  .summary = "a predicted nccl-tests table",
  .arguments = "OP --machine MACHINE",
  .min_args = 1, .max_args = 1,
  .options = options,
  .sets = TRUE, .formats = TRUE, .writes = TRUE,
  .details =
    "OP is all-reduce, reduce-scatter, all-gather, broadcast, all-to-all or send-recv.  Sizes, algbw\n"
    "and busbw mean what nccl-tests means; wire is what passes a node's NICs (one node: a GPU's link)\n"
    "each way.  low and high: nine of ten measured times lie between them.  --set takes the keys of\n"
    "the groups cluster, network, collective, reduction-server, parameter-server and calibration.\n"
    "--tier: flow is one activity (auto takes it), message plays every message on links of its own,\n"
    "max-plus is the recurrence of rings and pipelines that share nothing.  --steps shows the messages.\n"
    "\n"
    "Example:\n"
    "  lockstep collective all-reduce --machine a2-highgpu-8g --nodes 4 --sizes 8,1KiB,1MiB,1GiB\n",
  .run = run_collective,
};
