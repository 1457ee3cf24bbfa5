/* SPDX-License-Identifier: GPL-3.0-or-later
 * NCCL collectives over all GPUs of this machine, one process: all-reduce,
 * all-gather, reduce-scatter, send/recv by size.  NCCL_ALGO and NCCL_PROTO force
 * algorithm and protocol and are written into the rows.  CSV as `lockstep
 * calibrate network` reads it.  Multi-node truth comes from published tables. */
#include "bench.h"
#include <cmath>
#include <nccl.h>

#define NCCL(call)                                                                                 \
  do                                                                                               \
    {                                                                                              \
      const ncclResult_t status = (call);                                                          \
      if (status != ncclSuccess)                                                                   \
        {                                                                                          \
          fprintf (stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, ncclGetErrorString (status)); \
          exit (1);                                                                                \
        }                                                                                          \
    }                                                                                              \
  while (0)

enum Op { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, SEND_RECV };
static const struct { const char *name; Op op; } ops[] = {
  { "all_reduce", ALL_REDUCE }, { "all_gather", ALL_GATHER }, { "reduce_scatter", REDUCE_SCATTER }, { "sendrecv", SEND_RECV },
};

struct Rank { ncclComm_t comm; cudaStream_t stream; float *in, *out; };

/* `n` floats in the nccl-tests convention: the whole vector of all-gather and reduce-scatter. */
static void
call (std::vector<Rank> &ranks, Op op, size_t n)
{
  const int p = (int) ranks.size ();

  NCCL (ncclGroupStart ());
  for (int i = 0; i < p; i++)
    {
      Rank &r = ranks[i];

      CHECK (cudaSetDevice (i));
      switch (op)
        {
        case ALL_REDUCE: NCCL (ncclAllReduce (r.in, r.out, n, ncclFloat, ncclSum, r.comm, r.stream)); break;
        case ALL_GATHER: NCCL (ncclAllGather (r.in, r.out, n / p, ncclFloat, r.comm, r.stream)); break;
        case REDUCE_SCATTER: NCCL (ncclReduceScatter (r.in, r.out, n / p, ncclFloat, ncclSum, r.comm, r.stream)); break;
        case SEND_RECV:
          NCCL (ncclSend (r.in, n, ncclFloat, (i + 1) % p, r.comm, r.stream));
          NCCL (ncclRecv (r.out, n, ncclFloat, (i + p - 1) % p, r.comm, r.stream));
          break;
        }
    }
  NCCL (ncclGroupEnd ());
}

static void
wait_all (std::vector<Rank> &ranks)
{
  for (size_t i = 0; i < ranks.size (); i++)
    {
      CHECK (cudaSetDevice ((int) i));
      CHECK (cudaStreamSynchronize (ranks[i].stream));
    }
}

/* Microseconds of one call, from batches of them by the host's clock. */
static Sample
time_call (std::vector<Rank> &ranks, Op op, size_t n)
{
  const int batch = n * 4 < (1u << 20) ? 20 : 5;
  std::vector<double> us;

  for (int i = 0; i < 5; i++)
    call (ranks, op, n);
  wait_all (ranks);
  for (int i = 0; i < 20; i++)
    {
      const double begin = host_us ();

      for (int k = 0; k < batch; k++)
        call (ranks, op, n);
      wait_all (ranks);
      us.push_back ((host_us () - begin) / batch);
    }
  return summarize (us);
}

/* Inputs are ones: a sum of p ranks is p, everything else 1. */
static bool
right (const Rank &rank, Op op, size_t n, int p)
{
  const size_t written = op == REDUCE_SCATTER ? n / p : n;
  const float expected = op == ALL_REDUCE || op == REDUCE_SCATTER ? (float) p : 1.0f;
  float first, last;

  CHECK (cudaMemcpy (&first, rank.out, 4, cudaMemcpyDeviceToHost));
  CHECK (cudaMemcpy (&last, rank.out + written - 1, 4, cudaMemcpyDeviceToHost));
  return first == expected && last == expected;
}

static double
bus_factor (Op op, int p)
{
  return op == ALL_REDUCE ? 2.0 * (p - 1) / p : op == SEND_RECV ? 1.0 : (double) (p - 1) / p;
}

static void
open_ranks (std::vector<Rank> &ranks, size_t most)
{
  std::vector<ncclComm_t> comms (ranks.size ());
  std::vector<float> ones (most, 1.0f);

  NCCL (ncclCommInitAll (comms.data (), (int) ranks.size (), nullptr));
  for (size_t i = 0; i < ranks.size (); i++)
    {
      CHECK (cudaSetDevice ((int) i));
      ranks[i].comm = comms[i];
      CHECK (cudaStreamCreateWithFlags (&ranks[i].stream, cudaStreamNonBlocking));
      CHECK (cudaMalloc (&ranks[i].in, most * 4));
      CHECK (cudaMalloc (&ranks[i].out, most * 4));
      CHECK (cudaMemcpy (ranks[i].in, ones.data (), most * 4, cudaMemcpyHostToDevice));
    }
}

int
main ()
{
  const size_t most = (size_t) 1 << 28;   /* floats: 1 GiB */
  const char *algorithm = getenv ("NCCL_ALGO"), *protocol = getenv ("NCCL_PROTO");
  const std::string gpu = gpu_name ();
  char libraries[64];
  int p, version;

  CHECK (cudaGetDeviceCount (&p));
  NCCL (ncclGetVersion (&version));
  snprintf (libraries, sizeof libraries, "NCCL %d.%d.%d", version / 10000, version / 100 % 100, version % 100);
  print_header ("NCCL collectives, one process, out of place", libraries);
  printf ("collective,nodes,gpus_per_node,ranks,gpu,intra_link,inter_link,nic_gbps_per_node,nccl_version,algo,proto,dtype,size_bytes,"
          "time_us,algbw_GBps,busbw_GBps,in_place\n");
  std::vector<Rank> ranks (p);
  open_ranks (ranks, most);
  for (const auto &op : ops)
    for (size_t n = 64; n <= most; n *= 2)
      {
        for (int i = 0; i < p; i++)
          {
            CHECK (cudaSetDevice (i));
            poison (ranks[i].out, n * 4);
          }
        const Sample sample = time_call (ranks, op.op, n);
        const double rate = 4.0 * n / sample.median_us * 1e-3;
        if (!right (ranks[0], op.op, n, p))
          {
            fprintf (stderr, "%s of %zu bytes: wrong result: left out\n", op.name, n * 4);
            continue;
          }
        printf ("%s,1,%d,%d,%s,,,,%d.%d.%d,%s,%s,float,%zu,%.3f,%.4f,%.4f,0\n", op.name, p, p, gpu.c_str (), version / 10000,
                version / 100 % 100, version % 100, algorithm ? algorithm : "", protocol ? protocol : "", n * 4, sample.median_us, rate,
                rate * bus_factor (op.op, p));
        fflush (stdout);
      }
  return 0;
}
