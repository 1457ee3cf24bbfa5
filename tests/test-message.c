/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cluster/cluster.h"
#include "collective/max-plus.h"
#include <math.h>
#include <string.h>

/* The schedules, and the two tiers that play them. */

typedef struct
{
  const char  *algorithm;
  CollectiveOp op;             /* 0: all-reduce */
  guint64      nodes, gpus, servers, leaf;
  double       size;
  guint        chunks;
  double       over;           /* oversubscription of the leaves; 0: none */
} Setup;

typedef struct { Cluster *cluster; Paths paths; RankGroup group; Schedule schedule; CollectiveCall call; } Made;

/* 25 GB/s NICs, 5 us; in a node 25 GB/s and 5 us too where there are several GPUs. */
static Made
make (const Setup *s)
{
  const char *machine = s->gpus > 1 ? "generic-nvswitch" : "generic-1gpu";
  const ClusterSpec cluster = { .machine = (char *) machine, .nodes = s->nodes, .gpus_per_node = s->gpus };
  const NetworkSpec network = { .transport = (char *) "plain", .nic_bandwidth = 25e9, .latency = 5e-6, .efficiency = NAN,
                                .node_bandwidth = s->gpus > 1 ? 25e9 : NAN, .oversubscription = MAX (s->over, 1),
                                .topology = s->leaf > 0 ? TOPOLOGY_FAT_TREE : TOPOLOGY_SWITCH, .nodes_per_leaf = MAX (s->leaf, 1),
                                .ecmp_share = 1, .switch_reduction = g_str_equal (s->algorithm, "switch-reduction") };
  const ServerSpec servers = { .machine = (char *) "n1-highcpu-16", .count = s->servers, .efficiency = NAN, .latency = 0, .sum_rate = 1e15 };
  const gboolean parameter = g_str_equal (s->algorithm, "parameter-server");
  Made m = { .call = { .op = s->op != 0 ? s->op : OP_ALL_REDUCE, .size = s->size, .protocol = PROTOCOL_SIMPLE } };
  GError *error = NULL;

  m.cluster = cluster_new (&cluster, &network, parameter ? NULL : &servers, parameter ? &servers : NULL, &error);
  g_assert_no_error (error);
  g_assert_true (collective_find (s->algorithm, &m.call.algorithm, &error));
  m.group = (RankGroup) { .n_ranks = s->nodes * s->gpus, .n_nodes = s->nodes, .per_node = s->gpus, .twins_per_node = 1 };
  g_assert_true (cluster_paths (m.cluster, collective_paths (m.call.algorithm), &m.group, &m.paths, &error));
  schedule_init (&m.schedule, &m.call, &m.group, &m.paths, s->chunks, &error);
  g_assert_no_error (error);
  return m;
}

static Fabric *
fabric_of (const Made *m, gboolean folded)
{
  return fabric_new (&m->schedule, &m->paths, cluster_network (m->cluster), PROTOCOL_SIMPLE, folded);
}

static Tick
play_once (const Made *m, gboolean folded, guint64 *shared)
{
  g_autoptr (Fabric) fabric = fabric_of (m, folded);
  g_autoptr (Play) play = play_new (fabric, FALSE);
  const PlayJob job = { .schedule = &m->schedule };
  GError *error = NULL;

  play_add (play, &job);
  play_run (play, &error);
  g_assert_no_error (error);
  if (shared != NULL)
    *shared = play_shared (play);
  return play_end (play, 0);
}

/* 2(n-1)(5 us + 100 MB/(n 25 GB/s)); S/n (n-1)/B + 5 us. */
typedef struct { Setup setup; double ms; } Case;
static const Case cases[] = {
  { { "ring", .nodes = 8, .gpus = 1, .size = 1e8 }, 7.07 },
  { { "ring", .nodes = 64, .gpus = 1, .size = 1e8 }, 8.505 },
  { { "ring", .nodes = 256, .gpus = 1, .size = 1e8 }, 10.51875 },
  { { "ring", .nodes = 1024, .gpus = 1, .size = 1e8 }, 18.2221875 },
  { { "point-to-point", .op = OP_ALL_TO_ALL, .nodes = 64, .gpus = 1, .size = 1e8 }, 3.9425 },
  { { "point-to-point", .op = OP_ALL_TO_ALL, .nodes = 128, .gpus = 1, .size = 1e8 }, 3.97375 },
  { { "point-to-point", .op = OP_ALL_TO_ALL, .nodes = 256, .gpus = 1, .size = 1e8 }, 3.989375 },
  /* 2 log2 8 messages of 1/2, 1/4, 1/8, ...: 6 x 5 us + 2 x 7/8 S/B */
  { { "halving-doubling", .nodes = 8, .gpus = 1, .size = 1e8 }, 7.03 },
  /* each server gets S/R of n nodes: n S/(R B), R = n: 4 ms, and back while it comes in, k chunks: 1/k more; 2 x 5 us */
  { { "switch-reduction", .nodes = 4, .gpus = 1, .size = 1e8, .chunks = 100 }, 4.05 },
  /* seven pairs at once: S/B + 5 us */
  { { "point-to-point", .op = OP_SEND_RECV, .nodes = 7, .gpus = 1, .size = 1e8 }, 4.005 },
};

