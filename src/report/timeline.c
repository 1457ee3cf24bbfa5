/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/report-parts.h"
#include "report/text.h"
#include <math.h>
#include <string.h>

#define LABEL_WIDTH   16u
#define LEAST_COLUMNS 20u

/* What a column of a lane shows: upper row while something runs, lower while
 * the lane waits for that cause. */
static const char busy_marks[N_CAUSES] = {
  [CAUSE_COMPUTE] = '#', [CAUSE_HOST] = 'H', [CAUSE_EXPOSED_COMM] = '%', [CAUSE_BUBBLE] = 'B', [CAUSE_WAIT] = 'W',
  [CAUSE_INPUT] = 'I', [CAUSE_OPTIMIZER] = '@', [CAUSE_OTHER] = '+',
};
static const char idle_marks[N_CAUSES] = {
  [CAUSE_COMPUTE] = ' ', [CAUSE_HOST] = 'h', [CAUSE_EXPOSED_COMM] = '.', [CAUSE_BUBBLE] = 'b', [CAUSE_WAIT] = 'w',
  [CAUSE_INPUT] = 'i', [CAUSE_OPTIMIZER] = ' ', [CAUSE_OTHER] = ' ',
};
#define COMM_MARK '='
#define SHORT_MARK '-'   /* a collective that fills less than half of a column */

static const struct { char mark; const char *meaning; } legend[] = {
  { '#', "computes" }, { '%', "computes, slowed by a collective" }, { '@', "optimizer" }, { '+', "other work" },
  { COMM_MARK, "communicates" }, { SHORT_MARK, "communicates for a part of that time" }, { 'H', "host issues" }, { 'I', "reads input" }, { 'B', "other stage's work" },
  { 'W', "slower rank's work" }, { '.', "idle while bytes travel" }, { 'h', "idle: host" }, { 'b', "idle: pipeline bubble" },
  { 'w', "idle: waits for a slower rank" }, { 'i', "idle: waits for input" },
};

static gboolean
lane_communicates (const Lane *lane)
{
  return lane->name != NULL && strstr (lane->name, "comm") != NULL;
}

static gboolean
lane_computes (const Lane *lane)
{
  return lane->name != NULL && strstr (lane->name, "GPU") != NULL;
}

static char
span_mark (const Lane *lane, const Span *span)
{

  if ((guint) span->cause >= N_CAUSES)
    return ' ';
  if (lane_communicates (lane))
    return span->busy ? COMM_MARK : span->cause == CAUSE_EXPOSED_COMM ? ' ' : idle_marks[span->cause];
  return span->busy ? busy_marks[span->cause] : idle_marks[span->cause];
}

/* Adds the part of the span that lies in each column to that mark's time. */
static void
cover (double (*time)[128], const Span *span, char mark, double column, guint n)
{
  const double start = MAX (span->start, 0), end = MIN (span->end, column * n);

  if (!(end > start))
    return;
  const guint from = (guint) MIN (floor (start / column), n - 1);
  const guint to = (guint) MIN (floor (end / column), n - 1);
  for (guint i = from; i <= to; i++)
    time[i][(guchar) mark] += MAX (0, MIN (end, column * (i + 1)) - MAX (start, column * i));
}

/* The mark that holds a column longest; a blank wins where nothing is, but for short
 * collectives, of which a lane may hold nothing else. */
static char *
lane_text (const Lane *lane, double step, guint n)
{
  g_autofree double (*time)[128] = g_malloc0_n (n, sizeof *time);
  const double column = step / n;
  char *text = g_strnfill (n, ' ');

  for (guint i = 0; i < lane->n_spans; i++)
    cover (time, &lane->spans[i], span_mark (lane, &lane->spans[i]), column, n);
  for (guint i = 0; i < n; i++)
    {
      double covered = 0, longest = 0;

      for (guint mark = ' ' + 1; mark < 128; mark++)
        {
          covered += time[i][mark];
          if (time[i][mark] > longest)
            {
              longest = time[i][mark];
              text[i] = (char) mark;
            }
        }
      if (column - covered > longest)
        text[i] = time[i][COMM_MARK] > 0 ? SHORT_MARK : ' ';
    }
  return text;
}

