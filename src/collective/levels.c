/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "collective/levels.h"
#include "collective/schedule.h"

/* What leaves a leaf, a pod, a group of nodes: counted edge by edge as the nodes sit.
 * Every group of nodes like this one does the same at the same time. */

typedef struct
{
  const Paths     *paths;
  const RankGroup *group;
  guint            level;
  const guint32   *map;              /* switch of each node */
  guint64          n, nodes;         /* switches, nodes in all */
  guint64          first;            /* node of the cluster where the group begins */
  guint64          stride;           /* from one of its nodes to the next */
  gboolean         anyway;           /* edges in one leaf climb too: from rail to rail */
  double          *out, *in;         /* of each switch, bytes */
  double          *pair;             /* from each to each, where only the links between the two count; else NULL */
  double           edges, climbed;   /* how many */
  double           edge;             /* bytes of the largest */
} Tally;

static guint64
domain_of (const Tally *t, guint64 member)
{
  const guint64 node = t->first + member * t->stride;

  return t->map[node < t->nodes ? node : node % t->nodes];
}

static void
count_edge (gpointer user, guint64 from, guint64 to, double bytes)
{
  Tally *t = user;
  const guint64 a = domain_of (t, from), b = domain_of (t, to);

  t->edges++;
  t->edge = fmax (t->edge, bytes);
  if (a == b && !t->anyway)
    return;
  t->climbed++;
  t->out[a] += bytes;
  t->in[b] += bytes;
  if (t->pair != NULL)
    t->pair[a * t->n + b] += bytes;
}

/* First nodes of the groups: blocks of stride x nodes, in each `stride` groups. */
static void
each_group (Tally *t, void (*visit) (Tally *t, gconstpointer data), gconstpointer data)
{
  const guint64 stride = MAX (t->group->node_stride, 1), block = stride * t->group->n_nodes;
  const guint64 nodes = placement_nodes (t->paths->placement) / t->paths->box, blocks = MAX (nodes / block, 1);

  for (guint64 b = 0; b < blocks; b++)
    for (guint64 offset = 0; offset < stride; offset++)
      {
        t->first = (b * block + offset) * t->paths->box;
        visit (t, data);
      }
}

static double
mean_of (const double *bytes, guint64 n)
{
  double sum = 0;

  for (guint64 i = 0; i < n; i++)
    sum += bytes[i];
  return sum / (double) n;
}

static double
most_of (const double *bytes, guint64 n)
{
  double most = 0;

  for (guint64 i = 0; i < n; i++)
    most = fmax (most, bytes[i]);
  return most;
}

/* Rail switches side by side that share the bytes. */
static double
parts_of (const Paths *paths, guint level)
{
  return paths->rails && level == 0 ? fmax (paths->between.links / (double) paths->box, 1) : 1;
}

/* Of the busiest link of a way; of minimal routing, as if all of a group's went to that
 * one neighbour. */
static double
busiest_of (const Tally *t, const double *bytes)
{
  return t->pair != NULL ? most_of (t->pair, t->n * t->n) : most_of (bytes, t->n);
}

/* Mean bytes for the books, the busiest switch for the time. */
static void
load_way (Flow *flow, const Tally *t, Id link, const double *bytes, double share)
{
  const double mean = mean_of (bytes, t->n), most = busiest_of (t, bytes);

  if (most > 0)
    flow_load (flow, link, mean * flow->twins / parts_of (flow->paths, t->level), share * mean / most);
}

static void
load_level (Flow *flow, const Tally *t, double share)
{
  const PathLevel *level = &flow->paths->level[t->level];

  load_way (flow, t, level->up, t->out, share);
  load_way (flow, t, level->down, t->in, share);
}

/* Above so many groups all that one sends counts as one link's. */
#define MOST_PAIRED 256u

static Tally
tally_begin (const Flow *flow, guint level)
{
  const Placement *placement = flow->paths->placement;
  const guint64 n = placement_domains (placement, level);

  return (Tally) { .paths = flow->paths, .group = flow->group, .level = level, .n = n, .map = placement_map (placement, level),
                   .nodes = placement_nodes (placement), .stride = MAX (flow->group->node_stride, 1) * flow->paths->box, .out = g_new0 (double, n), .in = g_new0 (double, n),
                   .pair = flow->paths->minimal && n <= MOST_PAIRED ? g_new0 (double, n * n) : NULL };
}

static void
tally_end (Tally *t)
{
  g_free (t->out);
  g_free (t->in);
  g_free (t->pair);
}

