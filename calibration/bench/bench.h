/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>
#include <cuda_runtime.h>

/* What the benchmarks share: errors end the program with one line, times are
 * medians over repetitions, a header names device, driver and libraries. */

#define CHECK(call)                                                                                 \
  do                                                                                                \
    {                                                                                               \
      const cudaError_t status = (call);                                                            \
      if (status != cudaSuccess)                                                                    \
        {                                                                                           \
          fprintf (stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString (status)); \
          exit (1);                                                                                 \
        }                                                                                           \
    }                                                                                               \
  while (0)

struct Sample { double median_us, low_us, high_us; };   /* 5 and 95 % */

inline Sample
summarize (std::vector<double> us)
{
  std::sort (us.begin (), us.end ());
  const size_t n = us.size ();
  return { us[n / 2], us[n / 20], us[n - 1 - n / 20] };
}

/* Times `body` on the stream: warm-up, then repetitions until `budget_s` of GPU
 * time or 200 of them are spent, at least 7. */
template <typename Body>
Sample
time_on_stream (cudaStream_t stream, Body body, double budget_s = 0.25)
{
  cudaEvent_t begin, end;
  std::vector<double> us;
  double spent = 0;

  CHECK (cudaEventCreate (&begin));
  CHECK (cudaEventCreate (&end));
  for (int i = 0; i < 3; i++)
    body ();
  CHECK (cudaStreamSynchronize (stream));
  while (us.size () < 7 || (spent < budget_s && us.size () < 200))
    {
      float ms;

      CHECK (cudaEventRecord (begin, stream));
      body ();
      CHECK (cudaEventRecord (end, stream));
      CHECK (cudaEventSynchronize (end));
      CHECK (cudaEventElapsedTime (&ms, begin, end));
      us.push_back (ms * 1e3);
      spent += ms * 1e-3;
    }
  CHECK (cudaEventDestroy (begin));
  CHECK (cudaEventDestroy (end));
  return summarize (us);
}

inline double
host_us ()
{
  timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e6 + now.tv_nsec * 1e-3;
}

/* The GPU's name as a CSV field. */
inline std::string
gpu_name ()
{
  cudaDeviceProp properties;

  CHECK (cudaGetDeviceProperties (&properties, 0));
  std::string name = properties.name;
  for (char &c : name)
    if (c == ',' || c == '"' || c == '\n')
      c = ' ';
  return name;
}

inline void
print_header (const char *what, const char *libraries)
{
  int driver, runtime;
  cudaDeviceProp properties;
  char date[32];
  const time_t now = time (nullptr);

  CHECK (cudaDriverGetVersion (&driver));
  CHECK (cudaRuntimeGetVersion (&runtime));
  CHECK (cudaGetDeviceProperties (&properties, 0));
  strftime (date, sizeof date, "%Y-%m-%d", gmtime (&now));
  printf ("# %s\n# date %s; device %s, %d multiprocessors, compute %d.%d, %zu bytes; CUDA driver %d, runtime %d%s%s\n", what, date,
          properties.name, properties.multiProcessorCount, properties.major, properties.minor, properties.totalGlobalMem,
          driver, runtime, *libraries ? "; " : "", libraries);
  printf ("# time_us: median; time_lo_us, time_hi_us: 5 and 95 %% of the repetitions\n");
}

/* Results are poisoned before a run (all bits set: NaN in every float format), so
 * that a kernel that did not run shows. */
inline void
poison (void *memory, size_t bytes)
{
  CHECK (cudaMemset (memory, 0xff, bytes));
}
