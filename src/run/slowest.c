/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/draws.h"
#include "base/random.h"
#include "run/contents.h"
#include "run/maxima.h"
#include "run/stops.h"
#include <math.h>

/* Ranks alike, of which the slowest is drawn: for each stretch of work between two
 * meetings of a group ONE number says how slow the slowest of the group is, and
 * every point of the stretch takes the value there of the largest of n sums up to
 * it.  Exact where every rank stops at each meeting; with meetings inside the
 * stretch (overlapped buckets) each has the right distribution by itself, but all
 * of them follow the one number.
 * Smaller groups inside (tensor-parallel ranks in a data-parallel one) come first:
 * their stretches count as the largest of few, and the sums of those go into the
 * stretches of the large group. */

/* A kernel on its stretch: the part (from, to] of the way between two marks. */
typedef struct
{
  guint      task;
  gboolean   ahead;          /* behind the step's last stop: belongs to the stretch that ends in the next step */
  double     share;          /* of the way from mark to mark */
  TimeSpread before, after;  /* of all up to the one mark, and to the other */
} Part;

typedef struct
{
  guint      class;
  double     n;              /* ranks or groups of which the slowest is drawn */
  double     step_share;     /* of the variance that all stretches of a step have in common */
  guint      pause;          /* task at its head, G_MAXUINT: none */
  TimeSpread whole;
  GArray    *parts;          /* of Part */
} Stretch;

struct Slowest
{
  const StepGraph *graph;
  DrawsChoice      choice;
  double           pause_every;
  GArray          *stretches;   /* of Stretch */
  double          *phases;      /* of all ranks; NULL: no pauses, or together */
  guint64         *first_rank;  /* of each class */
};

/* A piece of work between two marks: mean, and the variances of its kernels and of
 * what its ranks have in common over a step.  `work`: the mean of one rank. */
typedef struct { guint first, n; double work, mean, kernels, step; } Atom;

static void
clear_stretch (gpointer stretch)
{
  g_array_unref (((Stretch *) stretch)->parts);
}

/* The largest of n of it, its variance split as before. */
static void
take_largest (Atom *atom, double n, gboolean normal)
{
  const double variance = atom->kernels + atom->step, common = variance > 0 ? atom->step / variance : 0;
  const TimeSpread one = { atom->mean, variance, normal }, largest = maxima_of (&one, n);

  atom->mean = largest.mean;
  atom->step = largest.variance * common;
  atom->kernels = largest.variance * (1 - common);
}

/* s that spread: of kernels alone. */
static double
work_of (const Slowest *slowest, const GArray *tasks, guint i)
{
  const GraphTask *task = graph_task (slowest->graph, g_array_index (tasks, guint, i));

  return task->kind == GRAPH_KERNEL ? task->seconds : 0;
}

static Atom
make_atom (const Slowest *slowest, const GArray *tasks, guint first, guint n)
{
  const NoiseSpec *spec = slowest->choice.spec;
  Atom atom = { first, n, 0, 0, 0, 0 };

  for (guint i = first; i < first + n; i++)
    {
      const double seconds = work_of (slowest, tasks, i);

      atom.mean += seconds;
      atom.kernels += seconds * spec->kernel_cv * seconds * spec->kernel_cv;
    }
  atom.work = atom.mean;
  /* a product of two factors of mean 1 */
  atom.step = spec->step_cv * spec->step_cv * atom.mean * atom.mean;
  atom.kernels *= 1 + spec->step_cv * spec->step_cv;
  return atom;
}

/* Kernels [first, first + n) of `tasks` to one more atom of the stretch; *sum: all before it. */
static void
add_atom (const Slowest *slowest, Stretch *stretch, const GArray *tasks, guint n_ahead, const Atom *atom, Atom *sum)
{
  const gboolean normal = slowest->choice.spec->distribution == NOISE_NORMAL;
  const TimeSpread before = { sum->mean, sum->kernels + sum->step * sum->step, normal };

  sum->mean += atom->mean;
  sum->kernels += atom->kernels;
  sum->step += sqrt (atom->step);   /* a deviation here: what is in common adds up by it */
  const TimeSpread after = { sum->mean, sum->kernels + sum->step * sum->step, normal };

  for (guint i = atom->first; i < atom->first + atom->n; i++)
    {
      const double work = work_of (slowest, tasks, i);
      const Part part = { g_array_index (tasks, guint, i), i < n_ahead, work / atom->work, before, after };

      if (work > 0)
        g_array_append_val (stretch->parts, part);
    }
  stretch->whole = after;
  stretch->step_share = after.variance > 0 ? sum->step * sum->step / after.variance : 0;
}

/* One stretch of a class: `tasks` (of which the first `n_ahead` are of the step
 * before) up to a stop.  Stops inside it are of smaller groups. */