static void
test_closed (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const Made m = make (&cases[i].setup);
      const double ms = (double) play_once (&m, FALSE, NULL) * 1e-9;

      if (fabs (ms / cases[i].ms - 1) > 1e-6)
        g_error ("%s on %" G_GUINT64_FORMAT ": %.9g ms, not %.9g", cases[i].setup.algorithm, cases[i].setup.nodes, ms, cases[i].ms);
      cluster_free (m.cluster);
    }
}

static void
test_folded (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const Made m = make (&cases[i].setup);

      if (fabric_may_fold (&m.schedule, &m.paths))
        g_assert_cmpuint (play_once (&m, TRUE, NULL), ==, play_once (&m, FALSE, NULL));
      cluster_free (m.cluster);
    }
}

/* Every message once, in some order that its waits allow; ranks' blocks as sets of
 * whose they are.  A sum that counts a rank twice, or a copy of less than is there,
 * is caught; so is a rank that waits for ever. */
typedef struct { const Schedule *s; gsize words; guint64 *has; guint32 *came; guint32 *step, *chunk; GRand *random; } Sets;

static guint64 *
set_of (const Sets *x, guint32 actor, guint32 block)
{
  return x->has + ((gsize) actor * x->s->blocks + block) * x->words;
}

static void
start_sets (Sets *x)
{
  const Schedule *s = x->s;

  for (guint32 r = 0; r < s->ranks; r++)
    for (guint32 b = 0; b < s->blocks; b++)
      {
        const guint32 of = s->op == OP_BROADCAST ? 0 : (guint32) ((guint64) b * s->ranks / s->blocks);   /* whose block it is */
        const gboolean own = s->op == OP_ALL_REDUCE || s->op == OP_REDUCE_SCATTER || of == r;

        if (own)
          set_of (x, r, b)[r / 64] |= (guint64) 1 << r % 64;
      }
}

static void
carry (Sets *x, guint32 actor, const Message *m)
{
  for (guint32 i = 0; i < m->n_blocks; i++)
    {
      const guint32 b = (guint32) ((m->block + (guint64) i * m->stride) % x->s->blocks);
      const guint64 *from = set_of (x, actor, b);
      guint64 *to = set_of (x, m->peer, b), any = 0;

      for (gsize w = 0; w < x->words; w++)
        {
          if (m->reduces && (to[w] & from[w]) != 0)
            g_error ("rank %u adds to block %u of %u what is in it already", actor, b, m->peer);
          to[w] = m->reduces ? to[w] | from[w] : from[w];
          any |= from[w];
        }
      if (any == 0)
        g_error ("rank %u sends block %u to %u and has none", actor, b, m->peer);
    }
}

static gboolean
step_on (Sets *x, guint32 track)
{
  const Schedule *s = x->s;
  const guint32 actor = track / s->tracks;
  Message m;

  for (; x->step[track] < s->steps; x->step[track]++, x->chunk[track] = 0)
    for (; x->chunk[track] < s->chunks; x->chunk[track]++)
      {
        if (!schedule_message (s, actor, track % s->tracks, x->step[track], x->chunk[track], &m))
          continue;
        g_assert_cmpuint (m.peer, <, s->actors);
        g_assert_cmpuint (m.lane, <, s->lanes);
        g_assert_cmpfloat (m.bytes, >, 0);
        for (guint i = 0; i < MESSAGE_WAITS; i++)
          if (x->came[(gsize) actor * s->lanes + m.after[i].lane] < m.after[i].count)
            return FALSE;
        carry (x, actor, &m);
        x->came[(gsize) m.peer * s->lanes + m.lane]++;
        x->chunk[track]++;
        return TRUE;
      }
  return FALSE;
}

