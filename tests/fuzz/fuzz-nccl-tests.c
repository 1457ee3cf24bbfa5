/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"
#include "import/nccl-tests.h"
#include <math.h>
#include <string.h>

const char *const fuzz_seeds[] = {
  "# nccl-tests version 2.17.6 nccl-headers=22703 nccl-library=22703\n# Collective test starting: all_reduce_perf\n"
  "#  Rank  0 Group  0 Pid  1 on  a device  0 [0000:07:00] NVIDIA A100\n#  Rank  1 Group  0 Pid  1 on  a device  1 [0000:0f:00] NVIDIA A100\n"
  "[1,0]<stdout>:  1000000  250000  float  sum  -1  50.00  20.00  20.00  0  52.00  19.23  19.23  0\n0: 2000000  500000  float  sum  80.00  25.00  25.00  2e-07\n"
  "a:1:1 [0] NCCL INFO x\n# Out of bounds values : 0 OK\n",
  "#\n#   Rank  0 Pid   9123 on     v device  0 [0x1b] Tesla V100\n#   Rank  1 Pid   9123 on     v device  1 [0x1c] Tesla V100\n"
  "  8  2   float     sum    21.27    0.00    0.00  2e-07    21.31    0.00    0.00  2e-07\n  8000000  2   float     sum    400  20.0    20.00  2e-07    400  20.0    20.00  N/A\n",
  "{\"args\":[\"./all_reduce_perf\"],\"nccl_version\":22807,\"config\":{\"devices\":[{\"hostname\":\"a\",\"device_info\":\"B200\"},"
  "{\"hostname\":\"a\",\"device_info\":\"B200\"}]},\"results\":[{\"size\":1000000,\"out_of_place\":{\"time\":50,\"alg_bw\":20,\"bus_bw\":20,\"nwrong\":0}}]}",
  "collective,nodes,gpus_per_node,ranks,gpu,size_bytes,time_us,algbw_GBps,busbw_GBps\nall_reduce,1,2,2,A100,1000000,50,20,20\nsendrecv,2,1,2,A100,8,9,,\n",
  NULL
};

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (NcclTests) tests = nccl_tests_parse ("fuzz.txt", (const char *) data, size, &error);

  if (tests == NULL)
    {
      g_assert_true (error != NULL && g_utf8_validate (error->message, -1, NULL));
      if (strpbrk (error->message, "\n\r\x1b") != NULL)
        g_error ("not one clean line: %s", error->message);
      return 0;
    }
  g_assert_no_error (error);
  for (guint i = 0; i < tests->rows->len; i++)
    {
      const NcclTestsRow *row = &g_array_index (tests->rows, NcclTestsRow, i);

      g_assert_true (row->size > 0 && row->time > 0 && isfinite (row->time) && row->nodes >= 1 && row->per_node >= 1);
      g_assert_cmpuint (row->system, <, tests->systems->len);
    }
  return 0;
}
