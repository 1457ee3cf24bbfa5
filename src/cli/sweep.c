/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <unistd.h>

#include "cli/cli.h"
#include "run/unused.h"

#define MAX_JOBS 1024u
#define TICK_US  (100 * 1000)   /* between two lines of progress */

static const Option options[] = {
  { "intervals", 0, OPTION_FLAG, offsetof (Options, intervals), NULL, "CSV and JSON: also where each step lies, 5 to 95 %." },
  { "jobs", 0, OPTION_TEXT, offsetof (Options, jobs), "N", "Threads; without it one a processor." },
  { NULL, 0, 0, 0, NULL, NULL }
};

/* One sweep as it goes on. */
typedef struct
{
  Call        *call;
  SweepReport *report;
  gboolean     shows;             /* progress, on a terminal */
  gint64       start, last;       /* us */
  guint        done, small, warned;
  char        *first_warning, *first_place;
  GArray      *unused;            /* keys that change nothing at any point so far; NULL: no point yet */
} Progress;

static gboolean
read_jobs (const char *text, guint *jobs, GError **error)
{
  guint64 n;

  *jobs = 0;
  if (text == NULL)
    return TRUE;
  if (!g_ascii_string_to_unsigned (text, 10, 1, MAX_JOBS, &n, NULL))
    {
      usage_error (error, "--jobs: '%s' is not a whole number from 1 to %u", text, MAX_JOBS);
      return FALSE;
    }
  *jobs = (guint) n;
  return TRUE;
}

static void
take_point (gpointer user, const SetPoint *point, const Result *result)
{
  Progress *p = user;

  sweep_report_add (p->report, point, result);
  if (p->unused == NULL)
    p->unused = g_array_ref (result->unused);
  else
    unused_meet (p->unused, result->unused);
  p->small += !result->memory.fits;
  if (!result->memory.fits || result->warnings == NULL || result->warnings[0] == NULL)
    return;
  if (p->warned++ == 0)
    {
      p->first_warning = g_strdup (result->warnings[0]);
      p->first_place = g_strjoinv (", ", point->sets);
    }
}

static double
rate (const Progress *p)
{
  const double seconds = 1e-6 * (double) (g_get_monotonic_time () - p->start);

  return seconds > 0 ? p->done / seconds : 0;
}

static void
show_progress (gpointer user, guint done, guint n)
{
  Progress *p = user;
  const gint64 now = g_get_monotonic_time ();
  g_autofree char *line = NULL;

  p->done = done;
  if (!p->shows || (now - p->last < TICK_US && done < n))
    return;
  p->last = now;
  line = done == n ? g_strdup_printf ("\r%*s\r", 60, "")
                   : g_strdup_printf ("\r%u of %u points, %.0f points/s, %.0f s left    ", done, n, rate (p), (n - done) / rate (p));
  output_remark (line);
}

/* The last words: what may be overlooked in many rows, and how fast it went. */
static void
remark_end (const Progress *p, guint jobs)
{
  if (p->small > 0)
    call_remark (p->call, "%u of %u points do not fit in the memory of a GPU (column fits)", p->small, p->done);
  if (p->warned > 0)
    call_remark (p->call, "%u of %u points have a warning; the first, at %s: %s", p->warned, p->done, p->first_place, p->first_warning);
  call_remark (p->call, "%u points in %.2f s, %.0f points/s, %u thread%s", p->done,
               1e-6 * (double) (g_get_monotonic_time () - p->start), rate (p), jobs, jobs == 1 ? "" : "s");
}

static gboolean
check_axes (const Scenario *scenario, const char *path, GError **error)
{
  if (scenario->n_axes == 0)
    g_set_error (error, KEYS_ERROR, KEYS_ERROR_MISSING,
                 "%s: [sweep]: no key is swept; add a line as 'cluster.nodes = 1, 2, 4' or '--set sweep.cluster.nodes=1,2,4'", path);
  return scenario->n_axes > 0;
}

static gboolean
sweep (Progress *p, const Scenario *scenario, guint jobs, GError **error)
{
  const SweepOptions sweep_options = {
    .jobs = jobs, .run = { .one_gpu = TRUE, .unused = TRUE, .interval = p->call->options.intervals }, .point = take_point, .progress = show_progress, .user = p,
  };

  p->start = g_get_monotonic_time ();
  if (study_sweep (scenario, &sweep_options, error))
    return TRUE;
  if (p->shows && p->done > 0)
    output_remark ("\n");
  scenario_locate_error (scenario, error);
  return FALSE;
}

static gboolean
run_sweep (Call *call, GError **error)
{
  const Options *given = &call->options;
  g_autoptr (Scenario) scenario = NULL;
  g_autoptr (SweepReport) report = NULL;
  const Look look = call_look (call);
  Progress p = { .call = call, .shows = !given->quiet && isatty (STDERR_FILENO) };
  guint jobs;
  gboolean ok;

  if (!read_jobs (given->jobs, &jobs, error) || (scenario = call_scenario (call, call->args[0], error)) == NULL
      || !check_axes (scenario, call->args[0], error))
    return FALSE;
  p.report = report = sweep_report_new ((Format) given->format, scenario, &look);
  ok = sweep (&p, scenario, jobs, error);
  if (ok)
    {
      sweep_report_end (report, call->out);
      call_unused (call, scenario, p.unused);
      remark_end (&p, sweep_jobs (jobs, p.done));
    }
  g_free (p.first_warning);
  g_free (p.first_place);
  g_clear_pointer (&p.unused, g_array_unref);
  return ok;
}

const Command command_sweep = {
  .name = "sweep",
  .summary = "every point of [sweep], on all processors",
  .arguments = "SCENARIO",
  .min_args = 1, .max_args = 1,
  .options = options,
  .sets = TRUE, .formats = TRUE, .writes = TRUE, .progress = TRUE,
  .details =
    "Runs the product of all keys in the scenario's [sweep]: lists (1, 2, 4), factors\n"
    "(8..512 x2) and steps (0..64 +8).  One row a point, the last key fastest, the swept keys\n"
    "first; the same bytes for any number of threads.  A point that cannot be run is an error\n"
    "that names it, and nothing is written.\n"
    "\n"
    "Examples:\n"
    "  lockstep sweep scenarios/resnet50-dgx-a100.ini\n"
    "  lockstep sweep --set sweep.strategy.bucket-size='1..64 MiB x2' --format csv -o buckets.csv scenarios/ddp-5x8.ini\n",
  .run = run_sweep,
};
