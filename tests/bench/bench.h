/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What the benchmarks share: CPU time, medians, a process of its own for each row. */

static inline double
bench_cpu (void)
{
  struct timespec now;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static inline int
bench_compare (const void *a, const void *b)
{
  const double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* Sorts them. */
static inline double
bench_median (double *values, gsize n)
{
  qsort (values, n, sizeof *values, bench_compare);
  return values[n / 2];
}

/* The most memory this process has held, bytes. */
static inline double
bench_peak (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return 1024.0 * (double) usage.ru_maxrss;
}

/* Memory at most is a figure of a whole process: each row gets one. */
static inline void
bench_apart (void (*measure) (gconstpointer row), gconstpointer row)
{
  const pid_t child = fork ();
  int status = 0;

  if (child == 0)
    {
      measure (row);
      _exit (0);
    }
  if (child < 0 || waitpid (child, &status, 0) != child || status != 0)
    exit (EXIT_FAILURE);
}
