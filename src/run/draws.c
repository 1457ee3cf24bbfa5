/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/draws.h"
#include "base/random.h"
#include "run/contents.h"
#include "run/maxima.h"
#include <math.h>

typedef struct { guint task, class; guint64 index; } DrawnKernel;

struct Draws
{
  const StepGraph *graph;
  DrawsChoice      choice;
  double           pause_every;  /* steps; 0: no pauses */
  GArray          *kernels;      /* of DrawnKernel, class after class */
  double          *phase;        /* of each class's pauses */
  Slowest         *slowest;      /* NULL: each rank, or no noise */
  Contents        *contents;     /* NULL: all micro-batches alike */
};

static int
by_class (gconstpointer a, gconstpointer b)
{
  const DrawnKernel *x = a, *y = b;

  if (x->class != y->class)
    return (x->class > y->class) - (x->class < y->class);
  return (x->task > y->task) - (x->task < y->task);
}

/* A kernel is known by its label and how many of the same label came before it on
 * its queue: others may come and go. */
static void
find_kernels (Draws *draws)
{
  const StepGraph *graph = draws->graph;
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  guint class = G_MAXUINT;

  draws->kernels = g_array_new (FALSE, FALSE, sizeof (DrawnKernel));
  for (guint i = 0; i < graph->tasks->len; i++)
    {
      const GraphTask *task = graph_task (graph, i);
      const DrawnKernel kernel = { i, g_array_index (graph->queues, GraphQueue, task->queue).rank_class, 0 };

      if (task->kind == GRAPH_KERNEL)
        g_array_append_val (draws->kernels, kernel);
    }
  g_array_sort (draws->kernels, by_class);
  for (guint i = 0; i < draws->kernels->len; i++)
    {
      DrawnKernel *kernel = &g_array_index (draws->kernels, DrawnKernel, i);
      const char *label = graph_task (graph, kernel->task)->label;
      const guint before = kernel->class == class ? GPOINTER_TO_UINT (g_hash_table_lookup (seen, label)) : 0;

      if (kernel->class != class)
        g_hash_table_remove_all (seen);
      class = kernel->class;
      g_hash_table_insert (seen, (gpointer) label, GUINT_TO_POINTER (before + 1));
      kernel->index = (guint64) g_str_hash (label) << 32 | before;
    }
}

static double
pause_every (const NoiseSpec *spec, double step_seconds)
{
  if (!(spec->pause > 0))
    return 0;
  if (spec->pause_steps > 0)
    return (double) spec->pause_steps;
  return step_seconds > 0 ? spec->pause_interval / step_seconds : 0;
}

static double
length (const Execution *x, guint step)
{
  return seconds_from_ticks (execution_end (x, step) - (step == 0 ? 0 : execution_end (x, step - 1)));
}

Draws *
draws_new (const DrawsChoice *choice, const Execution *quiet, guint step)
{
  Draws *draws = g_new0 (Draws, 1);

  draws->graph = execution_graph (quiet);
  draws->choice = *choice;
  draws->pause_every = pause_every (choice->spec, length (quiet, step));
  draws->contents = contents_new (choice, draws->graph);
  if (!noise_drawn (choice->spec))
    return draws;
  if (!choice->each)
    {
      draws->slowest = slowest_new (choice, quiet, step, draws->pause_every, draws->contents);
      return draws;
    }
  find_kernels (draws);
  draws->phase = g_new0 (double, MAX (draws->graph->classes->len, 1));
  for (guint i = 0; i < draws->graph->classes->len; i++)
    {
      const RandomKey key = { choice->seed, 0, choice->spec->pause_together ? 0 : i, DRAWN_PHASE };

      draws->phase[i] = random_uniform (&key, 0);
    }
  return draws;
}

void
draws_free (Draws *draws)
{
  if (draws == NULL)
    return;
  slowest_free (draws->slowest);
  contents_free (draws->contents);
  if (draws->kernels != NULL)
    g_array_unref (draws->kernels);
  g_free (draws->phase);
  g_free (draws);
}

static void
draw_kernels (const Draws *draws, guint64 step, double *seconds)
{
  const NoiseSpec *spec = draws->choice.spec;
  const gboolean normal = spec->distribution == NOISE_NORMAL;
  const double s2 = log1p (spec->kernel_cv * spec->kernel_cv), s = sqrt (s2);
  RandomStream stream = { 0, 0 };
  guint class = G_MAXUINT;
  double whole = 1;

  for (guint i = 0; i < draws->kernels->len; i++)
    {
      const DrawnKernel *kernel = &g_array_index (draws->kernels, DrawnKernel, i);

      if (kernel->class != class)
        {
          const RandomKey key = { draws->choice.seed, step, kernel->class, DRAWN_KERNEL };
          const RandomKey of_step = { draws->choice.seed, step, kernel->class, DRAWN_STEP };

          class = kernel->class;
          stream = random_stream (&key);
          whole = spec->step_cv > 0 ? maxima_factor (spec->step_cv, normal, random_normal (&of_step, 0)) : 1;
        }
      seconds[kernel->task] *= whole;
      if (!(spec->kernel_cv > 0))
        continue;
      const double z = random_stream_normal (&stream, kernel->index);

      seconds[kernel->task] *= normal ? fmax (0, 1 + spec->kernel_cv * z) : exp (s * z - s2 / 2);
    }
}

static void
draw_each (const Draws *draws, guint64 step, double *seconds)
{
  const StepGraph *graph = draws->graph;

  if (noise_spread (draws->choice.spec))
    draw_kernels (draws, step, seconds);
  for (guint i = 0; draws->pause_every > 0 && graph->pauses != G_MAXUINT && i < graph->classes->len; i++)
    seconds[graph->pauses + i] = draws->choice.spec->pause * draws_pauses (draws->phase[i], draws->pause_every, step);
}

void
draws_step (gpointer user, guint64 step, double *seconds)
{
  const Draws *draws = user;

  for (guint i = 0; i < draws->graph->tasks->len; i++)
    seconds[i] = graph_task (draws->graph, i)->seconds;
  if (draws->slowest != NULL)
    slowest_step (draws->slowest, step, seconds);
  else if (noise_drawn (draws->choice.spec))
    draw_each (draws, step, seconds);
  if (draws->contents != NULL)
    contents_step (draws->contents, step, seconds);
}
