/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategy/pipeline-order.h"

/* Queues of a class besides those that graph_class () makes, in this order. */
enum { QUEUE_DATA, QUEUE_SEND_AHEAD, QUEUE_TAKE_AHEAD, QUEUE_SEND_BACK, QUEUE_TAKE_BACK, N_QUEUES };
static const char *const queue_names[N_QUEUES] = {
  "data-parallel", "send ahead", "receive ahead", "send back", "receive back",
};

typedef struct
{
  const Pipeline *p;
  StepGraph      *graph;
  PipelineRows   *rows;
  guint          *start, *end;    /* rows of each pass, by pass_index () */
  GArray        **order;          /* of PipelinePass, a stage */
} Build;

/* Who meets whom in one kind of group. */
typedef struct { PipelineGroup group; guint n; guint *of; } Meetings;

static guint
pass_index (const Pipeline *p, guint stage, const PipelinePass *pass)
{
  const guint n = p->stages * p->chunks;

  return ((pass->back ? n : 0) + pass->chunk * p->stages + stage) * p->micro_batches + pass->micro_batch;
}

/* Slow ranks fill stage after stage; parts are the same on all stages, since rank i
 * of one talks to rank i of the next. */
static void
part_ranks (Build *b)
{
  const Pipeline *p = b->p;
  PipelineRows *rows = b->rows;
  const guint64 slow = p->slow_factor > 1 ? MIN (p->slow_ranks, p->ranks * p->stages) : 0;

  const gboolean divides = p->period > 0 && p->period < p->ranks && p->ranks % p->period == 0;

  if (p->period > 0 && slow == 0 && !p->unfold)   /* stages too small for it: rank by rank */
    rows->partition = partition_periodic (p->ranks, divides ? p->period : p->ranks);
  else
    rows->partition = partition_new (p->ranks, slow % p->ranks, p->unfold, p->groups, p->n_groups);
  rows->meetings = g_array_new (FALSE, FALSE, sizeof (Meetings));
  if (slow == 0)
    return;
  rows->factor = g_new (double, p->stages * rows->partition->n);
  for (guint stage = 0; stage < p->stages; stage++)
    for (guint i = 0; i < rows->partition->n; i++)
      rows->factor[stage * rows->partition->n + i] = stage * p->ranks + rows->partition->first[i] < slow ? p->slow_factor : 1;
}

static void
add_classes (Build *b)
{
  PipelineRows *rows = b->rows;

  part_ranks (b);
  rows->copies = rows->partition->n;
  rows->queue_step = N_QUEUES + 2;   /* graph_class () makes two */
  rows->first_class = g_new (guint, b->p->stages);
  rows->data_queue = g_new (guint, b->p->stages);
  for (guint stage = 0; stage < b->p->stages; stage++)
    for (guint copy = 0; copy < rows->copies; copy++)
      {
        const guint class = graph_class (b->graph, rows->partition->size[copy]);

        g_array_index (b->graph->classes, RankClass, class).stage = stage + 1;
        for (guint i = 0; i < N_QUEUES; i++)
          {
            const guint queue = graph_queue (b->graph, LANE_COMM, class, queue_names[i]);

            if (copy == 0 && i == QUEUE_DATA)
              rows->data_queue[stage] = queue;
          }
        if (copy == 0)
          rows->first_class[stage] = class;
      }
  if (b->p->pauses)
    graph_pauses (b->graph, b->p->pause_cause);
}

static guint
queue_at (const PipelineRows *rows, guint stage, guint copy, guint queue)
{
  return rows->data_queue[stage] + copy * rows->queue_step + queue;
}

static void
edge_rows (StepGraph *graph, const PipelineRows *rows, guint before, guint after)
{
  for (guint i = 0; i < rows->copies; i++)
    graph_edge (graph, before + i, after + i);
}

