/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/report-parts.h"
#include "report/json-text.h"
#include <math.h>

static void
begin_object (JsonBuilder *b, const char *name)
{
  if (name != NULL)
    json_builder_set_member_name (b, name);
  json_builder_begin_object (b);
}

static void
begin_array (JsonBuilder *b, const char *name)
{
  json_builder_set_member_name (b, name);
  json_builder_begin_array (b);
}

/* The scenario: an object a group, in it {"value", "origin"} a key. */
typedef struct { JsonBuilder *builder; char *group; } ScenarioWriter;

static void
write_value (gpointer user, const char *group, const char *key, const char *text, const char *where)
{
  ScenarioWriter *writer = user;

  if (g_strcmp0 (writer->group, group) != 0)
    {
      if (writer->group != NULL)
        json_builder_end_object (writer->builder);
      begin_object (writer->builder, group);
      g_free (writer->group);
      writer->group = g_strdup (group);
    }
  begin_object (writer->builder, key);
  json_put_text (writer->builder, "value", text);
  json_put_text (writer->builder, "origin", where);
  json_builder_end_object (writer->builder);
}

static void
put_scenario (JsonBuilder *b, const char *name, const Scenario *scenario)
{
  ScenarioWriter writer = { .builder = b };

  begin_object (b, name);
  if (scenario != NULL)
    {
      json_put_text (b, "name", scenario->name);
      scenario_values (scenario, write_value, &writer);
    }
  if (writer.group != NULL)
    json_builder_end_object (b);
  g_free (writer.group);
  json_builder_end_object (b);
}

static void
put_named (JsonBuilder *b, const char *name, const NamedTime *times, guint n, const char *unit)
{
  begin_array (b, name);
  for (guint i = 0; i < n; i++)
    {
      begin_object (b, NULL);
      json_put_text (b, "name", times[i].name);
      json_put_number (b, unit, times[i].seconds);
      json_builder_end_object (b);
    }
  json_builder_end_array (b);
}

static void
put_times (JsonBuilder *b, const char *name, const NamedTime *times, guint n)
{
  put_named (b, name, times, n, "seconds");
}

static void
put_ledger (JsonBuilder *b, const Result *result)
{
  begin_array (b, "ledger");
  for (Cause cause = 0; cause < N_CAUSES; cause++)
    {
      begin_object (b, NULL);
      json_put_text (b, "cause", cause_names[cause]);
      json_put_number (b, "seconds", result->ledger[cause]);
      json_put_number (b, "share", result->ledger[cause] / result->step_time);
      json_builder_end_object (b);
    }
  json_builder_end_array (b);
}

static void
put_memory (JsonBuilder *b, const MemoryUse *memory, const GArray *stages)
{
  begin_object (b, "memory");
  json_put_number (b, "total_bytes", memory->total);
  json_put_bool (b, "fits", memory->fits);
  json_put_number (b, "capacity_bytes", memory->capacity);
  json_put_number (b, "margin_bytes", memory->margin);
  json_put_number (b, "weights_bytes", memory->weights);
  json_put_number (b, "gradients_bytes", memory->gradients);
  json_put_number (b, "optimizer_bytes", memory->optimizer);
  json_put_number (b, "activations_bytes", memory->activations);
  json_put_number (b, "buffers_bytes", memory->buffers);
  if (stages != NULL)
    {
      begin_array (b, "stages");
      for (guint i = 0; i < stages->len; i++)
        {
          const MemoryStage *stage = &g_array_index (stages, MemoryStage, i);

          begin_object (b, NULL);
          json_put_count (b, "stage", stage->stage);
          json_put_number (b, "total_bytes", stage->use.total);
          json_put_number (b, "margin_bytes", stage->use.margin);
          json_builder_end_object (b);
        }
      json_builder_end_array (b);
    }
  json_builder_end_object (b);
}

