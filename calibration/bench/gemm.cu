/* SPDX-License-Identifier: GPL-3.0-or-later
 * Matrix products through cuBLASLt over shapes and precisions.  CSV as `lockstep
 * calibrate compute` reads it: gpu,dtype,m,n,k,batch,time_us,tflops,layout,... */
#include "bench.h"
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cmath>

#define LT(call)                                                                    \
  do                                                                                \
    {                                                                               \
      const cublasStatus_t status = (call);                                         \
      if (status != CUBLAS_STATUS_SUCCESS)                                          \
        {                                                                           \
          fprintf (stderr, "%s:%d: %s: status %d\n", __FILE__, __LINE__, #call, (int) status); \
          exit (1);                                                                 \
        }                                                                           \
    }                                                                               \
  while (0)

struct Type { const char *name; cudaDataType_t in, out; cublasComputeType_t compute; size_t in_bytes, out_bytes; };
static const Type types[] = {
  { "fp32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 4, 4 },
  { "tf32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 4, 4 },
  { "fp16", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, 2, 2 },
  { "bf16", CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 2, 2 },
  { "fp8", CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 1, 2 },
};

/* Inputs of ones, in the type's own bits; the product is then k everywhere. */
template <typename T>
__global__ void
fill (T *values, size_t n, T one)
{
  for (size_t i = blockIdx.x * (size_t) blockDim.x + threadIdx.x; i < n; i += (size_t) gridDim.x * blockDim.x)
    values[i] = one;
}

static void
fill_ones (void *memory, size_t n, cudaDataType_t type)
{
  const int blocks = 1024, threads = 256;

  switch (type)
    {
    case CUDA_R_32F: fill<<<blocks, threads>>> ((float *) memory, n, 1.0f); break;
    case CUDA_R_16F: fill<<<blocks, threads>>> ((__half *) memory, n, __float2half (1.0f)); break;
    case CUDA_R_16BF: fill<<<blocks, threads>>> ((__nv_bfloat16 *) memory, n, __float2bfloat16 (1.0f)); break;
    default: fill<<<blocks, threads>>> ((__nv_fp8_e4m3 *) memory, n, __nv_fp8_e4m3 (1.0f)); break;
    }
  CHECK (cudaGetLastError ());
}

/* First and last element of the product; NaN if it was not written. */
static double
element (const void *memory, size_t index, cudaDataType_t type)
{
  unsigned char bits[4];
  const size_t bytes = type == CUDA_R_32F ? 4 : 2;

  CHECK (cudaMemcpy (bits, (const char *) memory + index * bytes, bytes, cudaMemcpyDeviceToHost));
  switch (type)
    {
    case CUDA_R_32F: return *(float *) bits;
    case CUDA_R_16F: return __half2float (*(__half *) bits);
    default: return __bfloat162float (*(__nv_bfloat16 *) bits);
    }
}

/* y = x W^T as frameworks call it: row-major [m,k] x [n,k]^T, which is TN in
 * cuBLAS's column-major terms.  `copies` weight matrices rotate, so that a weight
 * is cold in L2, as in a training step. */
static bool
run_shape (cublasLtHandle_t lt, const Type &t, long m, long n, long k, const std::string &gpu, void *workspace, size_t workspace_bytes)
{
  const size_t weight = (size_t) n * k * t.in_bytes;
  const int copies = (int) std::max<size_t> (1, std::min<size_t> (32, (256u << 20) / std::max<size_t> (weight, 1) + 1));
  cublasLtMatmulDesc_t product;
  cublasLtMatrixLayout_t a, b, c;
  cublasLtMatmulPreference_t preference;
  cublasLtMatmulHeuristicResult_t choice;
  const cublasOperation_t transpose = CUBLAS_OP_T, plain = CUBLAS_OP_N;
  const float alpha = 1, beta = 0;
  void *x, *w, *y;
  int found = 0, turn = 0;

  LT (cublasLtMatmulDescCreate (&product, t.compute, CUDA_R_32F));
  LT (cublasLtMatmulDescSetAttribute (product, CUBLASLT_MATMUL_DESC_TRANSA, &transpose, sizeof transpose));
  LT (cublasLtMatmulDescSetAttribute (product, CUBLASLT_MATMUL_DESC_TRANSB, &plain, sizeof plain));
  LT (cublasLtMatrixLayoutCreate (&a, t.in, k, n, k));
  LT (cublasLtMatrixLayoutCreate (&b, t.in, k, m, k));
  LT (cublasLtMatrixLayoutCreate (&c, t.out, n, m, n));
  LT (cublasLtMatmulPreferenceCreate (&preference));
  LT (cublasLtMatmulPreferenceSetAttribute (preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes, sizeof workspace_bytes));
  if (cublasLtMatmulAlgoGetHeuristic (lt, product, a, b, c, c, preference, 1, &choice, &found) == CUBLAS_STATUS_SUCCESS && found > 0)
    {
      CHECK (cudaMalloc (&w, weight * copies));
      CHECK (cudaMalloc (&x, (size_t) m * k * t.in_bytes));
      CHECK (cudaMalloc (&y, (size_t) m * n * t.out_bytes));
      fill_ones (w, (size_t) n * k * copies, t.in);
      fill_ones (x, (size_t) m * k, t.in);
      poison (y, (size_t) m * n * t.out_bytes);
      const auto once = [&] {
        LT (cublasLtMatmul (lt, product, &alpha, (char *) w + weight * (turn++ % copies), a, x, b, &beta, y, c, y, c, &choice.algo,
                            workspace, workspace_bytes, 0));
      };
      const Sample sample = time_on_stream (0, once);
      const double first = element (y, 0, t.out), last = element (y, (size_t) m * n - 1, t.out);
      if (!(fabs (first - k) <= 0.02 * k && fabs (last - k) <= 0.02 * k))
        fprintf (stderr, "gemm %s %ldx%ldx%ld: result %g, %g, not %ld: left out\n", t.name, m, n, k, first, last, k);
      else
        printf ("%s,%s,%ld,%ld,%ld,1,%.3f,%.6g,TN,%.3f,%.3f\n", gpu.c_str (), t.name, m, n, k, sample.median_us,
                2.0 * m * n * k / sample.median_us * 1e-6, sample.low_us, sample.high_us);
      fflush (stdout);
      CHECK (cudaFree (w));
      CHECK (cudaFree (x));
      CHECK (cudaFree (y));
    }
  cublasLtMatmulPreferenceDestroy (preference);
  cublasLtMatrixLayoutDestroy (a);
  cublasLtMatrixLayoutDestroy (b);
  cublasLtMatrixLayoutDestroy (c);
  cublasLtMatmulDescDestroy (product);
  return found > 0;
}

int
main ()
{
  static const long rows[] = { 1, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384 };
  static const long sides[] = { 768, 1024, 2304, 3072, 4096, 8192, 12288 };
  const size_t workspace_bytes = 64u << 20;
  const std::string gpu = gpu_name ();
  cublasLtHandle_t lt;
  void *workspace;
  char libraries[64];

  snprintf (libraries, sizeof libraries, "cuBLASLt %zu", cublasLtGetVersion ());
  print_header ("matrix products, cuBLASLt, weights rotated beyond L2", libraries);
  printf ("gpu,dtype,m,n,k,batch,time_us,tflops,layout,time_lo_us,time_hi_us\n");
  LT (cublasLtCreate (&lt));
  CHECK (cudaMalloc (&workspace, workspace_bytes));
  for (const Type &type : types)
    for (const long m : rows)
      for (const long n : sides)
        for (const long k : sides)
          run_shape (lt, type, m, n, k, gpu, workspace, workspace_bytes);
  LT (cublasLtDestroy (lt));
  return 0;
}