typedef struct { NodePattern pattern; const PatternData *data; } Visit;

static void
visit_pattern (Tally *t, gconstpointer data)
{
  const Visit *visit = data;

  visit->pattern (t->group->n_nodes, visit->data, count_edge, t);
}

/* The ring of all nodes, leaf after leaf, leaves each leaf once: no count is needed. */
static gboolean
is_plain_ring (const Flow *flow, NodePattern pattern)
{
  const Paths *paths = flow->paths;

  return pattern == pattern_ring && placement_packed (paths->placement)
         && flow->group->n_nodes * paths->box == placement_nodes (paths->placement);
}

static double
plain_ring (Flow *flow, guint level, double bytes)
{
  const PathLevel *of = &flow->paths->level[level];
  const guint64 domains = placement_domains (flow->paths->placement, level);
  const double parts = parts_of (flow->paths, level);

  if (domains < 2)
    return 0;
  flow_load (flow, of->up, bytes * flow->twins / parts, of->neighbour);
  flow_load (flow, of->down, bytes * flow->twins / parts, of->neighbour);
  return fmin ((double) domains / flow->nodes, 1);
}

/* s a byte of message that the level's busiest link needs. */
static double
level_seconds (const Flow *flow, const Tally *t)
{
  const PathLevel *level = &flow->paths->level[t->level];
  const double most = fmax (busiest_of (t, t->out), busiest_of (t, t->in));

  return most * flow->twins / parts_of (flow->paths, t->level) / (level->capacity * level->neighbour);
}

/* The slowest level is as busy as all rounds take, also while the cards hold it up. */
static void
load_rounds (Flow *flow, const Tally *t, double seconds)
{
  const PathLevel *level = &flow->paths->level[t->level];
  const double mean = mean_of (t->out, t->n) * flow->twins / parts_of (flow->paths, t->level);

  flow_load (flow, level->up, mean, mean / (level->capacity * seconds));
  flow_load (flow, level->down, mean, mean / (level->capacity * seconds));
}

double
flow_levels (Flow *flow, NodePattern pattern, const PatternData *data)
{
  const Visit visit = { pattern, data };
  double climbs = 0;

  for (guint i = 0; i < flow->paths->n_levels && flow->group->n_nodes > 1; i++)
    {
      Tally t;

      if (is_plain_ring (flow, pattern) && !data->other_rail && !(data->seconds > 0))
        {
          const double share = plain_ring (flow, i, data->bytes);

          flow->climbed[i] = share;
          climbs += data->at_once ? share > 0 : share;
          continue;
        }
      t = tally_begin (flow, i);
      t.anyway = i == 0 && data->other_rail;
      each_group (&t, visit_pattern, &visit);
      if (data->seconds > 0 && level_seconds (flow, &t) > t.edge / data->node_rate)
        load_rounds (flow, &t, data->seconds + level_seconds (flow, &t) - t.edge / data->node_rate);
      else
        load_level (flow, &t, flow->paths->level[i].neighbour * (data->share > 0 ? data->share : 1));
      flow->climbed[i] = t.edges > 0 ? t.climbed / t.edges : 0;
      climbs += data->at_once ? t.climbed > 0 : flow->climbed[i];
      tally_end (&t);
    }
  return climbs * flow->paths->level_latency;
}

/* The same for one round of the pattern; what it carries is added to `all`. */
static double
round_seconds (const Flow *flow, Tally *all, const Visit *visit)
{
  const guint64 n = all->n;
  Tally t = tally_begin (flow, all->level);
  double seconds;

  each_group (&t, visit_pattern, visit);
  seconds = level_seconds (flow, &t);
  for (guint64 i = 0; i < n; i++)
    {
      all->out[i] += t.out[i];
      all->in[i] += t.in[i];
    }
  all->edge = t.edge;
  all->climbed = t.climbed;
  for (guint64 i = 0; t.pair != NULL && i < n * n; i++)
    all->pair[i] += t.pair[i];
  tally_end (&t);
  return seconds;
}