static void
put_collectives (JsonBuilder *b, const Result *result)
{
  begin_array (b, "collectives");
  for (guint i = 0; i < result->n_collectives; i++)
    {
      const CollectiveUse *use = &result->collectives[i];

      begin_object (b, NULL);
      json_put_text (b, "label", use->label);
      json_put_text (b, "op", use->op);
      json_put_text (b, "algorithm", use->algorithm);
      json_put_text (b, "protocol", use->protocol);
      json_put_text (b, "bound_by", use->link);
      json_put_number (b, "calls", (double) use->calls);
      json_put_number (b, "size_bytes", use->bytes);
      json_put_number (b, "nic_bytes", use->nic_bytes);
      json_put_number (b, "start_s", use->start);
      json_put_number (b, "end_s", use->end);
      json_put_number (b, "wire_s", use->wire_s);
      json_put_number (b, "latency_s", use->latency_s);
      json_put_number (b, "exposed_s", use->exposed_s);
      json_put_number (b, "busbw_Bps", use->busbw);
      json_builder_end_object (b);
    }
  json_builder_end_array (b);
}

static void
put_checks (JsonBuilder *b, const Result *result)
{
  begin_array (b, "checks");
  for (guint i = 0; i < result->n_checks; i++)
    {
      begin_object (b, NULL);
      json_put_text (b, "name", result->checks[i].name);
      json_put_bool (b, "ok", result->checks[i].ok);
      json_put_text (b, "detail", result->checks[i].detail);
      json_builder_end_object (b);
    }
  json_builder_end_array (b);
  begin_array (b, "findings");
  for (gsize i = 0; result->findings != NULL && result->findings[i] != NULL; i++)
    json_builder_add_string_value (b, result->findings[i]);
  json_builder_end_array (b);
  begin_array (b, "warnings");
  for (gsize i = 0; result->warnings != NULL && result->warnings[i] != NULL; i++)
    json_builder_add_string_value (b, result->warnings[i]);
  json_builder_end_array (b);
}

static void
put_identity (JsonBuilder *b, const Result *result)
{
  json_put_text (b, "strategy", result->strategy);
  json_put_text (b, "workload", result->workload);
  json_put_text (b, "precision", result->precision);
  json_put_text (b, "machine", result->machine);
  json_put_text (b, "gpu", result->gpu);
  json_put_count (b, "nodes", result->nodes);
  json_put_count (b, "gpus_per_node", result->gpus_per_node);
  json_put_count (b, "gpus", result->gpus);
  json_put_count (b, "global_batch", result->global_batch);
  json_put_count (b, "batch_per_gpu", result->batch_per_gpu);
  json_put_count (b, "accumulation", result->accumulation);
  json_put_count (b, "reduction_servers", result->reducers);
  json_put_count (b, "parameter_servers", result->servers);
}

static void
put_rates (JsonBuilder *b, const Result *result)
{
  begin_object (b, "step_time_s");
  json_put_number (b, "mean", result->step_time);
  json_put_number (b, "lo", result->step_lo);
  json_put_number (b, "hi", result->step_hi);
  json_builder_end_object (b);
  begin_object (b, "step_spread_s");
  json_put_number (b, "p50", result->spread_p50);
  json_put_number (b, "p95", result->spread_p95);
  json_put_number (b, "p99", result->spread_p99);
  json_builder_end_object (b);
  json_put_number (b, "throughput_samples_per_s", result->throughput);
  json_put_number (b, "throughput_per_gpu_samples_per_s", result->throughput_per_gpu);
  json_put_number (b, "throughput_tokens_per_s", result->tokens_per_sample > 0 ? result->throughput * result->tokens_per_sample : NAN);
  json_put_number (b, "one_gpu_throughput_samples_per_s", result->one_gpu_throughput);
  json_put_number (b, "epoch_time_s", result->epoch_time);
  json_put_number (b, "scaling_efficiency", result->scaling_efficiency);
  json_put_text (b, "efficiency_baseline", result->efficiency_baseline);
  json_put_number (b, "gpu_idle_share", result->gpu_idle_share);
  json_put_number (b, "mfu", result->mfu);
  json_put_number (b, "hfu", result->hfu);
  json_put_text (b, "peak", result->peak_name);
  json_put_number (b, "cost_per_hour_usd", result->cost_per_hour);
  json_put_number (b, "cost_per_million_samples_usd", result->cost_per_million_samples);
}

