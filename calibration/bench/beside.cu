/* SPDX-License-Identifier: GPL-3.0-or-later
 * A kernel beside a copy: how much slower is it while the copy engine, or a
 * kernel that holds some multiprocessors and moves memory as a collective does,
 * runs?  CSV: gpu,kernel,beside,alone_us,beside_us,slowdown */
#include "bench.h"

/* Bound by arithmetic: `rounds` fused multiply-adds a thread. */
__global__ void
arithmetic (float *out, int rounds)
{
  float x = threadIdx.x * 1e-3f;

  for (int i = 0; i < rounds; i++)
    x = fmaf (x, 0.999f, 0.001f);
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

__global__ void
stream_through (float *out, const float *in, size_t n)
{
  for (size_t i = blockIdx.x * (size_t) blockDim.x + threadIdx.x; i < n; i += (size_t) gridDim.x * blockDim.x)
    out[i] = in[i] + 1.0f;
}

/* Stands for a collective: `blocks` of them keep copying until told to stop. */
__global__ void
occupy (float *out, const float *in, size_t n, volatile int *stop)
{
  while (*stop == 0)
    for (size_t i = blockIdx.x * (size_t) blockDim.x + threadIdx.x; i < n; i += (size_t) gridDim.x * blockDim.x)
      out[i] = in[i];
}

struct Buffers { float *a, *b, *c, *d, *host; size_t n; volatile int *stop; int *device_stop; };

static void
foreground (int kind, const Buffers &buffers, cudaStream_t stream)
{
  if (kind == 0)
    arithmetic<<<4096, 256, 0, stream>>> (buffers.a, 20000);
  else
    stream_through<<<4096, 256, 0, stream>>> (buffers.a, buffers.b, buffers.n);
}

int
main ()
{
  static const char *const kernels[] = { "arithmetic-bound", "memory-bound" };
  static const int occupied[] = { 8, 16, 32 };
  const std::string gpu = gpu_name ();
  Buffers buffers = {};
  cudaStream_t front, back;

  buffers.n = (size_t) 1 << 26;
  CHECK (cudaMalloc (&buffers.a, buffers.n * 4));
  CHECK (cudaMalloc (&buffers.b, buffers.n * 4));
  CHECK (cudaMalloc (&buffers.c, buffers.n * 4));
  CHECK (cudaMalloc (&buffers.d, buffers.n * 4));
  CHECK (cudaMallocHost (&buffers.host, buffers.n * 4));
  CHECK (cudaHostAlloc ((void **) &buffers.stop, sizeof (int), cudaHostAllocMapped));
  CHECK (cudaHostGetDevicePointer ((void **) &buffers.device_stop, (void *) buffers.stop, 0));
  CHECK (cudaStreamCreateWithFlags (&front, cudaStreamNonBlocking));
  CHECK (cudaStreamCreateWithFlags (&back, cudaStreamNonBlocking));
  print_header ("a kernel beside a copy or a kernel that stands for a collective", "");
  printf ("gpu,kernel,beside,alone_us,beside_us,slowdown\n");
  for (int kind = 0; kind < 2; kind++)
    {
      const Sample alone = time_on_stream (front, [&] { foreground (kind, buffers, front); });
      /* Copies queued behind each other for longer than the foreground is timed. */
      for (int i = 0; i < 64; i++)
        CHECK (cudaMemcpyAsync (buffers.host, buffers.c, buffers.n * 4, cudaMemcpyDeviceToHost, back));
      const Sample copied = time_on_stream (front, [&] { foreground (kind, buffers, front); }, 0.02);
      CHECK (cudaStreamSynchronize (back));
      printf ("%s,%s,copy to host,%.3f,%.3f,%.4f\n", gpu.c_str (), kernels[kind], alone.median_us, copied.median_us,
              copied.median_us / alone.median_us);
      for (const int blocks : occupied)
        {
          *buffers.stop = 0;
          occupy<<<blocks, 512, 0, back>>> (buffers.c, buffers.d, buffers.n, buffers.device_stop);
          const Sample beside = time_on_stream (front, [&] { foreground (kind, buffers, front); }, 0.1);
          *buffers.stop = 1;
          CHECK (cudaStreamSynchronize (back));
          printf ("%s,%s,copy kernel of %d blocks,%.3f,%.3f,%.4f\n", gpu.c_str (), kernels[kind], blocks, alone.median_us,
                  beside.median_us, beside.median_us / alone.median_us);
        }
    }
  return 0;
}