static void
check_sets (const Sets *x)
{
  const Schedule *s = x->s;
  guint64 whole = 0;

  for (guint32 r = 0; r < s->ranks; r++)
    for (guint32 b = 0; b < s->blocks; b++)
      {
        guint n = 0;

        for (gsize w = 0; w < x->words; w++)
          n += (guint) __builtin_popcountll (set_of (x, r, b)[w]);
        if (s->op == OP_ALL_REDUCE && n != s->ranks)
          g_error ("rank %u has %u of %u parts of block %u", r, n, s->ranks, b);
        if ((s->op == OP_ALL_GATHER || s->op == OP_BROADCAST) && n != 1)
          g_error ("rank %u has no block %u", r, b);
        if (s->op == OP_ALL_TO_ALL && b / s->chunks % s->ranks == r && n != 1)
          g_error ("rank %u has no block %u", r, b);
        if (s->op == OP_SEND_RECV && b / s->chunks == (r + s->ranks - 1) % s->ranks && n != 1)
          g_error ("rank %u has not what was sent", r);
        whole += n == s->ranks;
      }
  if (s->op == OP_REDUCE_SCATTER)
    g_assert_cmpuint (whole, ==, s->blocks);
}

static void
check_schedule (const Schedule *s, guint32 seed)
{
  const guint32 tracks = s->actors * s->tracks;
  Sets x = { .s = s, .words = (s->ranks + 63) / 64, .random = g_rand_new_with_seed (seed) };
  gboolean moved;

  x.has = g_new0 (guint64, (gsize) s->actors * s->blocks * x.words);
  x.came = g_new0 (guint32, (gsize) s->actors * s->lanes);
  x.step = g_new0 (guint32, tracks);
  x.chunk = g_new0 (guint32, tracks);
  start_sets (&x);
  do
    {
      const guint32 first = (guint32) g_rand_int_range (x.random, 0, (gint32) tracks);

      moved = FALSE;
      for (guint32 i = 0; i < tracks; i++)
        while (step_on (&x, (first + i) % tracks))
          {
            moved = TRUE;
            if (g_rand_int_range (x.random, 0, 3) == 0)
              break;
          }
    }
  while (moved);
  for (guint32 i = 0; i < tracks; i++)
    g_assert_cmpuint (x.step[i], ==, s->steps);
  check_sets (&x);
  g_free (x.has);
  g_free (x.came);
  g_free (x.step);
  g_free (x.chunk);
  g_rand_free (x.random);
}

/* Bytes of a rank and of a node's NICs against the loads of view 1. */
static double
flow_load (const CollectiveFlow *flow, const Network *network, const char *name)
{
  double bytes = 0;

  for (guint i = 0; i < flow->n_loads; i++)
    if (g_str_equal (network_link (network, flow->load[i].link)->name, name))
      bytes += flow->load[i].bytes;
  return bytes;
}

static void
check_bytes (const Made *m, const char *what)
{
  g_autoptr (Fabric) fabric = fabric_of (m, FALSE);
  g_autoptr (Play) play = play_new (fabric, FALSE);
  const PlayJob job = { .schedule = &m->schedule };
  const Schedule *s = &m->schedule;
  double out = 0, in = 0, wire, link;
  CollectiveFlow flow;
  GError *error = NULL;

  play_add (play, &job);
  play_run (play, &error);
  g_assert_no_error (error);
  g_assert_true (collective_flow (&m->call, &m->group, &m->paths, cluster_network (m->cluster), &flow, &error));
  for (guint32 node = 0; node < s->nodes; node++)
    {
      out += fabric_nic_out (fabric, node) != 0 ? play_bytes (play, fabric_nic_out (fabric, node)) : 0;
      in += fabric_nic_in (fabric, node) != 0 ? play_bytes (play, fabric_nic_in (fabric, node)) : 0;
    }
  wire = flow.nic_bytes * s->size;
  out /= s->nodes;
  in /= s->nodes;
  /* a chain's ends send or get nothing */
  if (s->op == OP_BROADCAST)
    wire *= (s->nodes - 1.) / s->nodes;
  if (fabs (out - wire) > 1e-9 * s->size || fabs (in - wire) > 1e-9 * s->size)
    g_error ("%s: a node sends %.9g and gets %.9g bytes, not %.9g", what, out, in, wire);
  link = flow_load (&flow, cluster_network (m->cluster), "nvlink") * s->size;
  if (s->nodes == 1 && link > 0 && s->op != OP_BROADCAST)
    for (guint32 r = 0; r < s->ranks; r++)
      if (m->call.algorithm->steps == &ring_steps || s->op == OP_ALL_TO_ALL)
        g_assert_cmpfloat_with_epsilon (play_sent (play, 0, r), link, 1e-9 * s->size);
}