static void
add_stretch (Slowest *slowest, guint class, const GArray *tasks, guint n_ahead, guint pause, const Stop *stops, const Stop *end)
{
  const gboolean normal = slowest->choice.spec->distribution == NOISE_NORMAL;
  Stretch stretch = { .class = class, .n = (double) MAX (end->ranks, 1), .pause = pause,
                      .parts = g_array_new (FALSE, FALSE, sizeof (Part)) };
  gboolean inner = FALSE;
  guint64 most = 1;
  Atom sum = { 0, 0, 0, 0, 0, 0 };

  for (guint i = 1; i < tasks->len; i++)
    inner = inner || stops[g_array_index (tasks, guint, i)].ranks > 1;
  for (guint first = 0, i = 1; i <= tasks->len; i++)
    {
      const Stop none = { 1, 1, FALSE }, *stop = i < tasks->len ? &stops[g_array_index (tasks, guint, i)] : &none;

      if (inner && i < tasks->len && stop->ranks < 2)
        continue;
      Atom atom = make_atom (slowest, tasks, first, i - first);

      most = MAX (most, stop->ranks);
      take_largest (&atom, (double) stop->ranks, normal);
      add_atom (slowest, &stretch, tasks, n_ahead, &atom, &sum);
      first = i;
    }
  /* groups that hold the smaller ones whole meet fewer of them */
  if (inner && !end->across)
    stretch.n = fmax (1, stretch.n / (double) most);
  g_array_append_val (slowest->stretches, stretch);
}

static GArray *
slice (const GArray *queue, guint from, guint to)
{
  GArray *tasks = g_array_new (FALSE, FALSE, sizeof (guint));

  g_array_append_vals (tasks, &g_array_index (queue, guint, from), to - from);
  return tasks;
}

/* The compute queue of a class, cut at the stops of its largest groups; what is
 * behind the last one goes on into the next step. */
static void
cut_queue (Slowest *slowest, guint class, const GArray *queue, const Stop *stops)
{
  const guint pause = slowest->graph->pauses == G_MAXUINT ? G_MAXUINT : slowest->graph->pauses + class;
  g_autoptr (GArray) cuts = g_array_new (FALSE, FALSE, sizeof (guint));
  const Stop alone = { 1, 1, FALSE };
  guint64 span = 0;

  for (guint i = 0; i < queue->len; i++)
    span = MAX (span, stops[g_array_index (queue, guint, i)].span);
  for (guint i = 0; i < queue->len; i++)
    {
      if (span > 0 && stops[g_array_index (queue, guint, i)].span == span)
        g_array_append_val (cuts, i);
    }
  if (cuts->len == 0)
    {
      add_stretch (slowest, class, queue, 0, pause, stops, &alone);
      return;
    }
  const guint head = g_array_index (cuts, guint, 0), tail = g_array_index (cuts, guint, cuts->len - 1);
  g_autoptr (GArray) around = slice (queue, tail, queue->len);

  g_array_append_vals (around, queue->data, head);
  add_stretch (slowest, class, around, queue->len - tail, pause, stops, &stops[g_array_index (queue, guint, head)]);
  for (guint i = 0; i + 1 < cuts->len; i++)
    {
      const guint to = g_array_index (cuts, guint, i + 1);
      g_autoptr (GArray) between = slice (queue, g_array_index (cuts, guint, i), to);

      add_stretch (slowest, class, between, 0, G_MAXUINT, stops, &stops[g_array_index (queue, guint, to)]);
    }
}

static void
cut_queues (Slowest *slowest, const Stop *stops)
{
  const StepGraph *graph = slowest->graph;
  g_autofree GArray **queues = g_new0 (GArray *, MAX (graph->queues->len, 1));

  for (guint i = 0; i < graph->tasks->len; i++)
    {
      const guint queue = graph_task (graph, i)->queue;

      if (queues[queue] == NULL)
        queues[queue] = g_array_new (FALSE, FALSE, sizeof (guint));
      g_array_append_val (queues[queue], i);
    }
  for (guint class = 0; class < graph->classes->len; class++)
    {
      const guint queue = g_array_index (graph->classes, RankClass, class).compute;

      if (queues[queue] != NULL)
        cut_queue (slowest, class, queues[queue], stops);
    }
  for (guint i = 0; i < graph->queues->len; i++)
    if (queues[i] != NULL)
      g_array_unref (queues[i]);
}

/* Phases of all ranks' pauses, as each rank by itself would draw them. */
static void
draw_phases (Slowest *slowest)
{
  const StepGraph *graph = slowest->graph;
  const guint64 world = graph_world (graph);
  guint64 rank = 0;

  slowest->first_rank = g_new0 (guint64, MAX (graph->classes->len, 1));
  for (guint i = 0; i < graph->classes->len; i++)
    {
      slowest->first_rank[i] = rank;
      rank += g_array_index (graph->classes, RankClass, i).multiplicity;
    }
  if (!(slowest->pause_every > 0))
    return;
  slowest->phases = g_new (double, world);
  for (guint64 i = 0; i < world; i++)
    {
      const RandomKey key = { slowest->choice.seed, 0, slowest->choice.spec->pause_together ? 0 : i, DRAWN_PHASE };

      slowest->phases[i] = random_uniform (&key, 0);
    }
}

