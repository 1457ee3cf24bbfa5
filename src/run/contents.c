/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/contents.h"
#include "base/random.h"
#include "run/behind.h"
#include "run/maxima.h"
#include "run/stops.h"
#include <math.h>

/* Below this skewness a normal number is as good. */
static const double symmetric = 1e-3;

typedef struct { guint task, row, spread, micro; } Varying;

struct Contents
{
  const StepGraph *graph;
  DrawsChoice      choice;
  GArray          *tasks;     /* of Varying */
  guint            n_rows;    /* replicas, or classes of which the slowest is drawn */
  guint            n_micro;
  ContentsShape   *shapes;    /* of each spread */
  double          *replicas;  /* of each class: of so many the slowest is drawn */
  double          *inner;     /* [class x n_micro + micro]: so many meet inside a micro-batch, 1: none */
  double          *share;     /* of each class */
  double          *values;    /* [row x spreads x n_micro]: of the step at work */
};

/* (w + 2) sqrt (w - 1) is the skewness of a lognormal with w = exp (sigma^2). */
static double
lognormal_w (double skewness)
{
  const double g2 = skewness * skewness, root = cbrt (1 + g2 / 2 + sqrt (g2 + g2 * g2 / 4));

  return root + 1 / root - 1;
}

static double
raw_value (const ContentsShape *shape, double z)
{
  return shape->normal ? 1 + shape->scale * z
                       : shape->shift + shape->scale * exp (shape->sigma * z - shape->sigma * shape->sigma / 2);
}

double
contents_value (const ContentsShape *shape, double z)
{
  return fmin (shape->most, fmax (0, shape->factor * raw_value (shape, z)));
}

/* By trapezoids over the normal number. */
static double
mean_value (const ContentsShape *shape)
{
  static const int points = 256;
  static const double reach = 8;
  double weights = 0, sum = 0;

  for (int i = 1; i < points; i++)
    {
      const double z = reach * (2.0 * i / points - 1), weight = exp (-z * z / 2);

      weights += weight;
      sum += weight * contents_value (shape, z);
    }
  return sum / weights;
}

/* What the upper end cuts off is made up for, so that the mean stays 1. */
ContentsShape
contents_shape (const GraphSpread *spread)
{
  static const int rounds = 20;
  const double root = spread->third_root / spread->deviation, skewness = root * root * root;
  ContentsShape shape = { .normal = !(skewness > symmetric), .scale = spread->deviation, .factor = 1, .most = spread->most };

  if (!shape.normal)
    {
      const double w = lognormal_w (skewness);

      shape.sigma = sqrt (log (w));
      shape.scale = spread->deviation / sqrt (w - 1);
      shape.shift = 1 - shape.scale;
    }
  for (int i = 0; i < rounds; i++)
    shape.factor /= mean_value (&shape);
  return shape;
}

static guint
class_of (const StepGraph *graph, guint task)
{
  return g_array_index (graph->queues, GraphQueue, graph_task (graph, task)->queue).rank_class;
}

static gboolean
staged (const StepGraph *graph)
{
  return graph->stages > 1 || graph->sharing > 1;
}

/* Ranks of each stage stand together, those that share a micro-batch in a row. */
static guint
row_of (const Contents *contents, guint class)
{
  const StepGraph *graph = contents->graph;
  const guint64 ranks = graph_world (graph) / graph->stages;

  return contents->choice.each ? (guint) (class % ranks / graph->sharing) : class;
}

static void
find_tasks (Contents *contents)
{
  const StepGraph *graph = contents->graph;

  contents->tasks = g_array_new (FALSE, FALSE, sizeof (Varying));
  for (guint i = 0; i < graph->tasks->len; i++)
    {
      const GraphTask *task = graph_task (graph, i);
      const Varying varying = { i, task->spread > 0 ? row_of (contents, class_of (graph, i)) : 0, task->spread - 1, task->micro };

      if (task->spread == 0)
        continue;
      g_array_append_val (contents->tasks, varying);
      contents->n_rows = MAX (contents->n_rows, varying.row + 1);
      contents->n_micro = MAX (contents->n_micro, varying.micro + 1);
    }
}

/* Where each micro-batch begins and ends on the compute queue of a class. */
typedef struct { guint from, to; } Reach;

/* Replicas that meet at a stop: its ranks may share micro-batches. */
static double
replicas_at (const StepGraph *graph, const Stop *stop)
{
  return fmax (1, fmin ((double) stop->ranks, (double) stop->span / (double) graph->sharing));
}

/* A meeting is inside a micro-batch if its ranks come to it only once they have begun
 * with it, and a kernel of it waits for the meeting. */
static void
find_inner (Contents *contents)
{
  const StepGraph *graph = contents->graph;
  const guint n = contents->n_micro, classes = graph->classes->len;
  g_autofree Reach *reach = g_new0 (Reach, (gsize) n * classes);
  g_autofree guint *behind = behind_find (graph);

  contents->inner = g_new (double, (gsize) n * classes);
  for (guint i = 0; i < n * classes; i++)
    contents->inner[i] = 1;
  for (guint i = 0; i < contents->tasks->len; i++)
    {
      const Varying *varying = &g_array_index (contents->tasks, Varying, i);
      Reach *where = &reach[varying->row * n + varying->micro];

      where->from = where->to == 0 ? varying->task : where->from;
      where->to = varying->task + 1;
    }
  for (guint i = 0; i < graph->edges->len; i++)
    {
      const GraphEdge *edge = &g_array_index (graph->edges, GraphEdge, i);
      const Stop stop = stops_of (graph, edge);
      const double met = stop.ranks > 1 ? replicas_at (graph, &stop) : 1;
      const guint class = met > 1 ? class_of (graph, edge->after) : 0;

      for (guint k = class * n; met > 1 && k < (class + 1) * n; k++)
        if (behind[edge->before] > reach[k].from && edge->after < reach[k].to)
          contents->inner[k] = fmax (contents->inner[k], met);
    }
}

