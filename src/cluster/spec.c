/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>

#include "cluster/cluster.h"

const Key cluster_keys[] = {
  { "machine", KEY_STRING, UNIT_NONE, offsetof (ClusterSpec, machine), NULL,
    "Machine type of the workers: see `lockstep list machines`.", .required = TRUE },
  { "nodes", KEY_COUNT, UNIT_NONE, offsetof (ClusterSpec, nodes), "1",
    "Number of worker nodes.", 1, CLUSTER_MAX_NODES },
  { "gpus-per-node", KEY_COUNT, UNIT_NONE, offsetof (ClusterSpec, gpus_per_node), NULL,
    "GPUs used in each node; without it all that the machine has.", 1, 1024 },
  { "gpu", KEY_STRING, UNIT_NONE, offsetof (ClusterSpec, gpu), NULL,
    "Another GPU in place of the machine's: see `lockstep list gpus`." },
  { NULL }
};

#define AT(field) offsetof (ServerSpec, field)
static const char machine_help[] = "Machine type without a GPU.";
static const char efficiency_help[] = "Share of the line reached on each NIC of the path; without it the lower of the transport's two.";
static const char latency_help[] = "Software time of one call; without it the transport's.";
static const char sum_help[] = "Bytes a server sums a second per 16 vCPU; without it the transport's.";

const Key reduction_server_keys[] = {
  { "machine", KEY_STRING, UNIT_NONE, AT (machine), "n1-highcpu-16", machine_help },
  { "count", KEY_COUNT, UNIT_NONE, AT (count), "0", "Number of reducers; 0: none.", 0, CLUSTER_MAX_NODES },
  { "efficiency", KEY_NUMBER, UNIT_SHARE, AT (efficiency), NULL, efficiency_help, 1e-4, 1 },
  { "latency", KEY_QUANTITY, UNIT_TIME, AT (latency), NULL, latency_help, 0, 10 },
  { "sum-rate", KEY_QUANTITY, UNIT_RATE, AT (sum_rate), NULL, sum_help },
  { NULL }
};

const Key parameter_server_keys[] = {
  { "machine", KEY_STRING, UNIT_NONE, AT (machine), "n1-highcpu-16", machine_help },
  { "count", KEY_COUNT, UNIT_NONE, AT (count), "0", "Number of parameter servers; 0: none.", 0, CLUSTER_MAX_NODES },
  { "efficiency", KEY_NUMBER, UNIT_SHARE, AT (efficiency), NULL, efficiency_help, 1e-4, 1 },
  { "latency", KEY_QUANTITY, UNIT_TIME, AT (latency), NULL, latency_help, 0, 10 },
  { "sum-rate", KEY_QUANTITY, UNIT_RATE, AT (sum_rate), NULL, sum_help },
  { "colocated", KEY_BOOLEAN, UNIT_NONE, AT (colocated), "false", "The servers run on the workers themselves." },
  { "local-reduction", KEY_BOOLEAN, UNIT_NONE, AT (local_reduction), "false",
    "Gradients are reduced in the node first, and tensors cut into parts (BytePS)." },
  { NULL }
};