double
flow_levels_rounds (Flow *flow, NodePattern pattern, double bytes, guint rounds, double node_rate, double seconds)
{
  const guint n_levels = flow->paths->n_levels;
  Tally tally[PLACEMENT_MAX_LEVELS];
  double of_level[PLACEMENT_MAX_LEVELS] = { 0 }, extra = 0, climbs = 0;
  guint slowest = 0;

  for (guint i = 0; i < n_levels; i++)
    tally[i] = tally_begin (flow, i);
  for (guint r = 0; r < rounds && n_levels > 0; r++)
    {
      const PatternData data = { .bytes = bytes, .round = r };
      const Visit visit = { pattern, &data };
      double longest = 0;

      for (guint i = 0; i < n_levels; i++)
        {
          const double time = round_seconds (flow, &tally[i], &visit);

          of_level[i] += time;
          longest = fmax (longest, time);
          climbs += tally[i].climbed > 0;
        }
      extra += fmax (0, longest - tally[0].edge / node_rate);
    }
  for (guint i = 1; i < n_levels; i++)
    slowest = of_level[i] > of_level[slowest] ? i : slowest;
  for (guint i = 0; i < n_levels; i++)
    {
      if (i == slowest && extra > 0)
        load_rounds (flow, &tally[i], seconds + extra);
      else
        load_level (flow, &tally[i], flow->paths->level[i].neighbour);
      tally_end (&tally[i]);
    }
  return climbs * flow->paths->level_latency;
}

/* Of one group: members below each switch send to all that are not.  Where rails are
 * crossed, also to those that are, but for their own rail. */
typedef struct { double pair, rail; guint64 *members; guint64 domains; } Spread;

static void
visit_all (Tally *t, gconstpointer data)
{
  const Spread *spread = data;
  const double n = (double) t->group->n_nodes;

  for (guint64 d = 0; d < spread->domains; d++)
    spread->members[d] = 0;
  for (guint64 i = 0; i < t->group->n_nodes; i++)
    spread->members[domain_of (t, i)]++;
  for (guint64 d = 0; d < spread->domains; d++)
    {
      const double m = (double) spread->members[d], bytes = spread->pair * m * (n - m + (m - 1) * spread->rail);

      t->out[d] += m > 0 ? bytes : 0;
      t->in[d] += m > 0 ? bytes : 0;
      for (guint64 e = 0; t->pair != NULL && e < spread->domains; e++)
        t->pair[d * spread->domains + e] += d != e ? spread->pair * m * (double) spread->members[e] : 0;
    }
}

double
flow_levels_all (Flow *flow, double bytes, double other_rails)
{
  gsize climbs = 0;

  for (guint i = 0; i < flow->paths->n_levels && flow->group->n_nodes > 1; i++)
    {
      Tally t = tally_begin (flow, i);
      const guint64 domains = placement_domains (flow->paths->placement, i);
      g_autofree guint64 *members = g_new (guint64, domains);
      const Spread spread = { bytes / (flow->nodes - 1), i == 0 ? other_rails : 0, members, domains };

      each_group (&t, visit_all, &spread);
      load_level (flow, &t, t.pair != NULL ? flow->paths->level[i].neighbour : flow->paths->level[i].uniform);
      climbs += most_of (t.out, domains) > 0;
      tally_end (&t);
    }
  return (double) climbs * flow->paths->level_latency;
}

void
flow_levels_each (Flow *flow, double bytes)
{
  for (guint i = 0; i < flow->paths->n_levels; i++)
    if (placement_domains (flow->paths->placement, i) > 1
        && (flow->nodes * (double) flow->paths->box > flow->paths->level[i].below || !placement_packed (flow->paths->placement)))
      {
        const PathLevel *level = &flow->paths->level[i];
        const double parts = parts_of (flow->paths, i);

        flow_load (flow, level->up, bytes * flow->twins / parts, level->uniform);
        flow_load (flow, level->down, bytes * flow->twins / parts, level->uniform);
      }
}

/* Seconds that the longest way up and down the trees takes more. */
double
flow_tree_climb (const Flow *flow)
{
  const Paths *paths = flow->paths;
  const uint32_t n = (uint32_t) flow->group->n_nodes;
  guint64 most = 0;

  if (!(paths->level_latency > 0))
    return 0;
  for (uint32_t node = 0; node < 2 * n; node++)
    {
      guint64 climbs = 0;

      for (uint32_t at = node / 2, up; (up = tree_node (at, n, node % 2).up) != TREE_NOBODY; at = up)
        for (guint i = 0; i < paths->n_levels; i++)
          {
            const Tally t = { .map = placement_map (paths->placement, i), .nodes = placement_nodes (paths->placement),
                              .stride = MAX (flow->group->node_stride, 1) * paths->box };

            climbs += domain_of (&t, at) != domain_of (&t, up);
          }
      most = MAX (most, climbs);
    }
  return 2 * (double) most * paths->level_latency;
}
