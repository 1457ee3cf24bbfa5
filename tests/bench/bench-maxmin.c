/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench.h"
#include "network/network.h"
#include <math.h>
#include <stdio.h>

/* Max-min fair rates of many flows at once: a fat tree of two levels, leaves of 32
 * hosts with 16 spines above them (2:1), random pairs, each over one spine at
 * random.  As a run asks for it: network_start () each, one network_run_instant (),
 * which finds the component, solves it and rates every flow in the engine. */

#define LEAF 32u
#define SPINES 16u
#define ROUNDS 5

typedef struct { guint32 hosts, flows; double most; } Row;   /* s a solve, the goal; 0: none */
typedef struct { LinkLoad load[4]; guint n; } Flow;

/* Links: a host's way out, its way in, each leaf's ways up, its ways down. */
static Network *
fat_tree (guint32 hosts)
{
  Network *network = network_new ();

  for (guint32 i = 0; i < 2 * hosts; i++)
    network_add (network, "nic", 25e9, 0, 1, FALSE);
  for (guint32 i = 0; i < 2 * (hosts / LEAF) * SPINES; i++)
    network_add (network, "uplink", 25e9, 0, 1, FALSE);
  return network;
}

static void
random_pairs (const Row *row, Flow *flows)
{
  const guint32 up = 2 * row->hosts, down = up + row->hosts / LEAF * SPINES;
  g_autoptr (GRand) random = g_rand_new_with_seed (41);

  for (guint32 i = 0; i < row->flows; i++)
    {
      const guint32 from = (guint32) g_rand_int_range (random, 0, (gint32) row->hosts);
      const guint32 other = (guint32) g_rand_int_range (random, 0, (gint32) row->hosts - 1);
      const guint32 to = other < from ? other : other + 1, spine = g_rand_int (random) % SPINES;
      Flow *flow = &flows[i];

      flow->load[flow->n++].link = 1 + from;
      if (from / LEAF != to / LEAF)
        {
          flow->load[flow->n++].link = 1 + up + from / LEAF * SPINES + spine;
          flow->load[flow->n++].link = 1 + down + to / LEAF * SPINES + spine;
        }
      flow->load[flow->n++].link = 1 + row->hosts + to;
      for (guint k = 0; k < flow->n; k++)
        flow->load[k].bytes = flow->load[k].efficiency = 1;
    }
}

static void
measure (gconstpointer data)
{
  const Row *row = data;
  g_autofree Flow *flows = g_new0 (Flow, row->flows);
  g_autoptr (Network) network = fat_tree (row->hosts);
  g_autoptr (Engine) e = engine_new (NULL, NULL);
  g_autoptr (NetworkRun) run = network_run_new (network, e, 1e12);
  double start[ROUNDS], solve[ROUNDS];
  double before;

  random_pairs (row, flows);
  before = bench_peak ();
  for (int round = 0; round < ROUNDS; round++)
    {
      const double begin = bench_cpu ();

      engine_reset (e);
      network_run_reset (run);
      for (guint32 i = 0; i < row->flows; i++)
        network_start (run, 0, 1e8, INFINITY, 1, flows[i].load, flows[i].n);
      start[round] = bench_cpu () - begin;
      network_run_instant (run);
      solve[round] = bench_cpu () - begin - start[round];
    }
  const double seconds = bench_median (solve, ROUNDS);

  printf ("max-min,%u,%u,%u,%.6f,%.6f,%.0f,%.0f,%s\n", row->hosts, row->flows, network_n_links (network),
          bench_median (start, ROUNDS), seconds, 1e9 * seconds / row->flows, bench_peak () - before,
          row->most > 0 ? seconds < row->most ? "met" : "MISSED" : "");
  fflush (stdout);
}

/* `bench-maxmin FLOWS`: that row alone. */
int
main (int argc, char **argv)
{
  static const Row rows[] = {
    { 1024, 1024, 0 }, { 1024, 100000, 0 },
    { 16384, 16384, 0 }, { 16384, 100000, 0 },
    { 131072, 131072, 0 }, { 131072, 1000000, 0.4 },
  };

  printf ("work,hosts,flows,links,start_s,cpu_s,ns_per_flow,memory_bytes,goal\n");
  fflush (stdout);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    if (argc < 2 || g_ascii_strtoull (argv[1], NULL, 10) == rows[i].flows)
      bench_apart (measure, &rows[i]);
  return 0;
}
