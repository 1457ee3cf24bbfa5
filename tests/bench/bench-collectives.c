/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/max-plus.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* One collective of 100 MB, 25 GB/s a NIC, 5 us a message, by tier and ranks, on a
 * star or under the leaves of a fat tree.  CSV: CPU time (median of several), memory at
 * most besides an empty program's (each row in a process of its own), time predicted.
 * `bench-collectives WORK RANKS TIER`: that row alone. */

typedef enum { TIER_MESSAGE, TIER_FOLDED, TIER_MAX_PLUS } Tier;
static const char *const tiers[] = { "message", "folded", "max-plus" };
typedef struct { const char *work, *algorithm; CollectiveOp op; Tier tier; guint32 most; guint32 leaf; } Line;
static const Line lines[] = {
  { "ring", "ring", OP_ALL_REDUCE, TIER_MESSAGE, 4096, 0 },
  { "ring", "ring", OP_ALL_REDUCE, TIER_FOLDED, 4096, 0 },
  { "ring", "ring", OP_ALL_REDUCE, TIER_MAX_PLUS, 16384, 0 },
  { "ring-fat-tree", "ring", OP_ALL_REDUCE, TIER_MESSAGE, 4096, 32 },
  { "tree", "tree", OP_ALL_REDUCE, TIER_MESSAGE, 4096, 0 },
  { "halving-doubling", "halving-doubling", OP_ALL_REDUCE, TIER_MESSAGE, 4096, 0 },
  { "all-to-all", "point-to-point", OP_ALL_TO_ALL, TIER_MESSAGE, 256, 0 },
  { "all-to-all", "point-to-point", OP_ALL_TO_ALL, TIER_FOLDED, 4096, 0 },
  { "pairwise", "pairwise", OP_ALL_TO_ALL, TIER_MESSAGE, 1024, 0 },
};
typedef struct { double cpu, predicted; } Figure;

#define ROUNDS 5

/* `leaf`: nodes under one, whose uplink is a link of `network`; 0: a star. */
static Paths
paths_of (guint32 leaf, const Placement *placement, Network *network)
{
  Paths paths = { 0 };
  PathLeg *leg = &paths.between;

  *leg = (PathLeg) { .links = 1, .capacity = 25e9, .rate = 25e9 };
  for (int p = 0; p < N_PROTOCOLS; p++)
    {
      leg->hop[p] = 5e-6;
      leg->share[p] = 1;
    }
  paths.between_efficiency = paths.p2p_share = paths.p2p_pair_share = paths.p2p_few_share = paths.p2p_ll = 1;
  paths.tree_share = paths.pat_share = 1;
  paths.local = INFINITY;
  if (leaf > 0)
    {
      const Id up = network_add (network, "leaf", leaf * 25e9, 0, 1, FALSE);

      paths.n_levels = 1;
      paths.level[0] = (PathLevel) { up, up, leaf * 25e9, leaf, 1, 1 };
      paths.placement = placement;
      paths.box = 1;
    }
  return paths;
}

static double
cpu_now (void)
{
  struct timespec now;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

/* With everything that a call makes: schedule, links, engine. */
static Figure
once (const Line *row, guint32 ranks, const Paths *paths, const Network *network)
{
  const RankGroup group = { .n_ranks = ranks, .n_nodes = ranks, .per_node = 1, .twins_per_node = 1 };
  CollectiveCall call = { .op = row->op, .size = 1e8, .protocol = PROTOCOL_SIMPLE };
  const double start = cpu_now ();
  Figure figure = { 0 };
  Schedule schedule;
  GError *error = NULL;
  Tick end;

  g_assert_true (collective_find (row->algorithm, &call.algorithm, &error));
  g_assert_true (schedule_init (&schedule, &call, &group, paths, 0, &error));
  {
    g_autoptr (Fabric) fabric = fabric_new (&schedule, paths, network, PROTOCOL_SIMPLE, row->tier == TIER_FOLDED);
    const PlayJob job = { .schedule = &schedule };

    if (row->tier == TIER_MAX_PLUS)
      max_plus_run (fabric, FALSE, &job, &end, &error);
    else
      {
        g_autoptr (Play) play = play_new (fabric, FALSE);

        play_add (play, &job);
        play_run (play, &error);
        end = play_end (play, 0);
      }
    g_assert_no_error (error);
  }
  figure.cpu = cpu_now () - start;
  figure.predicted = (double) end / TICKS_PER_S;
  return figure;
}

static int
by_cpu (const void *a, const void *b)
{
  const double x = ((const Figure *) a)->cpu, y = ((const Figure *) b)->cpu;

  return (x > y) - (x < y);
}

static long
peak_kb (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

static void
measure (const Line *row, guint32 ranks)
{
  g_autoptr (Network) network = network_new ();
  const PlacementSpec spec = { .nodes = ranks, .unit = 1, .n_levels = 1, .below = { MAX (row->leaf, 1) } };
  g_autoptr (Placement) placement = placement_new (&spec, NULL);
  const Paths paths = paths_of (row->leaf, placement, network);
  const long before = peak_kb ();
  Figure figures[ROUNDS];
  int rounds = 0;

  do
    figures[rounds] = once (row, ranks, &paths, network);
  while (figures[rounds++].cpu < 2 && rounds < ROUNDS);
  qsort (figures, (size_t) rounds, sizeof *figures, by_cpu);
  printf ("%s,%u,%s,%.6f,%ld,%.9g\n", row->work, ranks, tiers[row->tier], figures[rounds / 2].cpu, 1024 * (peak_kb () - before),
          figures[rounds / 2].predicted);
  fflush (stdout);
}

static void
measure_apart (const Line *row, guint32 ranks)
{
  const pid_t child = fork ();
  int status = 0;

  if (child == 0)
    {
      measure (row, ranks);
      _exit (0);
    }
  if (child < 0 || waitpid (child, &status, 0) != child || status != 0)
    exit (1);
}

int
main (int argc, char **argv)
{
  printf ("work,ranks,tier,cpu_s,memory_bytes,predicted_s\n");
  fflush (stdout);
  for (gsize i = 0; i < G_N_ELEMENTS (lines); i++)
    if (argc < 4)
      for (guint32 ranks = 8; ranks <= lines[i].most; ranks *= ranks < 64 ? 8 : 4)
        measure_apart (&lines[i], ranks);
    else if (strcmp (argv[1], lines[i].work) == 0 && strcmp (argv[3], tiers[lines[i].tier]) == 0)
      measure_apart (&lines[i], (guint32) g_ascii_strtoull (argv[2], NULL, 10));
  return 0;
}