/* Algorithms x operations x ranks, odd and prime ones too, x chunks. */
static void
test_grid (void)
{
  static const char *const names[] = { "ring", "tree", "hierarchical", "halving-doubling", "pat", "point-to-point",
                                       "reduction-server", "parameter-server", "switch-reduction" };
  static const struct { guint64 nodes, gpus; } shapes[] = {
    { 2, 1 }, { 3, 1 }, { 5, 1 }, { 8, 1 }, { 13, 1 }, { 21, 1 }, { 2, 2 }, { 3, 3 }, { 4, 8 }, { 5, 6 }, { 7, 5 }, { 1, 7 }, { 1, 8 },
  };
  static const guint chunks[] = { 1, 3 };
  static const double sizes[] = { 2.385e7, 1711 };

  for (gsize a = 0; a < G_N_ELEMENTS (names); a++)
    for (CollectiveOp op = OP_ALL_REDUCE; op <= OP_SEND_RECV; op = (CollectiveOp) (2 * op))
      for (gsize i = 0; i < G_N_ELEMENTS (shapes); i++)
        for (gsize k = 0; k < 2 * G_N_ELEMENTS (chunks); k++)
          {
            const Setup setup = { names[a], op, shapes[i].nodes, shapes[i].gpus, .servers = 3, .size = sizes[k % 2], .chunks = chunks[k / 2] };
            const CollectiveAlgorithm *algorithm;
            g_autofree char *what = g_strdup_printf ("%s %s %" G_GUINT64_FORMAT "x%" G_GUINT64_FORMAT " chunks %u", names[a],
                                                     collective_op_name (op), setup.nodes, setup.gpus, setup.chunks);
            Made m;

            g_assert_true (collective_find (names[a], &algorithm, NULL));
            if ((algorithm->ops & op) == 0 || (algorithm->steps == &pat_steps && setup.gpus > 1))
              continue;
            g_test_message ("%s", what);
            m = make (&setup);
            check_schedule (&m.schedule, (guint32) (i + 17 * k));
            /* one level only: view 1 is another's */
            if (setup.nodes > 1 && (setup.gpus > 1 || algorithm->steps != &hierarchical_steps))
              check_bytes (&m, what);
            if (setup.nodes == 1 && algorithm->steps == &ring_steps)
              check_bytes (&m, what);
            cluster_free (m.cluster);
          }
}

/* Starts up to 17 us apart, up to 1 us more latency a rank. */
static void
test_unequal (void)
{
  static const guint64 ranks[] = { 2, 3, 8, 64, 256, 1023, 1024 };

  for (gsize i = 0; i < G_N_ELEMENTS (ranks); i++)
    {
      const guint64 n = ranks[i];
      const Made m = make (&(Setup) { "ring", .nodes = n, .gpus = 1, .size = 1e8 });
      g_autoptr (Fabric) fabric = fabric_of (&m, FALSE);
      g_autoptr (Play) play = play_new (fabric, FALSE);
      g_autoptr (GRand) random = g_rand_new_with_seed (7);
      g_autofree Tick *start = g_new (Tick, n), *extra = g_new (Tick, n);
      const PlayJob job = { .schedule = &m.schedule, .start = start, .extra = extra };
      GError *error = NULL;
      Tick end;

      for (guint64 r = 0; r < n; r++)
        {
          start[r] = (Tick) g_rand_double_range (random, 0, 17e6);
          extra[r] = (Tick) g_rand_double_range (random, 0, 1e6);
        }
      g_assert_true (max_plus_run (fabric, FALSE, &job, &end, &error));
      play_add (play, &job);
      g_assert_true (play_run (play, &error));
      g_assert_cmpuint (end, ==, play_end (play, 0));
      cluster_free (m.cluster);
    }
}