static void
wait_for_open (StepGraph *graph, PipelineRows *rows, guint stage, guint row)
{
  GArray *open = rows->open[stage];

  for (guint i = 0; i < open->len; i++)
    edge_rows (graph, rows, g_array_index (open, guint, i), row);
  g_array_set_size (open, 0);
}

static guint
compute_row (StepGraph *graph, PipelineRows *rows, guint stage, GraphKind kind, Cause cause, double seconds, double noise,
             const char *label)
{
  guint first = 0;

  for (guint copy = 0; copy < rows->copies; copy++)
    {
      const RankClass *class = &g_array_index (graph->classes, RankClass, rows->first_class[stage] + copy);
      const double factor = rows->factor != NULL ? rows->factor[stage * rows->copies + copy] : 1;
      const guint task = kind == GRAPH_KERNEL ? graph_kernel (graph, class->compute, cause, seconds * factor, noise, label)
                                              : graph_fixed (graph, class->compute, cause, seconds, label);

      if (copy == 0)
        first = task;
    }
  wait_for_open (graph, rows, stage, first);
  return first;
}

guint
pipeline_compute (StepGraph *graph, PipelineRows *rows, guint stage, GraphKind kind, Cause cause, double seconds, const char *label)
{
  const guint row = compute_row (graph, rows, stage, kind, cause, seconds, 1, label);

  g_array_append_val (rows->open[stage], row);   /* for collectives: the queue itself is in order */
  return row;
}

static const Meetings *
find_meetings (const PipelineRows *rows, const PipelineGroup *group)
{
  Meetings found = { .group = *group };

  for (guint i = 0; i < rows->meetings->len; i++)
    {
      const Meetings *known = &g_array_index (rows->meetings, Meetings, i);

      if (known->group.size == group->size && known->group.stride == group->stride)
        return known;
    }
  found.of = partition_meetings (rows->partition, group, &found.n);
  g_array_append_val (rows->meetings, found);
  return &g_array_index (rows->meetings, Meetings, rows->meetings->len - 1);
}

/* Members on the queue `first` of the stage's first class and those of the others. */
static guint
group_row (StepGraph *graph, const PipelineRows *rows, guint first, const PipelineCall *call)
{
  const Meetings *meetings = find_meetings (rows, &call->group);
  guint row = 0, first_call = 0;

  for (guint i = 0; i < meetings->n; i++)
    {
      const guint index = graph_call (graph, &call->call);

      if (i == 0)
        first_call = index;
    }
  for (guint copy = 0; copy < rows->copies; copy++)
    {
      const guint task = graph_meet (graph, first + copy * rows->queue_step, first_call + meetings->of[copy]);

      if (copy == 0)
        row = task;
    }
  return row;
}

guint
pipeline_collective (StepGraph *graph, PipelineRows *rows, guint stage, guint after, const PipelineCall *call)
{
  const guint row = group_row (graph, rows, rows->data_queue[stage], call);

  edge_rows (graph, rows, after, row);
  return row;
}

void
pipeline_edge (StepGraph *graph, const PipelineRows *rows, guint before, guint after)
{
  edge_rows (graph, rows, before, after);
}

void
pipeline_meet (StepGraph *graph, PipelineRows *rows, guint from, guint n, guint step, const GraphCall *call)
{
  const guint index = graph_call (graph, call);

  for (guint i = 0; i < n; i++)
    {
      const guint stage = from + i * step;
      guint row = 0;

      for (guint copy = 0; copy < rows->copies; copy++)
        {
          const guint task = graph_meet (graph, queue_at (rows, stage, copy, QUEUE_DATA), index);

          if (copy == 0)
            row = task;
        }
      wait_for_open (graph, rows, stage, row);
      g_array_append_val (rows->open[stage], row);
    }
}

/* The kernels of a pass, in pieces where gradients of its layers travel early or
 * its parameters come late. */
