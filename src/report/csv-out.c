/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/report-parts.h"
#include "base/csv.h"

/* The columns of one Result, in their stable order. */
static const char result_columns[] =
  "nodes,gpus,global_batch,step_time_s,step_time_lo_s,step_time_hi_s,step_spread_p50_s,step_spread_p95_s,step_spread_p99_s,"
  "epoch_time_s,throughput_samples_per_s,throughput_per_gpu_samples_per_s,scaling_efficiency,efficiency_baseline,"
  "gpu_idle_share,mfu,compute_s,host_s,exposed_comm_s,bubble_s,wait_s,input_s,optimizer_s,other_s,memory_per_gpu_bytes,fits,"
  "cost_per_hour_usd,cost_per_million_samples_usd";

void
result_csv_header (GString *out)
{
  g_string_append (out, result_columns);
}

static void
append_numbers (GString *out, const double *values, gsize n)
{
  for (gsize i = 0; i < n; i++)
    {
      g_string_append_c (out, ',');
      csv_append_number (out, values[i]);
    }
}

void
result_csv_row (GString *out, const Result *result)
{
  const double before[] = {
    result->step_time, result->step_lo, result->step_hi, result->spread_p50, result->spread_p95, result->spread_p99,
    result->epoch_time, result->throughput, result->throughput_per_gpu, result->scaling_efficiency,
  };
  const double use[] = { result->gpu_idle_share, result->mfu };
  const double cost[] = { result->cost_per_hour, result->cost_per_million_samples };

  g_string_append_printf (out, "%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT, result->nodes, result->gpus,
                          result->global_batch);
  append_numbers (out, before, G_N_ELEMENTS (before));
  g_string_append_c (out, ',');
  csv_append_text (out, result->efficiency_baseline != NULL ? result->efficiency_baseline : "");
  append_numbers (out, use, G_N_ELEMENTS (use));
  append_numbers (out, result->ledger, N_CAUSES);
  append_numbers (out, &result->memory.total, 1);
  g_string_append (out, result->memory.fits ? ",true" : ",false");
  append_numbers (out, cost, G_N_ELEMENTS (cost));
}

void
run_csv (GString *out, Result *const *results, guint n)
{
  g_string_append (out, "scenario,");
  result_csv_header (out);
  g_string_append_c (out, '\n');
  for (guint i = 0; i < n; i++)
    {
      csv_append_text (out, results[i]->scenario);
      g_string_append_c (out, ',');
      result_csv_row (out, results[i]);
      g_string_append_c (out, '\n');
    }
}

void
scale_csv (GString *out, const ScaleStudy *study)
{
  for (guint k = 0; study->n_curves > 0 && k < study->curves[0].n_swept; k++)
    {
      csv_append_text (out, study->curves[0].keys[k]);
      g_string_append_c (out, ',');
    }
  result_csv_header (out);
  g_string_append_c (out, '\n');
  for (guint i = 0; i < study->n_curves; i++)
    {
      const Curve *curve = &study->curves[i];

      for (guint p = 0; p < curve->n_points; p++)
        {
          for (guint k = 0; k < curve->n_swept; k++)
            {
              csv_append_text (out, curve->values[k]);
              g_string_append_c (out, ',');
            }
          result_csv_row (out, curve->points[p]);
          g_string_append_c (out, '\n');
        }
    }
}

void
compare_csv (GString *out, const Comparison *comparison)
{
  g_string_append (out, "scenario,");
  result_csv_header (out);
  g_string_append (out, ",rank,reason\n");
  for (guint i = 0; i < comparison->n; i++)
    {
      csv_append_text (out, comparison->results[i]->scenario);
      g_string_append_c (out, ',');
      result_csv_row (out, comparison->results[i]);
      g_string_append_printf (out, ",%u,", comparison->rank[i]);
      csv_append_text (out, comparison->reasons[i] != NULL ? comparison->reasons[i] : "");
      g_string_append_c (out, '\n');
    }
}

void
collective_csv (GString *out, const CollectiveTable *table)
{
  g_string_append (out, "op,size_bytes,time_s,algbw_Bps,busbw_Bps,wire_Bps,algorithm,protocol,time_lo_s,time_hi_s\n");
  for (guint i = 0; i < table->n; i++)
    {
      const CollectiveRow *row = &table->rows[i];
      const double numbers[] = { row->size, row->time, row->algbw, row->busbw, row->wire };
      const double interval[] = { row->time_lo, row->time_hi };

      csv_append_text (out, row->op);
      append_numbers (out, numbers, G_N_ELEMENTS (numbers));
      g_string_append_c (out, ',');
      csv_append_text (out, row->algorithm != NULL ? row->algorithm : "");
      g_string_append_c (out, ',');
      csv_append_text (out, row->protocol != NULL ? row->protocol : "");
      append_numbers (out, interval, G_N_ELEMENTS (interval));
      g_string_append_c (out, '\n');
    }
}