/* The members of a result, inside an object that is open. */
static void
put_result (JsonBuilder *b, const Result *result)
{
  put_identity (b, result);
  put_rates (b, result);
  put_ledger (b, result);
  put_times (b, "exposed", result->exposed, result->n_exposed);
  put_times (b, "critical_path", result->path, result->n_path);
  put_times (b, "what_if", result->what_if, result->n_what_if);
  put_named (b, "sensitivity", result->sensitivity, result->n_sensitivity, "relative");
  json_put_text (b, "validated_nearest", result->validated);
  put_memory (b, &result->memory, result->stages);
  put_collectives (b, result);
  put_checks (b, result);
  begin_object (b, "engine");
  json_put_text (b, "tier", result->tier);
  json_put_text (b, "tier_reason", result->tier_reason);
  json_put_count (b, "events", result->events);
  json_put_count (b, "tasks", result->tasks);
  json_put_count (b, "meetings", result->meetings);
  json_put_count (b, "messages", result->messages * result->steps);
  json_put_count (b, "solves", result->solves);
  json_put_count (b, "steps", result->steps);
  json_put_count (b, "drawn_steps", result->runs);
  json_put_bool (b, "steady", result->steady);
  json_builder_end_object (b);
}

static JsonBuilder *
begin_document (const char *command)
{
  JsonBuilder *b = json_builder_new ();

  json_builder_begin_object (b);
  json_put_count (b, "schema", 1);
  json_put_text (b, "program", "lockstep");
  json_put_text (b, "version", LOCKSTEP_VERSION);
  json_put_text (b, "command", command);
  return b;
}

static void
end_document (JsonBuilder *b, GString *out)
{
  json_builder_end_object (b);
  g_autoptr (JsonNode) root = json_builder_get_root (b);
  json_text_append (out, root);
  g_object_unref (b);
}

static void
put_scenarios (JsonBuilder *b, const Scenario *const *scenarios, guint n)
{
  begin_array (b, "scenarios");
  for (guint i = 0; i < n; i++)
    put_scenario (b, NULL, scenarios[i]);
  json_builder_end_array (b);
}

void
run_json (GString *out, const Scenario *const *scenarios, Result *const *results, guint n)
{
  JsonBuilder *b = begin_document ("run");

  if (n == 1)
    {
      put_scenario (b, "scenario", scenarios[0]);
      begin_object (b, "result");
      put_result (b, results[0]);
      json_builder_end_object (b);
    }
  else
    {
      put_scenarios (b, scenarios, n);
      begin_array (b, "points");
      for (guint i = 0; i < n; i++)
        {
          begin_object (b, NULL);
          json_put_text (b, "scenario", results[i]->scenario);
          put_result (b, results[i]);
          json_builder_end_object (b);
        }
      json_builder_end_array (b);
    }
  end_document (b, out);
}

static void
put_point (JsonBuilder *b, const ScaleStudy *study, const Curve *curve, guint index)
{
  begin_object (b, NULL);
  begin_object (b, "swept");
  for (guint k = 0; k < curve->n_swept; k++)
    json_put_text (b, curve->keys[k], curve->values[k]);
  json_builder_end_object (b);
  if (study->n_curves == 1)
    json_put_number (b, "measured_step_time_s", measured_step_time (study, curve->points[index]));
  json_put_bool (b, "beyond_knee", curve->knee < index);
  put_result (b, curve->points[index]);
  json_builder_end_object (b);
}