static guint
add_kernels (Build *b, guint stage, const PipelinePass *pass, const PipelineWork *work)
{
  const Pipeline *p = b->p;
  const guint virtual_stage = pass->chunk * p->stages + stage;
  const gboolean last = pass->back && pass->micro_batch + 1 == p->micro_batches;
  const gboolean opens = !pass->back && pass->micro_batch == 0 && p->gathers != NULL;
  const guint pieces = last && p->pieces != NULL ? MAX (p->pieces[virtual_stage], 1) : opens ? MAX (p->gathers[virtual_stage], 1) : 1;
  guint first = 0, row = 0;

  if (last)
    b->rows->piece[virtual_stage] = g_new (guint, pieces);
  if (opens)
    b->rows->taker[virtual_stage] = g_new (guint, pieces);
  for (guint i = 0; i < pieces; i++)
    {
      row = compute_row (b->graph, b->rows, stage, GRAPH_KERNEL, CAUSE_COMPUTE, work->seconds / pieces, p->noise,
                         pass->back ? "backward" : "forward");
      for (guint copy = 0; copy < b->rows->copies; copy++)
        graph_vary (b->graph, row + copy, work->spread, pass->micro_batch);
      if (i == 0)
        first = row;
      if (last)
        b->rows->piece[virtual_stage][i] = row;
      if (opens)
        b->rows->taker[virtual_stage][i] = row;
    }
  if (pass->back && !last && p->round > 0 && (pass->micro_batch + 1) % p->round == 0)
    b->rows->round[virtual_stage][pass->micro_batch / p->round] = row;
  if (work->host > 0)
    row = compute_row (b->graph, b->rows, stage, GRAPH_FIXED, CAUSE_HOST, work->host, 1, "issue of operators");
  b->start[pass_index (p, stage, pass)] = first;
  return row;
}

static void
add_stage (Build *b, guint stage)
{
  const GArray *order = b->order[stage];

  if (b->p->gathers != NULL)
    b->rows->begin[stage] = compute_row (b->graph, b->rows, stage, GRAPH_FIXED, CAUSE_OTHER, 0, 1, "begin of the step");
  for (guint i = 0; i < order->len; i++)
    {
      const PipelinePass *pass = &g_array_index (order, PipelinePass, i);
      const guint virtual_stage = pass->chunk * b->p->stages + stage;
      const PipelineWork *work = pass->back ? &b->p->backward[virtual_stage] : &b->p->forward[virtual_stage];
      const guint kernels = add_kernels (b, stage, pass, work);
      guint end = kernels;

      for (guint k = 0; k < work->n_calls; k++)
        {
          end = group_row (b->graph, b->rows, b->rows->data_queue[stage] - 1, &work->call[k])   /* class->comm */;
          edge_rows (b->graph, b->rows, kernels, end);
        }
      if (end != kernels || i + 1 == order->len)
        g_array_append_val (b->rows->open[stage], end);
      b->end[pass_index (b->p, stage, pass)] = end;
    }
}

/* A message from one stage to another behind a row, before a row; what the sender
 * does next waits for it where sends block. */
static void
add_message (Build *b, const GraphCall *message, guint from, guint to, gboolean back, gboolean last, guint after, guint before,
             guint next)
{
  const guint copies = b->rows->copies, first = b->graph->calls->len;
  guint sent = 0, taken = 0;

  for (guint copy = 0; copy < copies; copy++)
    graph_call (b->graph, message);
  for (guint copy = 0; copy < copies; copy++)
    {
      const guint task = graph_meet (b->graph, queue_at (b->rows, from, copy, back ? QUEUE_SEND_BACK : QUEUE_SEND_AHEAD), first + copy);

      sent = copy == 0 ? task : sent;
    }
  for (guint copy = 0; copy < copies; copy++)
    {
      const guint task = graph_meet (b->graph, queue_at (b->rows, to, copy, back ? QUEUE_TAKE_BACK : QUEUE_TAKE_AHEAD), first + copy);

      taken = copy == 0 ? task : taken;
    }
  edge_rows (b->graph, b->rows, after, sent);
  edge_rows (b->graph, b->rows, taken, before);
  if (b->p->blocking && next != 0)
    edge_rows (b->graph, b->rows, sent, next - 1);
  else if (last || next == 0)   /* those before it are over by then: one queue */
    g_array_append_val (b->rows->open[from], sent);
}

