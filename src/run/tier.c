/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/tier.h"
#include "base/names.h"
#include "run/execute.h"
#include "run/steady.h"
#include "strategy/price.h"
#include <math.h>

/* What auto plays without asking: tenths of a second. */
static const double cheap_messages = 200000;
static const guint64 cheap_ranks = 1024;
/* Of the step, for ranks alike, up to which auto takes one tier for the other. */
static const double agreement = 1e-3;

const char *const step_tier_names[] = { "auto", "flow", "message", NULL };

gboolean
step_tier_find (const char *name, StepTier *out, GError **error)
{
  g_autofree char *unknown = NULL;

  for (guint i = 0; step_tier_names[i] != NULL; i++)
    if (g_str_equal (step_tier_names[i], name))
      {
        *out = (StepTier) i;
        return TRUE;
      }
  unknown = names_unknown ("tier", name, step_tier_names);
  g_set_error_literal (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNKNOWN, unknown);
  return FALSE;
}

static gboolean
build (const Point *point, const StepInput *input, StepGraph **graph, GError **error)
{
  graph_free (*graph);
  *graph = graph_new ();
  return strategy_build (point->strategy, input, *graph, error);
}

/* Ranks after which the cluster begins anew: those of a node (or a box of them), of a leaf, a pod. */
static guint
periods (const Point *point, guint64 period[3])
{
  const NetworkSpec *network = &point->scenario->network;
  const guint64 leaf = cluster_gpus_per_node (point->cluster) * MAX (network->nodes_per_leaf, 1);
  RankGroup all = price_all (point->cluster);
  guint n = 0;

  cluster_fold_group (point->cluster, "nccl", &all);
  const guint64 node = all.per_node;
  period[n++] = node;
  if (leaf > node && network->topology != TOPOLOGY_SWITCH)
    period[n++] = leaf;
  if (leaf > node && network->leaves_per_pod > 1)
    period[n++] = leaf * network->leaves_per_pod;
  while (n > 0 && period[n - 1] >= point_gpus (point))
    n--;
  return n;
}

/* Else as NULL: no error, but none may stand for others. */
static gboolean
try_messages (const Point *point, const StepInput *input, const MessageCards *cards, StepGraph **graph, Messages **messages, GError **error)
{
  g_autoptr (GError) folded = NULL;

  if (!build (point, input, graph, error))
    return FALSE;
  if (input->traffic != NULL)
    {
      g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "[traffic] %s: what others move shares the links as flows, not message by message; "
                   "give --tier flow, or take the group out", traffic_key (input->traffic));
      return FALSE;
    }
  *messages = messages_new (*graph, point->cluster, cards, input->unfold ? 0 : input->period, &folded);
  if (*messages != NULL || (!input->unfold && g_error_matches (folded, MESSAGES_ERROR, MESSAGES_FOLDED)))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&folded));
  return FALSE;
}

static gboolean
build_messages (const Point *point, const StepInput *input, const MessageCards *cards, StepGraph **graph, Messages **messages, GError **error)
{
  const NoiseSpec *uneven = input->uneven;
  const gboolean slow = uneven != NULL && uneven->slow_factor > 1 && uneven->slow_ranks > 0;
  StepInput other = *input;
  guint64 period[3];
  const guint n = slow || input->unfold ? 0 : periods (point, period);

  *messages = NULL;
  if (!try_messages (point, input, cards, graph, messages, error))
    return FALSE;
  for (guint i = 0; i < n && *messages == NULL; i++)
    {
      other.period = period[i];
      if (!try_messages (point, &other, cards, graph, messages, error))
        return FALSE;
    }
  if (*messages != NULL)
    return TRUE;
  if (!messages_may_unfold (*graph, point->cluster, error))
    return FALSE;
  other.unfold = TRUE;
  return try_messages (point, &other, cards, graph, messages, error);
}

gboolean
tier_build (const Point *point, const StepInput *input, StepGraph **graph, Messages **messages, GError **error)
{
  const NoiseSpec *noise = &point->scenario->noise;
  const MessageCards cards = { noise->slow_nodes, noise->slow_nodes > 0 ? noise->slow_nic : 1 };

  if (point->tier == TIER_STEP_MESSAGE)
    return build_messages (point, input, &cards, graph, messages, error);
  *messages = NULL;
  return build (point, input, graph, error);
}

/* Where the wire is but latency and bandwidth, flow and messages take as long for ranks
 * that come together; the measured floors of other transports are the flow's alone. */
static gboolean
textbook (const Point *point)
{
  const NetworkSpec *spec = &point->scenario->network;
  const MachineInfo *machine = cluster_machine (point->cluster);
  const char *between = spec->transport != NULL ? spec->transport : machine->transport;

  return g_strcmp0 (between, "plain") == 0;
}

