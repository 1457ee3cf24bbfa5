/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "network/network.h"
#include <math.h>

/* Max-min fair rates of many flows at once against a slow oracle of its own, on
 * fat trees of lumpy links. */

#define TICKS_PER_S 1e12
#define LEAF 8u
#define SPINES 4u
#define MAX_HOPS 4

typedef struct { guint32 hosts, flows, islands; gboolean caps; } Case;
typedef struct { LinkLoad load[MAX_HOPS]; guint n; double cap, weight; } Flow;
typedef struct { guint n_links, n_flows; double *capacity; Flow *flow; } Problem;   /* capacity[link] */

static void
problem_clear (Problem *p)
{
  g_free (p->capacity);
  g_free (p->flow);
}

/* `islands` trees that no flow leaves. */
static Problem
problem_new (const Case *c, GRand *random)
{
  const guint32 leaves = c->hosts / LEAF, per_island = c->hosts / c->islands;
  const guint32 up = 2 * c->hosts, down = up + leaves * SPINES;
  Problem p = { .n_links = 2 * c->hosts + 2 * leaves * SPINES, .n_flows = c->flows };

  p.capacity = g_new (double, p.n_links + 1);
  p.flow = g_new0 (Flow, p.n_flows);
  for (guint link = 1; link <= p.n_links; link++)
    p.capacity[link] = 1e9 * (double) g_rand_int_range (random, 7, 31);   /* ties are wanted */
  for (guint i = 0; i < p.n_flows; i++)
    {
      const guint32 base = (guint32) g_rand_int_range (random, 0, (gint32) c->islands) * per_island;
      const guint32 from = base + (guint32) g_rand_int_range (random, 0, (gint32) per_island);
      const guint32 to = base + (guint32) g_rand_int_range (random, 0, (gint32) per_island);
      const guint32 spine = (guint32) g_rand_int_range (random, 0, SPINES);
      Flow *flow = &p.flow[i];

      flow->load[flow->n++].link = 1 + from;
      if (from / LEAF != to / LEAF)
        {
          flow->load[flow->n++].link = 1 + up + from / LEAF * SPINES + spine;
          flow->load[flow->n++].link = 1 + down + to / LEAF * SPINES + spine;
        }
      flow->load[flow->n++].link = 1 + c->hosts + to;
      for (guint k = 0; k < flow->n; k++)
        {
          flow->load[k].bytes = g_rand_int_range (random, 0, 4) == 0 ? 1.375 : 1;
          flow->load[k].efficiency = 1;
        }
      flow->weight = g_rand_int_range (random, 1, 4);
      flow->cap = c->caps && g_rand_int_range (random, 0, 3) == 0 ? 1e8 * g_rand_int_range (random, 1, 60) : INFINITY;
    }
  return p;
}

/* The oracle: all open flows rise together to the least of what an open flow's cap
 * or a link allows; who is held then is fixed; again.  No heap, no components. */
static double *
oracle (const Problem *p)
{
  double *rate = g_new (double, p->n_flows);
  g_autofree double *left = g_memdup2 (p->capacity, (p->n_links + 1) * sizeof (double));
  g_autofree double *open = g_new (double, p->n_links + 1);
  guint n_open = p->n_flows;

  for (guint i = 0; i < p->n_flows; i++)
    rate[i] = -1;
  while (n_open > 0)
    {
      double level = INFINITY;

      for (guint link = 1; link <= p->n_links; link++)
        open[link] = 0;
      for (guint i = 0; i < p->n_flows; i++)
        if (rate[i] < 0)
          {
            level = MIN (level, p->flow[i].cap);
            for (guint k = 0; k < p->flow[i].n; k++)
              open[p->flow[i].load[k].link] += p->flow[i].weight * p->flow[i].load[k].bytes;
          }
      for (guint link = 1; link <= p->n_links; link++)
        if (open[link] > 0)
          level = MIN (level, left[link] / open[link]);
      for (guint i = 0; i < p->n_flows; i++)
        {
          const Flow *flow = &p->flow[i];
          gboolean held = rate[i] < 0 && flow->cap <= level * (1 + 1e-12);

          for (guint k = 0; rate[i] < 0 && k < flow->n; k++)
            held |= left[flow->load[k].link] <= level * open[flow->load[k].link] * (1 + 1e-12);
          if (held)
            {
              rate[i] = MIN (level, flow->cap);
              n_open--;
            }
        }
      /* left: the capacity less what is fixed */
      for (guint link = 1; link <= p->n_links; link++)
        left[link] = p->capacity[link];
      for (guint i = 0; i < p->n_flows; i++)
        for (guint k = 0; rate[i] >= 0 && k < p->flow[i].n; k++)
          left[p->flow[i].load[k].link] -= rate[i] * p->flow[i].weight * p->flow[i].load[k].bytes;
    }
  return rate;
}

