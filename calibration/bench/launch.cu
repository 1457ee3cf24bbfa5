/* SPDX-License-Identifier: GPL-3.0-or-later
 * Host cost of launches, alone and as a graph, and the GPU's floor of a kernel.
 * CSV: gpu,what,condition,us,source,notes */
#include "bench.h"

__global__ void
nothing ()
{
}

/* Microseconds of `body` by the host's clock, the stream drained around it. */
template <typename Body>
static Sample
host_time (Body body, int times)
{
  std::vector<double> us;

  for (int i = 0; i < times; i++)
    {
      CHECK (cudaDeviceSynchronize ());
      const double begin = host_us ();
      body ();
      us.push_back (host_us () - begin);
    }
  CHECK (cudaDeviceSynchronize ());
  return summarize (us);
}

static void
row (const std::string &gpu, const char *what, const char *condition, const Sample &sample, double per)
{
  printf ("%s,%s,%s,%.4f,calibration/bench/launch.cu,5-95 %%: %.4f-%.4f\n", gpu.c_str (), what, condition, sample.median_us / per,
          sample.low_us / per, sample.high_us / per);
}

int
main ()
{
  const std::string gpu = gpu_name ();
  const int n = 1000;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t ready;

  print_header ("launch overhead, no-op kernels", "");
  printf ("gpu,what,condition,us,source,notes\n");
  CHECK (cudaStreamCreate (&stream));
  row (gpu, "kernel launch host time", "1000 launches not waited for",
       host_time ([&] { for (int i = 0; i < n; i++) nothing<<<1, 32, 0, stream>>> (); }, 30), n);
  row (gpu, "kernel launch end to end", "one launch and a synchronise",
       host_time ([&] { nothing<<<1, 32, 0, stream>>> (); CHECK (cudaStreamSynchronize (stream)); }, 1000), 1);
  row (gpu, "kernel floor on the GPU", "1000 no-op kernels back to back by events",
       time_on_stream (stream, [&] { for (int i = 0; i < n; i++) nothing<<<1, 32, 0, stream>>> (); }), n);
  CHECK (cudaStreamBeginCapture (stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < n; i++)
    nothing<<<1, 32, 0, stream>>> ();
  CHECK (cudaStreamEndCapture (stream, &graph));
  CHECK (cudaGraphInstantiate (&ready, graph, 0));
  row (gpu, "graph launch host time", "one graph of 1000 kernels not waited for", host_time ([&] { CHECK (cudaGraphLaunch (ready, stream)); }, 30), 1);
  row (gpu, "graph node on the GPU", "1000 kernels in one graph by events", time_on_stream (stream, [&] { CHECK (cudaGraphLaunch (ready, stream)); }), n);
  CHECK (cudaGraphExecDestroy (ready));
  CHECK (cudaGraphDestroy (graph));
  CHECK (cudaStreamDestroy (stream));
  return 0;
}