static gboolean
some_slow (const Point *point)
{
  const NoiseSpec *noise = point->input.uneven;
  const guint64 nodes = cluster_nodes (point->cluster);

  return noise != NULL && !noise_drawn (noise)
         && ((noise->slow_factor > 1 && noise->slow_ranks > 0 && noise->slow_ranks < point_gpus (point))
             || (noise->slow_nic < 1 && noise->slow_nodes > 0 && noise->slow_nodes < nodes));
}


/* The step if no rank and no card were slower than others, s; NAN: none. */
static double
alike_seconds (const Point *point, gboolean by_messages)
{
  static const MessageCards cards = { 0, 1 };
  g_autoptr (StepGraph) graph = NULL;
  g_autoptr (Messages) messages = NULL;
  g_autoptr (Execution) x = NULL;
  StepInput alike = point->input;
  Window window;

  alike.uneven = NULL;
  if (!(by_messages ? build_messages (point, &alike, &cards, &graph, &messages, NULL) : build (point, &alike, &graph, NULL)))
    return NAN;
  x = execution_new (graph, cluster_network (point->cluster), FALSE);
  if (messages != NULL)
    execution_messages (x, messages);
  return steady_run (x, &window, NULL) ? steady_seconds (&window) : NAN;
}

/* Else what a slow rank costs would be hidden by what the tiers differ in. */
static gboolean
agree (const Point *point)
{
  const double flow = alike_seconds (point, FALSE);

  return fabs (alike_seconds (point, TRUE) - flow) <= agreement * flow;
}

/* Why auto does not play the messages of unequal ranks; NULL: it does. */
static const char *
obstacle (Point *point)
{
  g_autoptr (StepGraph) graph = NULL;
  g_autoptr (Messages) messages = NULL;

  if (!textbook (point))
    return "messages lack the measured floors of this transport";
  if (point_gpus (point) > cheap_ranks)
    return "the messages of so many ranks are played only when asked for";
  point->tier = TIER_STEP_MESSAGE;
  if (!tier_build (point, &point->input, &graph, &messages, NULL))
    return "its messages are not known";
  if (messages_count (messages) + graph->tasks->len > cheap_messages)
    return "so many messages are played only when asked for";
  return agree (point) ? NULL : "by messages it takes another time for ranks alike too";
}

void
tier_choose (Point *point, StepTier asked)
{
  const gboolean may = asked == TIER_STEP_AUTO && point->input.traffic == NULL && some_slow (point);

  point->obstacle = may ? obstacle (point) : NULL;
  point->tier = asked == TIER_STEP_MESSAGE || (may && point->obstacle == NULL) ? TIER_STEP_MESSAGE : TIER_STEP_FLOW;
}

static const char *
why_flow (const Point *point, const StepGraph *graph)
{
  if (graph->calls->len == 0)
    return "nothing travels between GPUs";
  if (graph->traffic != NULL)
    return "what others move shares the links with it as flows";
  if (graph->classes->len == 1 && !some_slow (point))
    return textbook (point) ? "ranks are alike and enter each collective together, so one activity for all its messages is exact"
                            : "ranks are alike and enter each collective together, so one activity stands for all its messages, with the "
                              "measured floors of this transport that messages lack";
  if (some_slow (point))
    return "ranks are unequal and a collective starts with the last of them, an upper bound";
  return "a collective starts with the last of its ranks: exact where they come together, else an upper bound";
}

char *
tier_reason (const Point *point, StepTier asked, const StepGraph *graph, const Messages *messages)
{
  const char *how = asked == TIER_STEP_AUTO ? "chosen" : "as asked";
  g_autofree char *whose = NULL;

  if (messages == NULL)
    return g_strdup_printf ("%s: %s%s%s", how, why_flow (point, graph), point->obstacle != NULL ? "; " : "",
                            point->obstacle != NULL ? point->obstacle : "");
  if (messages_groups (messages) == 0)
    return g_strdup_printf ("%s: nothing travels between GPUs", how);
  if (messages_stand (messages) == 1)
    whose = g_strdup ("one rank's for all, which are alike");
  else if (messages_stand (messages) < point_gpus (point))
    whose = g_strdup_printf ("those of %u ranks for all, which are alike in turn", messages_stand (messages));
  return g_strdup_printf ("%s: %sat most %.6g messages a step, %s", how, asked == TIER_STEP_AUTO ? "ranks are unequal; " : "", messages_count (messages),
                          whose != NULL ? whose : "every rank's own");
}