/* The program. */
typedef struct { Network *network; Engine *e; NetworkRun *run; Id *activity; } Solved;

static void
solved_init (Solved *s, const Problem *p)
{
  s->network = network_new ();
  for (guint link = 1; link <= p->n_links; link++)
    network_add (s->network, "link", p->capacity[link], 0, 1, FALSE);
  s->e = engine_new (NULL, NULL);
  s->run = network_run_new (s->network, s->e, TICKS_PER_S);
  s->activity = g_new (Id, p->n_flows);
  for (guint i = 0; i < p->n_flows; i++)
    s->activity[i] = network_start (s->run, 0, 1e15, p->flow[i].cap, p->flow[i].weight, p->flow[i].load, p->flow[i].n);
  network_run_instant (s->run);
}

static void
solved_clear (Solved *s)
{
  g_free (s->activity);
  network_run_free (s->run);
  engine_free (s->e);
  network_free (s->network);
}

/* Each flow is at its cap, or crosses a full link on which none is quicker; and no link
 * is over-full (Bertsekas and Gallager, Data Networks, 6.5.2). */
static void
assert_fair (const Problem *p, const Id *activity, const double *rate)
{
  g_autofree double *used = g_new0 (double, p->n_links + 1);
  g_autofree double *quickest = g_new0 (double, p->n_links + 1);

  for (guint i = 0; i < p->n_flows; i++)
    for (guint k = 0; k < p->flow[i].n; k++)
      {
        const Id link = p->flow[i].load[k].link;

        used[link] += rate[i] * p->flow[i].weight * p->flow[i].load[k].bytes;
        quickest[link] = MAX (quickest[link], rate[i]);
      }
  for (guint link = 1; link <= p->n_links; link++)
    g_assert_cmpfloat (used[link], <=, p->capacity[link] * (1 + 1e-9));
  for (guint i = 0; i < p->n_flows; i++)
    {
      gboolean held = activity[i] == 0 || rate[i] >= p->flow[i].cap * (1 - 1e-9);

      for (guint k = 0; k < p->flow[i].n; k++)
        held |= used[p->flow[i].load[k].link] >= p->capacity[p->flow[i].load[k].link] * (1 - 1e-9)
                && rate[i] >= quickest[p->flow[i].load[k].link] * (1 - 1e-9);
      g_assert_true (held);
    }
}

static void
test_oracle (gconstpointer data)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (43);
  Problem p = problem_new (data, random);
  g_autofree double *expected = oracle (&p);
  g_autofree double *rate = g_new (double, p.n_flows);
  Solved s;

  solved_init (&s, &p);
  for (guint i = 0; i < p.n_flows; i++)
    {
      rate[i] = engine_rate (s.e, s.activity[i]) * TICKS_PER_S;
      g_assert_cmpfloat_with_epsilon (rate[i] / expected[i], 1, 1e-9);
    }
  assert_fair (&p, s.activity, rate);
  solved_clear (&s);
  problem_clear (&p);
}

/* All at once, or one change from where it is: the same to the tick. */
static void
test_both_ways (gconstpointer data)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (47);
  Problem p = problem_new (data, random);
  g_autofree double *rate = g_new (double, p.n_flows);
  Solved s;
  guint64 rated;

  solved_init (&s, &p);
  for (guint i = 0; i < p.n_flows; i++)
    rate[i] = engine_rate (s.e, s.activity[i]);
  rated = network_run_rated (s.run);
  g_assert_cmpuint (rated, ==, p.n_flows);
  network_run_scale (s.run, p.flow[0].load[0].link, 0.5);
  network_run_instant (s.run);
  network_run_scale (s.run, p.flow[0].load[0].link, 1);
  network_run_instant (s.run);
  g_assert_cmpuint (network_run_rated (s.run), <, 2 * rated);   /* whom it reaches only */
  for (guint i = 0; i < p.n_flows; i++)
    g_assert_cmpuint (engine_ticks (1e6, engine_rate (s.e, s.activity[i])), ==, engine_ticks (1e6, rate[i]));
  solved_clear (&s);
  problem_clear (&p);
}