/* Ranks that are slow by what they hold need not be those that are slow by noise. */
static void
share_with (Slowest *slowest, const Contents *contents)
{
  for (guint i = 0; i < slowest->stretches->len; i++)
    {
      Stretch *stretch = &g_array_index (slowest->stretches, Stretch, i);
      const double share = contents_share (contents, stretch->class);

      stretch->n = share > 0 ? pow (stretch->n, 1 - share) : stretch->n;
    }
}

Slowest *
slowest_new (const DrawsChoice *choice, const Execution *quiet, guint step, double pause_every,
             const Contents *contents)
{
  Slowest *slowest = g_new0 (Slowest, 1);
  g_autofree Stop *stops = stops_find (quiet, step);

  slowest->graph = execution_graph (quiet);
  slowest->choice = *choice;
  slowest->pause_every = pause_every;
  slowest->stretches = g_array_new (FALSE, FALSE, sizeof (Stretch));
  g_array_set_clear_func (slowest->stretches, clear_stretch);
  cut_queues (slowest, stops);
  share_with (slowest, contents);
  draw_phases (slowest);
  return slowest;
}

void
slowest_free (Slowest *slowest)
{
  if (slowest == NULL)
    return;
  g_array_unref (slowest->stretches);
  g_free (slowest->phases);
  g_free (slowest->first_rank);
  g_free (slowest);
}

/* One normal number for the stretch; what its ranks have in common over the step is
 * in those of its other stretches too. */
static double
stretch_normal (const Slowest *slowest, const Stretch *stretch, guint index, guint64 step, guint purpose)
{
  const RandomKey own = { slowest->choice.seed, step, stretch->class, purpose };
  const RandomKey common = { slowest->choice.seed, step, stretch->class, DRAWN_STEP };

  return sqrt (1 - stretch->step_share) * random_normal (&own, index)
         + (stretch->step_share > 0 ? sqrt (stretch->step_share) * random_normal (&common, purpose) : 0);
}

/* Ranks of the class that pause in a step. */
static guint64
pausing (const Slowest *slowest, guint class, guint64 step, guint *times)
{
  const guint64 n = g_array_index (slowest->graph->classes, RankClass, class).multiplicity;
  guint64 ranks = 0;

  *times = 0;
  for (guint64 i = 0; i < n; i++)
    {
      const guint pauses = draws_pauses (slowest->phases[slowest->first_rank[class] + i], slowest->pause_every, step);

      ranks += pauses > 0;
      *times = MAX (*times, pauses);
    }
  return ranks;
}

/* How slow the slowest is, in deviations; *pause: s for which it stands still
 * first.  Of those that pause and those that do not each has its slowest; the later
 * of the two counts. */
static double
draw_stretch (const Slowest *slowest, guint index, guint64 step, double *pause)
{
  const Stretch *stretch = &g_array_index (slowest->stretches, Stretch, index);
  const double z = stretch_normal (slowest, stretch, index, step, DRAWN_STRETCH);
  const guint64 all = g_array_index (slowest->graph->classes, RankClass, stretch->class).multiplicity;
  guint times = 0;
  const guint64 ranks = stretch->pause != G_MAXUINT && slowest->phases != NULL ? pausing (slowest, stretch->class, step, &times) : 0;

  *pause = times * slowest->choice.spec->pause;
  if (ranks == 0)
    return maxima_largest (z, stretch->n);
  const double still = fmax (1, (double) ranks / (double) all * stretch->n), others = stretch->n - still;
  const double here = maxima_largest (z, still);

  if (!(others >= 1) || ranks == all)
    return here;
  const double there = maxima_largest (stretch_normal (slowest, stretch, index, step, DRAWN_OTHERS), others);

  if (*pause + maxima_value (&stretch->whole, here) >= maxima_value (&stretch->whole, there))
    return here;
  *pause = 0;
  return there;
}

void
slowest_step (const Slowest *slowest, guint64 step, double *seconds)
{
  for (guint k = 0; k < slowest->stretches->len; k++)
    {
      const Stretch *stretch = &g_array_index (slowest->stretches, Stretch, k);
      double pause, later;
      const double z = draw_stretch (slowest, k, step, &pause);
      const double ahead = stretch->parts->len > 0 && g_array_index (stretch->parts, Part, 0).ahead
                             ? draw_stretch (slowest, k, step + 1, &later) : z;

      if (stretch->pause != G_MAXUINT)
        seconds[stretch->pause] = pause;
      for (guint i = 0; i < stretch->parts->len; i++)
        {
          const Part *part = &g_array_index (stretch->parts, Part, i);
          const double at = part->ahead ? ahead : z;

          seconds[part->task] = part->share * fmax (0, maxima_value (&part->after, at) - maxima_value (&part->before, at));
        }
    }
}
