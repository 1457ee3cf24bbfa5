/* SPDX-License-Identifier: GPL-3.0-or-later
 * Memory bandwidth: copy, triad and element-wise operations over sizes.  CSV as
 * `lockstep calibrate compute` reads it: gpu,op,dtype,rows,cols,bytes,time_us,GBps,... */
#include "bench.h"
#include <cmath>

enum Op { COPY, TRIAD, ADD, RELU, GELU };
static const struct { const char *name; Op op; int reads; } ops[] = {
  { "copy", COPY, 1 }, { "triad", TRIAD, 2 }, { "add", ADD, 2 }, { "relu", RELU, 1 }, { "gelu", GELU, 1 },
};

template <Op op>
__global__ void
work (float *out, const float *a, const float *b, size_t n)
{
  for (size_t i = blockIdx.x * (size_t) blockDim.x + threadIdx.x; i < n; i += (size_t) gridDim.x * blockDim.x)
    {
      if (op == COPY)
        out[i] = a[i];
      else if (op == TRIAD)
        out[i] = a[i] + 0.4f * b[i];
      else if (op == ADD)
        out[i] = a[i] + b[i];
      else if (op == RELU)
        out[i] = fmaxf (a[i], 0.0f);
      else
        out[i] = 0.5f * a[i] * (1.0f + erff (a[i] * 0.70710678f));
    }
}

static void
launch (Op op, float *out, const float *a, const float *b, size_t n)
{
  const int threads = 256, blocks = (int) std::min<size_t> ((n + threads - 1) / threads, 65535);

  switch (op)
    {
    case COPY: work<COPY><<<blocks, threads>>> (out, a, b, n); break;
    case TRIAD: work<TRIAD><<<blocks, threads>>> (out, a, b, n); break;
    case ADD: work<ADD><<<blocks, threads>>> (out, a, b, n); break;
    case RELU: work<RELU><<<blocks, threads>>> (out, a, b, n); break;
    case GELU: work<GELU><<<blocks, threads>>> (out, a, b, n); break;
    }
  CHECK (cudaGetLastError ());
}

int
main ()
{
  const std::string gpu = gpu_name ();
  const size_t most = (size_t) 1 << 28;   /* floats: 1 GiB a vector */
  std::vector<float> ones ((size_t) 1 << 20, 1.0f);
  float *a, *b, *out;

  print_header ("memory-bound operations, fp32", "");
  printf ("gpu,op,dtype,rows,cols,bytes,time_us,GBps,time_lo_us,time_hi_us\n");
  CHECK (cudaMalloc (&a, most * 4));
  CHECK (cudaMalloc (&b, most * 4));
  CHECK (cudaMalloc (&out, most * 4));
  for (size_t i = 0; i < most; i += ones.size ())
    {
      CHECK (cudaMemcpy (a + i, ones.data (), ones.size () * 4, cudaMemcpyHostToDevice));
      CHECK (cudaMemcpy (b + i, ones.data (), ones.size () * 4, cudaMemcpyHostToDevice));
    }
  for (const auto &op : ops)
    for (size_t n = 1 << 10; n <= most; n *= 4)
      {
        const double bytes = 4.0 * (double) n * (op.reads + 1);
        float last;

        poison (out, n * 4);
        const Sample sample = time_on_stream (0, [&] { launch (op.op, out, a, b, n); });
        CHECK (cudaMemcpy (&last, out + n - 1, 4, cudaMemcpyDeviceToHost));
        if (std::isnan (last))
          {
            fprintf (stderr, "%s of %zu: not written: left out\n", op.name, n);
            continue;
          }
        printf ("%s,%s,fp32,%zu,%d,%.0f,%.3f,%.6g,%.3f,%.3f\n", gpu.c_str (), op.name, n / 1024, 1024, bytes, sample.median_us,
                bytes / sample.median_us * 1e-3, sample.low_us, sample.high_us);
      }
  return 0;
}