/* Half of the flows leave, others come: as if only those had ever been there. */
static void
test_leave_and_come (gconstpointer data)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (53);
  Problem p = problem_new (data, random);
  Solved s, fresh;

  solved_init (&s, &p);
  solved_init (&fresh, &p);
  for (guint i = 0; i < p.n_flows; i += 2)
    {
      network_end (s.run, s.activity[i]);
      engine_cancel (s.e, s.activity[i]);
    }
  network_run_instant (s.run);
  for (guint i = 0; i < p.n_flows; i += 2)
    s.activity[i] = network_start (s.run, 0, 1e15, p.flow[i].cap, p.flow[i].weight, p.flow[i].load, p.flow[i].n);
  network_run_instant (s.run);
  for (guint i = 0; i < p.n_flows; i++)
    g_assert_cmpuint (engine_ticks (1e6, engine_rate (s.e, s.activity[i])), ==,
                      engine_ticks (1e6, engine_rate (fresh.e, fresh.activity[i])));
  solved_clear (&s);
  solved_clear (&fresh);
  problem_clear (&p);
}

/* A few leave, a few others come, many times over: fair each time, though only those
 * whom it reaches are rated anew. */
static void
test_turnover (gconstpointer data)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (59);
  Problem p = problem_new (data, random);
  g_autofree double *rate = g_new (double, p.n_flows);
  Solved s;

  solved_init (&s, &p);
  for (guint turn = 0; turn < 200; turn++)
    {
      for (guint k = 0; k < 1 + turn % 7; k++)
        {
          const guint i = (guint) g_rand_int_range (random, 0, (gint32) p.n_flows);

          if (s.activity[i] != 0)
            {
              network_end (s.run, s.activity[i]);
              engine_cancel (s.e, s.activity[i]);
              s.activity[i] = 0;
            }
          else
            s.activity[i] = network_start (s.run, 0, 1e15, p.flow[i].cap, p.flow[i].weight, p.flow[i].load, p.flow[i].n);
        }
      network_run_instant (s.run);
      for (guint i = 0; i < p.n_flows; i++)
        rate[i] = s.activity[i] != 0 ? engine_rate (s.e, s.activity[i]) * TICKS_PER_S : 0;
      assert_fair (&p, s.activity, rate);
    }
  solved_clear (&s);
  problem_clear (&p);
}

/* One comes over the links of one that leaves at the same instant: all have what they
 * had, so nearly always none but it is rated (two of its links may be full). */
static void
test_succession (gconstpointer data)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (61);
  Problem p = problem_new (data, random);
  g_autofree double *rate = g_new (double, p.n_flows);
  Solved s;
  guint64 rated;

  solved_init (&s, &p);
  for (guint i = 0; i < p.n_flows; i++)
    rate[i] = engine_rate (s.e, s.activity[i]);
  rated = network_run_rated (s.run);
  for (guint i = 0; i < p.n_flows; i++)
    {
      network_end (s.run, s.activity[i]);
      engine_cancel (s.e, s.activity[i]);
      s.activity[i] = network_start (s.run, 0, 1e15, p.flow[i].cap, p.flow[i].weight, p.flow[i].load, p.flow[i].n);
      network_run_instant (s.run);
    }
  g_assert_cmpuint (network_run_rated (s.run) - rated, <, 2 * p.n_flows);
  for (guint i = 0; i < p.n_flows; i++)
    g_assert_cmpuint (engine_ticks (1e6, engine_rate (s.e, s.activity[i])), ==, engine_ticks (1e6, rate[i]));
  solved_clear (&s);
  problem_clear (&p);
}

int
main (int argc, char **argv)
{
  /* The first changes too little for all to be rated at once, the last is no one component. */
  static const Case few = { 64, 300, 1, TRUE }, many = { 512, 4000, 1, FALSE }, caps = { 512, 4000, 1, TRUE },
                    islands = { 512, 4000, 4, TRUE };

  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/max-min/oracle/few", &few, test_oracle);
  g_test_add_data_func ("/max-min/oracle/many", &many, test_oracle);
  g_test_add_data_func ("/max-min/oracle/caps", &caps, test_oracle);
  g_test_add_data_func ("/max-min/oracle/islands", &islands, test_oracle);
  g_test_add_data_func ("/max-min/both-ways/many", &many, test_both_ways);
  g_test_add_data_func ("/max-min/both-ways/caps", &caps, test_both_ways);
  g_test_add_data_func ("/max-min/leave-and-come/few", &few, test_leave_and_come);
  g_test_add_data_func ("/max-min/leave-and-come/many", &many, test_leave_and_come);
  g_test_add_data_func ("/max-min/leave-and-come/islands", &islands, test_leave_and_come);
  g_test_add_data_func ("/max-min/turnover/few", &few, test_turnover);
  g_test_add_data_func ("/max-min/turnover/many", &many, test_turnover);
  g_test_add_data_func ("/max-min/turnover/caps", &caps, test_turnover);
  g_test_add_data_func ("/max-min/turnover/islands", &islands, test_turnover);
  g_test_add_data_func ("/max-min/succession/few", &few, test_succession);
  g_test_add_data_func ("/max-min/succession/caps", &caps, test_succession);
  return g_test_run ();
}