/* All tracks apart: trees, chains, exchanges, with unequal starts and latencies. */
static void
test_unequal_apart (void)
{
  static const Setup setups[] = {
    { "ring", OP_ALL_GATHER, 7, 1, .size = 2.385e7, .chunks = 3 }, { "ring", OP_BROADCAST, 13, 1, .size = 2.385e7, .chunks = 11 },
    { "ring", OP_ALL_REDUCE, 3, 5, .size = 2.385e7, .chunks = 2 }, { "tree", OP_ALL_REDUCE, 13, 1, .size = 2.385e7, .chunks = 9 },
    { "tree", OP_ALL_REDUCE, 6, 4, .size = 2.385e7, .chunks = 5 }, { "halving-doubling", OP_ALL_REDUCE, 6, 5, .size = 2.385e7 },
    { "hierarchical", OP_ALL_REDUCE, 5, 3, .size = 2.385e7, .chunks = 2 }, { "pat", OP_ALL_GATHER, 13, 1, .size = 2.385e7 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (setups); i++)
    {
      const Made m = make (&setups[i]);
      g_autoptr (Fabric) fabric = fabric_of (&m, FALSE);
      g_autoptr (Play) play = play_new (fabric, TRUE);
      Tick start[64], extra[64], end;
      const PlayJob job = { .schedule = &m.schedule, .start = start, .extra = extra };
      GError *error = NULL;

      for (guint r = 0; r < 64; r++)
        {
          start[r] = (Tick) (r * 7919 % 64) * 265625;
          extra[r] = (Tick) (r * 104729 % 64) * 15625;
        }
      g_assert_true (max_plus_run (fabric, TRUE, &job, &end, &error));
      play_add (play, &job);
      g_assert_true (play_run (play, &error));
      g_assert_cmpuint (end, ==, play_end (play, 0));
      cluster_free (m.cluster);
    }
}

/* A chain of d hops and k chunks: d latencies and (d + k - 1) slots of S/(k B), within a tick a slot. */
static void
test_pipeline (void)
{
  static const struct { guint64 ranks; guint chunks; } rows[] = { { 2, 1 }, { 5, 7 }, { 8, 64 }, { 13, 3 } };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const Made m = make (&(Setup) { "ring", OP_BROADCAST, rows[i].ranks, 1, .size = 2.385e7, .chunks = rows[i].chunks });
      const double depth = (double) rows[i].ranks - 1, k = rows[i].chunks, slots = depth + k - 1;
      const double expected = (depth * 5e-6 + slots * 2.385e7 / k / 25e9) * PLAY_TICKS_PER_S;

      g_assert_cmpfloat_with_epsilon ((double) play_once (&m, FALSE, NULL), expected, slots + 1);
      cluster_free (m.cluster);
    }
}

/* Two rings over one NIC a node take twice as long each on the wire; a ring beside
 * another on other nodes is not touched, and traffic slows what it meets. */
static void
test_shared (void)
{
  const Made all = make (&(Setup) { "ring", .nodes = 8, .gpus = 1, .size = 1e8 });
  const Made half = make (&(Setup) { "ring", .nodes = 4, .gpus = 1, .size = 1e8 });
  static const uint32_t even[] = { 0, 2, 4, 6 }, odd[] = { 1, 3, 5, 7 };
  const double alone = 6 * (5e-6 + 1e9 / 1e9 * 1e8 / 4 / 25e9);
  g_autoptr (Fabric) fabric = fabric_of (&all, FALSE);
  g_autoptr (Play) same = play_new (fabric, FALSE), other = play_new (fabric, FALSE), busy = play_new (fabric, FALSE);
  const PlayJob a = { .schedule = &half.schedule, .place = even }, b = { .schedule = &half.schedule, .place = odd };
  GError *error = NULL;

  play_add (same, &a);
  play_add (same, &a);
  g_assert_true (play_run (same, &error));
  g_assert_cmpfloat_with_epsilon ((double) play_end (same, 0) * 1e-12, 6 * (5e-6 + 2 * 1e8 / 4 / 25e9), 1e-11);
  g_assert_cmpuint (play_end (same, 0), ==, play_end (same, 1));
  play_add (other, &a);
  play_add (other, &b);
  g_assert_true (play_run (other, &error));
  g_assert_cmpfloat_with_epsilon ((double) play_end (other, 0) * 1e-12, alone, 1e-11);
  g_assert_cmpuint (play_shared (other), ==, 0);
  /* 25 MB to node 2 from the start: the first message there has half of the line until both end, 5 us late */
  play_add (busy, &b);
  play_add (busy, &a);
  play_traffic (busy, 1, 2, 25e6, play_ticks (5e-6));
  g_assert_true (play_run (busy, &error));
  g_assert_cmpfloat ((double) play_end (busy, 1) * 1e-12, >, alone + 0.9e-3);
  g_assert_cmpfloat ((double) play_end (busy, 0) * 1e-12, >, alone + 0.9e-3);
  cluster_free (all.cluster);
  cluster_free (half.cluster);
}

