/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>

#include "cluster/cluster.h"

const char *const gpu_link_names[] = { "as-machine", "none", "pcie", "pcie-host", "nvlink-mesh", "nvlink-bridge", "nvswitch",
                                       "infinity-fabric", NULL };

static const char *const rank_order_names[] = { "as-placed", "by-leaf", NULL };

const Key calibration_keys[] = {
  { "system", KEY_STRING, UNIT_NONE, offsetof (CalibrationSpec, system), NULL,
    "A measured installation, whose values beat the transports': a file that `lockstep calibrate network` wrote, or a name of models/system." },
  { NULL }
};

const Key cluster_keys[] = {
  { "machine", KEY_STRING, UNIT_NONE, offsetof (ClusterSpec, machine), NULL,
    "Machine type of the workers: see `lockstep list machines`; without it (or custom) the keys from gpu on describe it." },
  { "nodes", KEY_COUNT, UNIT_NONE, offsetof (ClusterSpec, nodes), "1",
    "Number of worker nodes.", 1, CLUSTER_MAX_NODES },
  { "gpus-per-node", KEY_COUNT, UNIT_NONE, offsetof (ClusterSpec, gpus_per_node), NULL,
    "GPUs used in each node; without it all that the machine has.", 1, 1024 },
  { "gpu", KEY_STRING, UNIT_NONE, offsetof (ClusterSpec, gpu), NULL,
    "GPU, in place of the machine's: see `lockstep list gpus`." },
  { "gpu-link", KEY_CHOICE, UNIT_NONE, offsetof (ClusterSpec, gpu_link), "as-machine",
    "What joins the GPUs of a node, in place of the machine's; pcie-host: PCIe without peer access.", .choices = gpu_link_names },
  { "ring-bandwidth", KEY_QUANTITY, UNIT_RATE, offsetof (ClusterSpec, ring_bandwidth), NULL,
    "Bus bandwidth that a large ring keeps inside a node, in place of the machine's." },
  { "nics", KEY_COUNT, UNIT_NONE, offsetof (ClusterSpec, nics), NULL,
    "Network cards of a node for the GPUs' traffic, in place of the machine's.", 1, 1024 },
  { "nic-bandwidth", KEY_QUANTITY, UNIT_RATE, offsetof (ClusterSpec, nic_bandwidth), NULL,
    "Nominal rate of one card, one way, in place of the machine's." },
  { "vcpus", KEY_COUNT, UNIT_NONE, offsetof (ClusterSpec, vcpus), NULL,
    "Virtual cores of a node, in place of the machine's.", 1, 1e5 },
  { "placement", KEY_STRING, UNIT_NONE, offsetof (ClusterSpec, placement), "packed",
    "Places of the nodes in order of their ranks: packed, scattered (dealt over the leaves), or a list as in 0, 16, 1, 17." },
  { "rank-order", KEY_CHOICE, UNIT_NONE, offsetof (ClusterSpec, rank_order), "as-placed",
    "Nodes are numbered as placed, or leaf by leaf.", .choices = rank_order_names },
  { NULL }
};

#define AT(field) offsetof (ServerSpec, field)
static const char machine_help[] = "Machine type without a GPU.";
static const char efficiency_help[] = "Share of the line reached on each NIC of the path; without it the lower of the transport's two.";
static const char latency_help[] = "Software time of one call; without it the transport's.";
static const char sum_help[] = "Bytes a server sums a second per 16 vCPU; without it the transport's.";

static const char *const colocated_names[] = { "false", "true", "both", NULL };

const Key reduction_server_keys[] = {
  { "machine", KEY_STRING, UNIT_NONE, AT (machine), "n1-highcpu-16", machine_help },
  { "count", KEY_COUNT, UNIT_NONE, AT (count), "0", "Number of reducers; 0: none.", 0, CLUSTER_MAX_NODES },
  { "efficiency", KEY_QUANTITY, UNIT_SHARE, AT (efficiency), NULL, efficiency_help, 1e-4, 1 },
  { "latency", KEY_QUANTITY, UNIT_TIME, AT (latency), NULL, latency_help, 0, 10 },
  { "sum-rate", KEY_QUANTITY, UNIT_RATE, AT (sum_rate), NULL, sum_help },
  { NULL }
};

const Key parameter_server_keys[] = {
  { "machine", KEY_STRING, UNIT_NONE, AT (machine), "n1-highcpu-16", machine_help },
  { "count", KEY_COUNT, UNIT_NONE, AT (count), "0", "Number of parameter servers; 0: none.", 0, CLUSTER_MAX_NODES },
  { "efficiency", KEY_QUANTITY, UNIT_SHARE, AT (efficiency), NULL, efficiency_help, 1e-4, 1 },
  { "latency", KEY_QUANTITY, UNIT_TIME, AT (latency), NULL, latency_help, 0, 10 },
  { "sum-rate", KEY_QUANTITY, UNIT_RATE, AT (sum_rate), NULL, sum_help },
  { "colocated", KEY_CHOICE, UNIT_NONE, AT (colocated), "false",
    "The servers run on the workers themselves; both: on all workers, and count machines besides (BytePS).", .choices = colocated_names },
  { "local-reduction", KEY_BOOLEAN, UNIT_NONE, AT (local_reduction), "false",
    "Gradients are reduced in the node first, and tensors cut into parts (BytePS)." },
  { NULL }
};
