/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "message-fixture.h"

/* What the schedules of all algorithms say: who gets which blocks, how many bytes pass
 * where, and how long that takes beside view 1. */

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
    for (guint32 b = 0; b < s->blocks - s->scratch; b++)
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
      guint64 *to = set_of (x, m->peer, (b + m->into) % x->s->blocks), any = 0;

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

  for (; x->step[track] < s->steps; schedule_next (s, &x->step[track], &x->chunk[track]))
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
      schedule_next (s, &x->step[track], &x->chunk[track]);
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
    for (guint32 b = 0; b < s->blocks - s->scratch; b++)
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

/* Algorithms as their keys make them different; 0 nodes or GPUs: any number, 1: one, 2:
 * several.  `large`, `small`: of view 1's time what the messages may take, at 238.5 MB
 * in the chunks of the library and at 1,711 bytes in one. */
typedef struct { double least, most; } Within;
typedef struct { const char *name, *algorithm; guint nodes, gpus; int colocated; gboolean local; double largest; Within large, small; } Kind;
static const Kind kinds[] = {
  /* NVLink's hops in the node are shorter than view 1's norm of hops and bytes, or hidden behind them; a chain fills */
  { "ring", "ring", .large = { 0.94, 1.12 }, .small = { 0.99, 1.14 } },
  /* three nodes: the busiest sends 1.5 S, not 2 S; levels come whole, not log2 of the nodes; the last chunks' slots */
  { "tree", "tree", .large = { 0.73, 1.07 }, .small = { 1, 1.3 } },
  { "hierarchical", "hierarchical", .large = { 0.999, 1.001 }, .small = { 0.999, 1.001 } },
  /* who has no partner hands all of it over first: the steps of others wait, view 1 takes the busiest link */
  { "halving-doubling", "halving-doubling", .large = { 0.999, 1.25 }, .small = { 0.99, 1.01 } },
  /* steps come whole */
  { "pat", "pat", .gpus = 1, .large = { 0.999, 1.001 }, .small = { 0.999, 1.3 } },
  { "point-to-point", "point-to-point", .large = { 0.97, 1.001 }, .small = { 0.99, 1.17 } },
  /* other numbers than powers of two: rounds that stay in a node for some only */
  { "pairwise", "pairwise", .large = { 0.89, 1.001 }, .small = { 0.99, 1.001 } },
  /* view 1 fills the pipeline as fitted, the messages by their chunks */
  { "nvls", "nvls", .nodes = 1, .gpus = 2, .large = { 0.95, 1.001 }, .small = { 0.97, 1.001 } },
  { "nvls-tree", "nvls-tree", .nodes = 2, .gpus = 2, .large = { 0.73, 1.03 }, .small = { 0.99, 1.3 } },
  /* one chunk alone goes there before it comes back; 256 fill */
  { "switch-reduction", "switch-reduction", .nodes = 2, .large = { 0.99, 1.01 }, .small = { 0.99, 1.01 } },
  { "reduction-server", "reduction-server", .nodes = 2, .large = { 0.99, 1.01 }, .small = { 1, 1.25 } },
  { "parameter-server", "parameter-server", .nodes = 2, .large = { 0.99, 1.01 }, .small = { 1, 1.35 } },
  { "largest tensor", "parameter-server", .nodes = 2, .largest = 0.6, .large = { 0.99, 1.01 }, .small = { 1, 1.5 } },
  { "colocated", "parameter-server", .nodes = 2, .colocated = COLOCATED_TRUE, .large = { 0.99, 1.01 }, .small = { 0.99, 1.05 } },
  { "colocated, largest", "parameter-server", .nodes = 2, .colocated = COLOCATED_TRUE, .largest = 0.7,
    .large = { 0.99, 1.01 }, .small = { 0.99, 1.15 } },
  /* with more NICs' than NVLink's bytes; where both are as busy they do not overlap wholly */
  { "colocated, local", "parameter-server", .nodes = 2, .colocated = COLOCATED_TRUE, .local = TRUE,
    .large = { 0.99, 1.2 }, .small = { 0.99, 1.05 } },
  { "both", "parameter-server", .nodes = 2, .colocated = COLOCATED_BOTH, .local = TRUE, .large = { 0.99, 1.2 }, .small = { 0.99, 1.05 } },
  /* parts in step copy at the same time; edges in the node are shorter than the step that view 1 takes for all */
  { "grpc-ring", "grpc-ring", .large = { 0.85, 1.17 }, .small = { 0.99, 1.01 } },
  /* memory in the node, then NICs between nodes: one after the other; a partner for who has none */
  { "host-mpi", "host-mpi", .large = { 0.99, 1.33 }, .small = { 0.99, 1.31 } },
  /* the second segment hides hops behind the first */
  { "gloo", "gloo", .large = { 0.92, 1.001 }, .small = { 0.78, 1.001 } },
};
static const struct { guint64 nodes, gpus; } shapes[] = {
  { 2, 1 }, { 3, 1 }, { 5, 1 }, { 8, 1 }, { 13, 1 }, { 21, 1 }, { 2, 2 }, { 3, 3 }, { 4, 8 }, { 5, 6 }, { 7, 5 }, { 1, 7 }, { 1, 8 },
};
typedef void (*KindTest) (const Kind *kind, const Made *made, const char *what, guint32 seed);