/* Messages go in the order in which their sender computes. */
static void
add_messages (Build *b, guint stage)
{
  const Pipeline *p = b->p;
  const GArray *order = b->order[stage];
  const guint last = p->stages * p->chunks - 1;

  for (guint i = 0; i < order->len; i++)
    {
      const PipelinePass *pass = &g_array_index (order, PipelinePass, i);
      const guint virtual_stage = pass->chunk * p->stages + stage;
      const guint to = pass->back ? virtual_stage - 1 : virtual_stage + 1;
      const PipelinePass there = { pass->back, to / p->stages, pass->micro_batch };
      guint next = 0;

      if (pass->back ? virtual_stage == 0 : virtual_stage == last)
        continue;
      if (i + 1 < order->len)
        next = b->start[pass_index (p, stage, &g_array_index (order, PipelinePass, i + 1))] + 1;
      add_message (b, pass->back ? &p->back[virtual_stage] : &p->ahead[virtual_stage], stage, to % p->stages, pass->back,
                   pass->micro_batch + 1 == p->micro_batches, b->end[pass_index (p, stage, pass)], b->start[pass_index (p, to % p->stages, &there)], next);
    }
}

void
pipeline_build (const Pipeline *pipeline, StepGraph *graph, PipelineRows *rows)
{
  const guint passes = 2 * pipeline->stages * pipeline->chunks * pipeline->micro_batches;
  Build b = { .p = pipeline, .graph = graph, .rows = rows };

  *rows = (PipelineRows) { 0 };
  b.start = g_new0 (guint, passes);
  b.end = g_new0 (guint, passes);
  b.order = g_new (GArray *, pipeline->stages);
  rows->piece = g_new0 (guint *, pipeline->stages * pipeline->chunks);
  rows->taker = g_new0 (guint *, pipeline->stages * pipeline->chunks);
  rows->round = g_new0 (guint *, pipeline->stages * pipeline->chunks);
  for (guint i = 0; pipeline->round > 0 && i < pipeline->stages * pipeline->chunks; i++)
    rows->round[i] = g_new0 (guint, pipeline->micro_batches / pipeline->round + 1);
  rows->begin = g_new0 (guint, pipeline->stages);
  rows->open = g_new (GArray *, pipeline->stages);
  for (guint stage = 0; stage < pipeline->stages; stage++)
    {
      b.order[stage] = pipeline_order (pipeline, stage);
      rows->open[stage] = g_array_new (FALSE, FALSE, sizeof (guint));
    }
  add_classes (&b);
  for (guint stage = 0; stage < pipeline->stages; stage++)
    add_stage (&b, stage);
  for (guint stage = 0; stage < pipeline->stages; stage++)
    add_messages (&b, stage);
  for (guint stage = 0; stage < pipeline->stages; stage++)
    g_array_unref (b.order[stage]);
  g_free (b.order);
  g_free (b.start);
  g_free (b.end);
}

void
pipeline_rows_clear (PipelineRows *rows, const Pipeline *pipeline)
{
  for (guint i = 0; i < pipeline->stages * pipeline->chunks; i++)
    {
      g_free (rows->piece[i]);
      g_free (rows->taker[i]);
      g_free (rows->round[i]);
    }
  for (guint i = 0; i < pipeline->stages; i++)
    g_array_unref (rows->open[i]);
  for (guint i = 0; i < rows->meetings->len; i++)
    g_free (g_array_index (rows->meetings, Meetings, i).of);
  g_array_unref (rows->meetings);
  partition_free (rows->partition);
  g_free (rows->factor);
  g_free (rows->piece);
  g_free (rows->taker);
  g_free (rows->round);
  g_free (rows->begin);
  g_free (rows->open);
  g_free (rows->first_class);
  g_free (rows->data_queue);
}
