/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/summary.h"
#include "strategy/blocks.h"
#include "strategy/packed.h"
#include <math.h>
#include <stdlib.h>

void
summary_add_time (NamedTime **times, guint *n, const char *name, double seconds)
{
  for (guint i = 0; i < *n; i++)
    {
      if (g_str_equal ((*times)[i].name, name))
        {
          (*times)[i].seconds += seconds;
          return;
        }
    }
  *times = g_renew (NamedTime, *times, *n + 1);
  (*times)[*n] = (NamedTime) { g_strdup (name), seconds };
  (*n)++;
}

/* Mean seconds a step of a sum over all ranks of the window. */
static double
mean_seconds (RankTicks ticks, const Ledger *ledger, guint steps)
{
  return (double) ticks / (double) ledger->world / steps / TICKS_PER_S;
}

static int
longer_first (gconstpointer a, gconstpointer b)
{
  const double x = ((const NamedTime *) a)->seconds, y = ((const NamedTime *) b)->seconds;

  return (x < y) - (x > y);
}

static void
split_exposed (Result *r, const Ledger *ledger, const guint *kinds, const Execution *x, guint steps)
{
  for (guint i = 0; i < execution_graph (x)->calls->len; i++)
    r->collectives[kinds[i]].exposed_s += mean_seconds (ledger->by_call[i], ledger, steps);
  for (guint i = 0; i < r->n_collectives; i++)
    {
      const CollectiveUse *use = &r->collectives[i];

      if (use->exposed_s > 0)
        summary_add_time (&r->exposed, &r->n_exposed, use->link != NULL ? use->link : "latency", use->exposed_s);
    }
  if (ledger->contention > 0)
    summary_add_time (&r->exposed, &r->n_exposed, "contention",
                      mean_seconds (ledger->contention, ledger, steps));
  if (r->n_exposed > 1)
    qsort (r->exposed, r->n_exposed, sizeof *r->exposed, longer_first);
}

void
summary_ledger (Result *r, const Played *played, const guint *kinds)
{
  const Ledger *ledger = played->ledger;

  for (guint cause = 0; cause < N_CAUSES; cause++)
    {
      r->ledger[cause] = mean_seconds (ledger->cause[cause], ledger, played->steps);
      if (ledger->path[cause] > 0)
        summary_add_time (&r->path, &r->n_path,
                          cause == CAUSE_EXPOSED_COMM ? "communication" : cause_titles[cause],
                          seconds_from_ticks (ledger->path[cause]) / played->steps);
    }
  r->gpu_idle_share = 1 - (double) ledger->kernels / (double) ledger->world / (double) (ledger->to - ledger->from);
  if (ledger->to == ledger->from)
    r->gpu_idle_share = 0;
  split_exposed (r, ledger, kinds, played->x, played->steps);
}

static void
add_span (GArray *spans, const Window *window, Tick from, Tick to, const char *label, Cause cause, gboolean busy)
{
  const Tick a = MAX (from, window->from), b = MIN (to, window->to);

  if (b > a)
    {
      const Span span = { seconds_from_ticks (a - window->from), seconds_from_ticks (b - window->from),
                          g_strdup (label), cause, busy };

      g_array_append_val (spans, span);
    }
}

static void
fill_lane (Lane *lane, const Execution *x, const Window *window, guint queue)
{
  const Engine *engine = execution_engine (x);
  const GraphQueue *what = &g_array_index (execution_graph (x)->queues, GraphQueue, queue);
  g_autoptr (GArray) spans = g_array_new (FALSE, FALSE, sizeof (Span));

  for (Id id = engine_queue_first (engine, execution_queue (x, queue)); id != 0;)
    {
      const Task *task = engine_get_task (engine, id);
      const GraphTask *source = execution_task (x, id, NULL);

      if (task->kind == TASK_MEET)
        {
          const Tick met = execution_met (x, task);

          add_span (spans, window, task->start, met, source->label, CAUSE_WAIT, FALSE);
          add_span (spans, window, met, task->end, source->label, CAUSE_EXPOSED_COMM, TRUE);
        }
      else
        add_span (spans, window, task->start, task->end, source->label, source->cause, source->kind == GRAPH_KERNEL || what->kind != LANE_COMPUTE);
      id = task->next;
    }
  lane->name = g_strdup (what->name);
  lane->n_spans = spans->len;
  lane->spans = (Span *) (void *) g_array_steal (spans, NULL);
}

void
summary_lanes (Result *r, const Execution *x, const Window *window)
{
  static const LaneKind order[] = { LANE_HOST, LANE_INPUT, LANE_COMPUTE, LANE_COMM };
  const GArray *queues = execution_graph (x)->queues;

  r->lanes = g_new0 (Lane, queues->len);
  for (guint kind = 0; kind < G_N_ELEMENTS (order); kind++)
    for (guint i = 0; i < queues->len; i++)
      {
        const GraphQueue *queue = &g_array_index (queues, GraphQueue, i);

        if (queue->kind != order[kind] || queue->rank_class != 0
            || engine_queue_first (execution_engine (x), execution_queue (x, i)) == 0)
          continue;
        fill_lane (&r->lanes[r->n_lanes++], x, window, i);
      }
}

/* FLOP of a training sample: forward, and twice that backward, of the layers
 * that MFU counts: attention inside documents where kernels keep to it; with what
 * is computed `again`, HFU's. */
static double
sample_flop (const StepInput *input, gboolean again)
{
  const Workload *workload = input->workload;
  g_autofree guint *blocks = blocks_find (workload);
  double flop = 0;

  for (guint i = 0; i < workload->n_layers; i++)
    {
      const LayerKind kind = workload->layers[i].kind;

      if (kind == LAYER_CONV || kind == LAYER_GEMM || kind == LAYER_RECURRENT || kind == LAYER_ATTENTION)
        flop += (again && blocks_recomputed (input, blocks, i) ? 4 : 3) * workload->layers[i].flop * packed_work (input, &workload->layers[i]);
    }
  return flop;
}

/* Tokens that a sample holds on average. */
static double
sample_tokens (const Point *point)
{
  const Shape *shape = &point->workload->dims;

  if (shape->architecture == ARCHITECTURE_NONE || shape->architecture == ARCHITECTURE_VIT)
    return 0;
  return (double) shape->sequence * packed_tokens (&point->input);
}

void
summary_rates (Result *r, const Point *point)
{
  const TrainingSpec *training = &point->scenario->training;
  const double samples = training->samples > 0 ? (double) training->samples : point->workload->samples_per_epoch;
  const double peak = point->compute.peak_tensor;
  g_autofree char *rate = quantity_format (peak, UNIT_FLOP_RATE);

  r->throughput = (double) r->global_batch / r->step_time;
  r->throughput_per_gpu = r->throughput / (double) r->gpus;
  r->tokens_per_sample = sample_tokens (point);
  r->epoch_time = samples / r->throughput;
  r->mfu = r->hfu = NAN;   /* of kernels that take no time there is none */
  if (!point->compute.ideal)
    {
      r->mfu = sample_flop (&point->input, FALSE) * r->throughput_per_gpu / peak;
      r->hfu = sample_flop (&point->input, TRUE) * r->throughput_per_gpu / peak;
    }
  r->peak_name = g_strdup_printf ("%s dense %s", rate, precision_names[point->compute.precision]);
  r->cost_per_hour = cluster_price_per_hour (point->cluster);
  r->cost_per_million_samples = r->cost_per_hour / 3600 / r->throughput * 1e6;
}