static gboolean
is_kind (const Kind *kind, CollectiveOp op, guint64 nodes, guint64 gpus)
{
  const CollectiveAlgorithm *algorithm;

  g_assert_true (collective_find (kind->algorithm, &algorithm, NULL));
  return (algorithm->ops & op) != 0 && (kind->nodes == 0 || (kind->nodes == 1) == (nodes == 1))
         && (kind->gpus == 0 || (kind->gpus == 1) == (gpus == 1));
}

/* Kinds x operations x ranks, odd and prime ones too, x chunks. */
static void
for_each (KindTest test, const double *sizes, const guint *chunks, guint n)
{
  for (gsize a = 0; a < G_N_ELEMENTS (kinds); a++)
    for (CollectiveOp op = OP_ALL_REDUCE; op <= OP_SEND_RECV; op = (CollectiveOp) (2 * op))
      for (gsize i = 0; i < G_N_ELEMENTS (shapes); i++)
        for (guint k = 0; k < n && is_kind (&kinds[a], op, shapes[i].nodes, shapes[i].gpus); k++)
          {
            const Kind *kind = &kinds[a];
            const Setup setup = { kind->algorithm, op, shapes[i].nodes, shapes[i].gpus, .servers = MIN (shapes[i].nodes + (kind->colocated == COLOCATED_BOTH), 3),
                                  .size = sizes[k], .chunks = chunks[k], .colocated = kind->colocated, .local = kind->local,
                                  .largest = kind->largest * sizes[k] };
            const Made made = make (&setup);
            g_autofree char *what = g_strdup_printf ("%s %s %" G_GUINT64_FORMAT "x%" G_GUINT64_FORMAT " %g B, %u chunks", kind->name,
                                                     collective_op_name (op), setup.nodes, setup.gpus, sizes[k], made.schedule.chunks);

            g_test_message ("%s", what);
            test (kind, &made, what, (guint32) (i + 17 * k));
            cluster_free (made.cluster);
          }
}

/* Those that the short way of rings plays. */
static void
check_stream (const Schedule *s)
{
  Message first, m;

  for (guint32 track = 0; track < s->actors * s->tracks; track++)
    for (guint32 i = 0; i < s->steps * s->chunks; i++)
      {
        g_assert_true (schedule_message (s, track / s->tracks, track % s->tracks, i / s->chunks, i % s->chunks, &m));
        first = i == 0 ? m : first;
        g_assert_cmpuint (m.peer, ==, first.peer);
        g_assert_cmpuint (m.lane, ==, track % s->tracks);
        g_assert_false (m.bytes < first.bytes || m.bytes > first.bytes);
        g_assert_cmpuint (m.after[0].lane, ==, track % s->tracks);
        g_assert_cmpuint (m.after[0].count, ==, i < s->chunks ? 0 : i + 1 - s->chunks);
        g_assert_cmpuint (m.after[1].count, ==, 0);
      }
}

/* Who waits for nothing at first and at last does not in between. */
static void
check_unbound (const Schedule *s)
{
  for (guint32 track = 0; track < s->actors * s->tracks; track++)
    {
      gboolean first = TRUE, unbound = FALSE;
      guint32 step = 0, chunk = 0;
      Message m, last;

      if (!schedule_message (s, track / s->tracks, track % s->tracks, s->steps - 1, s->chunks - 1, &last))
        continue;
      for (; step < s->steps; schedule_next (s, &step, &chunk))
        if (schedule_message (s, track / s->tracks, track % s->tracks, step, chunk, &m))
          {
            unbound = first ? m.after[0].count == 0 && last.after[0].count == 0 : unbound;
            first = FALSE;
            g_assert_true (!unbound || m.after[0].count == 0);
          }
    }
}

static void
check_one (const Kind *kind, const Made *made, const char *what, guint32 seed)
{
  const CollectiveSteps *steps = made->schedule.steps_of;

  (void) kind;
  check_schedule (&made->schedule, seed);
  check_unbound (&made->schedule);
  if (made->schedule.stream)
    check_stream (&made->schedule);
  /* one level only: view 1 is another's */
  if (made->schedule.nodes > 1 ? made->schedule.per_node > 1 || steps != &hierarchical_steps : steps == &ring_steps)
    check_bytes (made, what);
}