/* Of one step, when nothing is met: of the drawn contents and of [noise]. */
static void
find_shares (Contents *contents)
{
  const StepGraph *graph = contents->graph;
  const NoiseSpec *noise = contents->choice.spec;
  const guint n = contents->n_micro, classes = graph->classes->len;
  g_autofree double *deviations = g_new0 (double, (gsize) n * classes), *work = g_new0 (double, classes), *kernels = g_new0 (double, classes);

  contents->share = g_new (double, classes);
  for (guint i = 0; i < graph->tasks->len; i++)
    {
      const GraphTask *task = graph_task (graph, i);
      const guint class = class_of (graph, i);

      if (task->kind != GRAPH_KERNEL)
        continue;
      work[class] += task->seconds;
      kernels[class] += task->seconds * task->seconds;
      if (task->spread > 0)
        deviations[class * n + task->micro] += task->seconds * g_array_index (graph->spreads, GraphSpread, task->spread - 1).deviation;
    }
  for (guint class = 0; class < classes; class++)
    {
      const double step = noise->step_cv * work[class], other = step * step + noise->kernel_cv * noise->kernel_cv * kernels[class];
      double own = 0;

      for (guint i = class * n; i < (class + 1) * n; i++)
        own += deviations[i] * deviations[i];
      contents->share[class] = own > 0 ? own / (own + other) : 0;
    }
}

/* The extreme of two spreads together lies where each has the largest of n to its
 * share of the variance: sqrt (2 ln n) goes with the square root of it. */
static double
part_of (double n, double share)
{
  return share < 1 ? pow (n, share) : n;
}

static void
find_replicas (Contents *contents)
{
  const StepGraph *graph = contents->graph;
  const double all = (double) (graph_world (graph) / graph->stages / graph->sharing);

  find_inner (contents);
  contents->replicas = g_new (double, graph->classes->len);
  for (guint class = 0; class < graph->classes->len; class++)
    {
      const double n = staged (graph) ? all : (double) g_array_index (graph->classes, RankClass, class).multiplicity;

      contents->replicas[class] = part_of (n, contents->share[class]);
      for (guint i = class * contents->n_micro; i < (class + 1) * contents->n_micro; i++)
        contents->inner[i] = part_of (fmin (contents->inner[i], n), contents->share[class]);
    }
}

Contents *
contents_new (const DrawsChoice *choice, const StepGraph *graph)
{
  Contents *contents;

  if (graph->spreads->len == 0)
    return NULL;
  contents = g_new0 (Contents, 1);
  contents->graph = graph;
  contents->choice = *choice;
  find_tasks (contents);
  find_shares (contents);
  if (!choice->each)
    find_replicas (contents);
  contents->shapes = g_new (ContentsShape, graph->spreads->len);
  for (guint i = 0; i < graph->spreads->len; i++)
    contents->shapes[i] = contents_shape (&g_array_index (graph->spreads, GraphSpread, i));
  contents->values = g_new (double, MAX (1, (gsize) contents->n_rows * graph->spreads->len * contents->n_micro));
  return contents;
}

void
contents_free (Contents *contents)
{
  if (contents == NULL)
    return;
  g_array_unref (contents->tasks);
  g_free (contents->shapes);
  g_free (contents->replicas);
  g_free (contents->inner);
  g_free (contents->share);
  g_free (contents->values);
  g_free (contents);
}

double
contents_share (const Contents *contents, guint rank_class)
{
  return contents != NULL ? contents->share[rank_class] : 0;
}

/* Normal numbers of the micro-batches of a replica, or of the slowest of a class;
 * replicas of a pipeline are the same ones in all its stages. */
static void
draw_row (const Contents *contents, guint row, guint64 step, double *z)
{
  const RandomKey key = { contents->choice.seed, step, !contents->choice.each && staged (contents->graph) ? 0 : row, DRAWN_CONTENTS };
  const RandomStream stream = random_stream (&key);
  const guint n = contents->n_micro;
  double sum = 0, moved = 0;

  for (guint i = 0; i < n; i++)
    {
      z[i] = random_stream_normal (&stream, i);
      sum += z[i];
    }
  if (contents->choice.each)
    return;
  sum /= sqrt (n);
  for (guint i = 0; i < n; i++)
    {
      const double inner = contents->inner[row * n + i];

      moved = (maxima_largest (sum, contents->replicas[row] / inner) - sum) / sqrt (n);
      z[i] = maxima_largest (z[i] + moved, inner);
    }
}

void
contents_step (Contents *contents, guint64 step, double *seconds)
{
  const guint n = contents->n_micro, spreads = contents->graph->spreads->len;
  g_autofree double *z = g_new (double, MAX (n, 1));

  for (guint row = 0; row < contents->n_rows; row++)
    {
      draw_row (contents, row, step, z);
      for (guint k = 0; k < spreads; k++)
        for (guint i = 0; i < n; i++)
          contents->values[(row * spreads + k) * n + i] = contents_value (&contents->shapes[k], z[i]);
    }
  for (guint i = 0; i < contents->tasks->len; i++)
    {
      const Varying *varying = &g_array_index (contents->tasks, Varying, i);

      seconds[varying->task] *= contents->values[(varying->row * spreads + varying->spread) * n + varying->micro];
    }
}