/* 1, 2 or 5 times a power of ten, at most eight of them in a step. */
static double
tick_distance (double step)
{
  static const double nice[] = { 1, 2, 5, 10 };
  const double power = pow (10, floor (log10 (step / 8)));

  for (gsize i = 0; i < G_N_ELEMENTS (nice); i++)
    {
      if (nice[i] * power * 8 >= step)
        return nice[i] * power;
    }
  return 10 * power;
}

static void
append_trimmed (GString *out, const char *label, const char *text)
{
  g_autofree char *line = g_strdup_printf ("%-*.*s%s", (int) LABEL_WIDTH, (int) LABEL_WIDTH - 1, label, text);

  g_string_append_printf (out, "%s\n", g_strchomp (line));
}

static void
append_axis (GString *out, double step, guint n)
{
  g_autofree char *numbers = g_strnfill (n + 12, ' ');
  g_autofree char *ruler = g_strnfill (n, '-');
  const double distance = tick_distance (step);
  guint free_from = 0;

  for (guint k = 0; k * distance < step; k++)
    {
      const guint at = (guint) MIN (floor (k * distance / step * n), n - 1);
      g_autofree char *number = text_number (k * distance * 1e3);

      /* 20.00 says no more than 20 */
      if (strchr (number, '.') != NULL)
        {
          gsize length = strlen (number);
          while (number[length - 1] == '0')
            number[--length] = '\0';
          if (number[length - 1] == '.')
            number[length - 1] = '\0';
        }
      ruler[at] = '|';
      if (at >= free_from && strlen (number) < 12)
        {
          memcpy (numbers + at, number, strlen (number));
          free_from = at + (guint) strlen (number) + 1;
        }
    }
  append_trimmed (out, "ms", numbers);
  append_trimmed (out, "", ruler);
}

static void
append_legend (GString *out, const GString *used)
{
  g_autoptr (GString) line = g_string_new (NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (legend); i++)
    {
      if (strchr (used->str, legend[i].mark) != NULL)
        g_string_append_printf (line, "%s%c %s", line->len > 0 ? "; " : "", legend[i].mark, legend[i].meaning);
    }
  if (line->len > 0)
    text_wrap (out, line->str, 0, 100);
}

/* Where a GPU does nothing while bytes travel, it shows. */
static void
mark_idle (const Result *result, char *const *texts, char *gpu)
{
  for (guint i = 0; i < result->n_lanes; i++)
    {
      for (gsize k = 0; gpu[k] != '\0'; k++)
        {
          if (gpu[k] == ' ' && texts[i][k] == COMM_MARK)
            gpu[k] = idle_marks[CAUSE_EXPOSED_COMM];
        }
    }
}

void
report_timeline (GString *out, const Result *result, guint width)
{
  const guint n = width > LABEL_WIDTH + LEAST_COLUMNS ? width - LABEL_WIDTH : LEAST_COLUMNS;
  g_autoptr (GString) used = g_string_new (NULL);
  g_auto (GStrv) texts = NULL;

  if (result->n_lanes == 0 || !(result->step_time > 0) || !isfinite (result->step_time))
    {
      g_string_append (out, "No timeline: the run kept no spans.\n");
      return;
    }
  append_axis (out, result->step_time, n);
  texts = g_new0 (char *, result->n_lanes + 1);
  for (guint i = 0; i < result->n_lanes; i++)
    texts[i] = lane_text (&result->lanes[i], result->step_time, n);
  for (guint i = 0; i < result->n_lanes; i++)
    {
      g_autofree char *label = text_clean (result->lanes[i].name);

      if (lane_computes (&result->lanes[i]))
        mark_idle (result, texts, texts[i]);
      g_string_append (used, texts[i]);
      append_trimmed (out, label, texts[i]);
    }
  append_legend (out, used);
}