static void
test_grid (void)
{
  static const double sizes[] = { 2.385e7, 1711, 2.385e7, 1711 };
  static const guint chunks[] = { 1, 1, 3, 3 };

  for_each (check_one, sizes, chunks, G_N_ELEMENTS (sizes));
}

/* Against view 1, on one group and the idle network. */
static void
against_flow (const Kind *kind, const Made *made, const char *what, guint32 seed)
{
  const Within *within = made->schedule.size > 1e6 ? &kind->large : &kind->small;
  const Network *network = cluster_network (made->cluster);
  CollectiveFlow flow;
  GError *error = NULL;
  double ratio;

  (void) seed;
  g_assert_true (collective_flow (&made->call, &made->group, &made->paths, network, &flow, &error));
  if (flow.algorithm != made->call.algorithm)   /* one level only, or no servers to go to: another's */
    return;
  ratio = (double) play_once (made, FALSE, NULL) / TICKS_PER_S + schedule_launch (&made->schedule, &made->paths, PROTOCOL_SIMPLE);
  ratio /= collective_estimate (&flow, network, made->call.size);
  if (!(ratio >= within->least - 1e-3 && ratio <= within->most + 1e-3))
    g_error ("%s takes %.4f of view 1's time, not %g to %g", what, ratio, within->least, within->most);
  /* equal steps, one after the other: to the tick */
  if (made->schedule.steps_of == &ring_steps && made->schedule.per_node == 1 && made->schedule.op != OP_BROADCAST)
    g_assert_cmpfloat_with_epsilon (ratio, 1, 1e-6);
}

static void
test_flow (void)
{
  static const double sizes[] = { 2.385e8, 1711 };
  static const guint as_library[] = { 0, 0 };

  for_each (against_flow, sizes, as_library, G_N_ELEMENTS (sizes));
}

/* Boxes of PCIe cards: the bridge that rings share takes more of the bus bandwidth the
 * more cards there are.  nccl-tests 2.27 on L40S (ai-dynamo/aiconfigurator), DeepBench on
 * GTX 1080 Ti: 2, 4 and 8 cards, GB/s; by messages of 512 MiB within 20 %. */
static void
test_bridges (void)
{
  static const struct { const char *machine; double busbw[3]; } rows[] = {
    { "l40s-8x", { 20, 5.9, 2.1 } }, { "deepbench-8x-1080ti", { 12.2, 11.1, 8.7 } },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint k = 0; k < 3; k++)
      {
        const guint64 gpus = 2u << k;
        const ClusterSpec spec = { .machine = (char *) rows[i].machine, .nodes = 1, .gpus_per_node = gpus };
        const NetworkSpec network = { .efficiency = NAN, .node_bandwidth = NAN, .nic_bandwidth = NAN, .latency = NAN, .oversubscription = 1,
                                      .nodes_per_leaf = 1, .ecmp_share = 1 };
        const CollectiveCall call = { .op = OP_ALL_REDUCE, .size = 0x1p29, .protocol = PROTOCOL_SIMPLE };
        GError *error = NULL;
        Made m = { .call = call, .group = { .n_ranks = gpus, .n_nodes = 1, .per_node = gpus, .twins_per_node = 1 } };
        double seconds, busbw;

        m.cluster = cluster_new (&spec, &network, NULL, NULL, &error);
        g_assert_no_error (error);
        g_assert_true (collective_find ("ring", &m.call.algorithm, NULL));
        g_assert_true (cluster_paths (m.cluster, "nccl", &m.group, &m.paths, &error));
        g_assert_true (schedule_init (&m.schedule, &m.call, &m.group, &m.paths, 0, &error));
        seconds = (double) play_once (&m, FALSE, NULL) / TICKS_PER_S + schedule_launch (&m.schedule, &m.paths, PROTOCOL_SIMPLE);
        busbw = collective_bus_factor (OP_ALL_REDUCE, gpus) * call.size / seconds * 1e-9;
        if (fabs (busbw / rows[i].busbw[k] - 1) > 0.2)
          g_error ("%" G_GUINT64_FORMAT " cards of %s: %.3g GB/s, not %.3g", gpus, rows[i].machine, busbw, rows[i].busbw[k]);
        cluster_free (m.cluster);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/schedules/grid", test_grid);
  g_test_add_func ("/schedules/flow", test_flow);
  g_test_add_func ("/schedules/bridges", test_bridges);
  return g_test_run ();
}