void
scale_json (GString *out, const Scenario *scenario, const ScaleStudy *study)
{
  JsonBuilder *b = begin_document ("scale");

  put_scenario (b, "scenario", scenario);
  json_put_text (b, "mode", study->strong ? "strong" : "weak");
  json_put_text (b, "baseline", study->baseline);
  json_put_number (b, "crossing", study->crossing);
  json_put_text (b, "crossing_key", study->crossing_key);
  json_put_text (b, "crossing_text", study->crossing_text);
  begin_array (b, "points");
  for (guint i = 0; i < study->n_curves; i++)
    {
      for (guint p = 0; p < study->curves[i].n_points; p++)
        put_point (b, study, &study->curves[i], p);
    }
  json_builder_end_array (b);
  end_document (b, out);
}

void
sweep_json_frame (GString *out, const Scenario *scenario)
{
  JsonBuilder *b = begin_document ("sweep");

  put_scenario (b, "scenario", scenario);
  begin_array (b, "points");
  json_builder_end_array (b);
  end_document (b, out);
}

void
sweep_json_point (GString *out, const SetPoint *point, const Result *result)
{
  g_autoptr (JsonBuilder) b = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;

  begin_object (b, NULL);
  begin_object (b, "swept");
  for (guint i = 0; i < point->n; i++)
    json_put_text (b, point->keys[i], point->values[i]);
  json_builder_end_object (b);
  put_result (b, result);
  json_builder_end_object (b);
  root = json_builder_get_root (b);
  json_text_append_part (out, root, 2);
}

static void
put_differences (JsonBuilder *b, const Comparison *comparison)
{
  begin_array (b, "differences");
  for (guint i = 0; i < comparison->n_differences; i++)
    {
      begin_object (b, NULL);
      json_put_text (b, "key", comparison->differences[i].key);
      begin_array (b, "values");
      for (guint k = 0; k < comparison->n; k++)
        {
          const char *value = comparison->differences[i].values[k];
          json_builder_add_string_value (b, value != NULL ? value : "");
        }
      json_builder_end_array (b);
      json_builder_end_object (b);
    }
  json_builder_end_array (b);
}

void
compare_json (GString *out, const Scenario *const *scenarios, const Comparison *comparison)
{
  JsonBuilder *b = begin_document ("compare");

  put_scenarios (b, scenarios, comparison->n);
  put_differences (b, comparison);
  begin_array (b, "points");
  for (guint i = 0; i < comparison->n; i++)
    {
      begin_object (b, NULL);
      json_put_text (b, "scenario", comparison->results[i]->scenario);
      json_put_count (b, "rank", comparison->rank[i]);
      json_put_text (b, "reason", comparison->reasons[i]);
      put_result (b, comparison->results[i]);
      json_builder_end_object (b);
    }
  json_builder_end_array (b);
  end_document (b, out);
}

void
collective_json (GString *out, const CollectiveTable *table)
{
  JsonBuilder *b = begin_document ("collective");

  json_put_text (b, "machine", table->machine);
  json_put_text (b, "gpu", table->gpu);
  json_put_count (b, "nodes", table->nodes);
  json_put_count (b, "ranks", table->ranks);
  json_put_text (b, "note", table->note);
  begin_array (b, "points");
  for (guint i = 0; i < table->n; i++)
    {
      const CollectiveRow *row = &table->rows[i];

      begin_object (b, NULL);
      json_put_text (b, "op", row->op);
      json_put_number (b, "size_bytes", row->size);
      begin_object (b, "time_s");
      json_put_number (b, "mean", row->time);
      json_put_number (b, "lo", row->time_lo);
      json_put_number (b, "hi", row->time_hi);
      json_builder_end_object (b);
      json_put_number (b, "algbw_Bps", row->algbw);
      json_put_number (b, "busbw_Bps", row->busbw);
      json_put_number (b, "wire_Bps", row->wire);
      json_put_text (b, "algorithm", row->algorithm);
      json_put_text (b, "protocol", row->protocol);
      json_builder_end_object (b);
    }
  json_builder_end_array (b);
  end_document (b, out);
}
