/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/report-parts.h"
#include "report/text.h"

const char *const format_names[] = { "table", "csv", "json", NULL };

void
report_run (GString *out, Format format, const Scenario *const *scenarios, Result *const *results, guint n,
            gboolean timeline, gboolean verbose, const Look *look)
{
  if (format == FORMAT_CSV)
    run_csv (out, results, n);
  else if (format == FORMAT_JSON)
    run_json (out, scenarios, results, n);
  for (guint i = 0; format == FORMAT_TABLE && i < n; i++)
    {
      if (i > 0)
        g_string_append (out, "\n\n");
      run_table (out, results[i], verbose, look);
      if (timeline)
        {
          g_string_append_c (out, '\n');
          report_heading (out, "Timeline of one step", look);
          report_timeline (out, results[i], look->width);
        }
    }
}

void
report_scale (GString *out, Format format, const Scenario *scenario, const ScaleStudy *study, const Look *look)
{
  if (format == FORMAT_CSV)
    scale_csv (out, study);
  else if (format == FORMAT_JSON)
    scale_json (out, scenario, study);
  else
    scale_table (out, scenario, study, look);
}

void
report_compare (GString *out, Format format, const Scenario *const *scenarios, const Comparison *comparison, const Look *look)
{
  if (format == FORMAT_CSV)
    compare_csv (out, comparison);
  else if (format == FORMAT_JSON)
    compare_json (out, scenarios, comparison);
  else
    compare_table (out, scenarios, comparison, look);
}

void
report_collective (GString *out, Format format, const CollectiveTable *table, const Look *look)
{
  if (format == FORMAT_CSV)
    collective_csv (out, table);
  else if (format == FORMAT_JSON)
    collective_json (out, table);
  else
    collective_table (out, table, look);
}