/* Leaves of two nodes, oversubscribed 2 to 1: of an all-to-all on 4 nodes two of three
 * messages cross; the leaf's 25 GB/s carry 2 x 2 x S/4. */
static void
test_leaves (void)
{
  const Made m = make (&(Setup) { "point-to-point", OP_ALL_TO_ALL, 4, 1, .leaf = 2, .size = 1e8, .over = 2 });

  g_assert_cmpfloat_with_epsilon ((double) play_once (&m, FALSE, NULL) * 1e-12, 5e-6 + 4 * 1e8 / 4 / 25e9, 1e-11);
  cluster_free (m.cluster);
}

/* As activities on the network or not, a message takes the same ticks. */
static void
count_message (gpointer user, const PlayedMessage *message)
{
  g_assert_cmpuint (message->end, >, message->ready);
  g_assert_cmpuint (message->flows, >=, message->ready);
  ++*(guint *) user;
}

static void
test_watched (void)
{
  const Made m = make (&(Setup) { "ring", .nodes = 7, .gpus = 1, .size = 2.385e7, .chunks = 3 });
  g_autoptr (Fabric) fabric = fabric_of (&m, FALSE);
  g_autoptr (Play) play = play_new (fabric, FALSE);
  const PlayJob job = { .schedule = &m.schedule };
  GError *error = NULL;
  guint64 shared;
  guint seen = 0;

  play_watch (play, count_message, &seen);
  play_add (play, &job);
  g_assert_true (play_run (play, &error));
  g_assert_cmpuint (seen, ==, 7 * 12 * 3);
  g_assert_cmpuint (play_end (play, 0), ==, play_once (&m, FALSE, &shared));
  g_assert_cmpuint (shared, ==, 0);
  cluster_free (m.cluster);
}

/* 4,096 ranks by max-plus: 2 x 4095 x (5 us + 100 MB/(4096 x 25 GB/s)). */
static void
test_large (void)
{
  const Made m = make (&(Setup) { "ring", .nodes = 4096, .gpus = 1, .size = 1e8 });
  g_autoptr (Fabric) fabric = fabric_of (&m, FALSE);
  const PlayJob job = { .schedule = &m.schedule };
  GError *error = NULL;
  Tick end;

  g_assert_true (max_plus_run (fabric, FALSE, &job, &end, &error));
  g_assert_cmpfloat_with_epsilon ((double) end * 1e-9, 8190 * (5e-3 + 1e11 / 4096 / 25e9), 48.948e-6);
  cluster_free (m.cluster);
}

static void
test_refused (void)
{
  static const Setup none = { "ring", .nodes = 4, .gpus = 1, .size = 1e6 };
  const Made m = make (&none);
  const Made shared = make (&(Setup) { "point-to-point", OP_ALL_TO_ALL, 4, 1, .size = 1e6 });
  g_autoptr (Fabric) fabric = fabric_of (&shared, FALSE);
  const PlayJob job = { .schedule = &shared.schedule };
  CollectiveCall call = m.call;
  g_autoptr (GError) error = NULL, other = NULL;
  Schedule schedule;
  Tick end;

  g_assert_true (collective_find ("gloo", &call.algorithm, NULL));
  g_assert_false (schedule_init (&schedule, &call, &m.group, &m.paths, 0, &error));
  g_assert_error (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED);
  g_assert_false (max_plus_run (fabric, FALSE, &job, &end, &other));
  g_assert_error (other, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED);
  cluster_free (m.cluster);
  cluster_free (shared.cluster);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/message/closed-forms", test_closed);
  g_test_add_func ("/message/folded", test_folded);
  g_test_add_func ("/message/grid", test_grid);
  g_test_add_func ("/message/pipeline", test_pipeline);
  g_test_add_func ("/message/shared-links", test_shared);
  g_test_add_func ("/message/leaves", test_leaves);
  g_test_add_func ("/message/watched", test_watched);
  g_test_add_func ("/message/refused", test_refused);
  g_test_add_func ("/max-plus/unequal", test_unequal);
  g_test_add_func ("/max-plus/apart", test_unequal_apart);
  g_test_add_func ("/max-plus/large", test_large);
  return g_test_run ();
}
