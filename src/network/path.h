/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "network/mesh.h"
#include "network/network.h"
#include "network/placement.h"

typedef enum { PROTOCOL_LL, PROTOCOL_LL128, PROTOCOL_SIMPLE, N_PROTOCOLS, PROTOCOL_AUTO = N_PROTOCOLS } Protocol;
extern const char *const protocol_names[];   /* "ll", "ll128", "simple", "auto", NULL */

/* One communicator as placed, and its twins: groups that do the same at the
 * same instant over the same nodes' links. */
typedef struct
{
  guint64 n_ranks, n_nodes, per_node;
  guint64 twins_per_node;       /* groups that share each node's NICs, this one counted: 1 = alone */
  guint64 stride;               /* from a member in a node to the next, in GPUs; 0 as 1: side by side */
  guint64 spacing;              /* from a member to the next, in ranks, among all who make such groups at once; 0 as 1 */
  guint64 node_stride;          /* from one of its nodes to the next; 0 as 1.  The nodes between have groups of their own that do the same */
} RankGroup;

/* A link that the GPUs of a node share (host bridge, link between CPUs) and that
 * the group's ring crosses. */
typedef struct
{
  Id     link;
  double capacity;              /* bytes/s, both ways together, typical */
  double edges;                 /* crossings, both ways together, twins counted: bytes on it per byte that a GPU sends */
} PathBridge;
#define PATH_MAX_BRIDGES 2

/* The hops of one kind (inside the node, or between nodes) as software makes
 * them: parameters of knowledge "cost model of collectives", its names in brackets. */
typedef struct
{
  Id     out, in;               /* link classes; equal where one class stands for both */
  double links;                 /* parallel links of the class a node (NICs, rails) or a GPU has: bytes spread over them */
  double capacity;              /* bytes/s of one link, nominal */
  double rate;                  /* bytes/s: of a ring per GPU inside [B], of all links of a node between [Bn]; typical */
  double hop[N_PROTOCOLS];      /* s [gL gM gS | hL hM hS] */
  double share[N_PROTOCOLS];    /* of `rate` the protocol reaches [fL fM 1] */
  guint  n_bridges;             /* inside the node: where GPUs are joined by PCIe */
  PathBridge bridge[PATH_MAX_BRIDGES];
} PathLeg;

/* The links above the switches that nodes hang on: of a leaf, a pod of leaves, a
 * group of a dragonfly.  Their capacity is what hashing of flows leaves. */
typedef struct
{
  Id     up, down;              /* link classes, one link for each switch (rail: of each rail) */
  double capacity;              /* bytes/s of one */
  double below;                 /* nodes below one */
  double neighbour, uniform;    /* of the capacity that reaches one other switch, and all others alike: less than 1 between groups of a dragonfly */
} PathLevel;

/* What NCCL itself believes inside a box, from which it picks algorithm and
 * protocol (network/nccl.h); the prices are those of the legs.  Rates are its
 * bus bandwidths, bytes/s; 0: it does not use the pair. */
#define NCCL_SIZES 23
typedef struct { double base[N_PROTOCOLS], hop[N_PROTOCOLS], rate[N_PROTOCOLS]; } NcclRow;
typedef struct
{
  NcclRow ring, tree;
  double  nvls_latency, nvls_rate;
  const double (*tree_size)[NCCL_SIZES];   /* factor of the tree's rate by protocol and floor (log2 (bytes/64)); NULL: 1 */
} NcclTable;

typedef struct
{
  PathLeg  in_node, between;    /* in_node.rate 0: no link between the GPUs of a node is known */
  const Mesh *mesh;             /* of the GPUs of a node, borrowed of the cluster; NULL: all joined alike */
  double   mesh_link;           /* bytes/s of one of its links, typical */
  guint    mesh_stride;         /* from one of the group's GPUs to the next */
  NcclTable nccl;
  double   launch[N_PROTOCOLS]; /* s before the first hop [t0, t0 + dM, t0 + dS] */
  double   local;               /* bytes/s of the rank's own block [Cl]; INFINITY: none */
  double   fill;                /* pipeline fill [phi] */
  double   ramp;                /* step of the LL latency [q] */
  double   ramp_size;           /* bytes where it stands half-way [S0] */
  double   norm;                /* how ring latency and bytes add: 1 sum, 2 overlap; 1.4 in a box */
  double   blend;               /* exponent of the harmonic mean of B and Bn; INFINITY: the smaller of them */
  double   tree_share;          /* of the rate that a tree reaches, Simple [fT] */
  double   tree_share_ll;       /* the same, LL and LL128 [fTl] */
  double   simple_from;         /* bytes of an all-reduce between nodes from which NCCL takes Simple, seen; 0: where it is cheaper */
  gboolean simple_ring;         /* from there on rings only, seen */
  double   nvls_rate;           /* bytes/s, bus bandwidth of an all-reduce in NVSwitch [Bv]; 0: none here */
  double   nvls_latency;        /* s [av] */
  double   switch_share;        /* of the rate, where the switches between nodes add */
  gboolean switch_reduction;    /* they do */
  double   pat_hop, pat_share;  /* of Simple's hop, of the rate */
  double   p2p_launch, p2p_simple;   /* s [tP, dP] */
  double   p2p_node_share;      /* of in_node.rate [fP] */
  double   p2p_share, p2p_ll;   /* of the NICs' rate; LL's share [fLp] */
  double   p2p_pair_share, p2p_few_share;   /* of one NIC's with one peer: among many ranks, among few */
  double   host_reduce;         /* bytes of message/s of an all-reduce in host memory; INFINITY: no limit */
  double   spread;              /* nine of ten measured times lie within this factor, either way */
  double   host_copy;           /* bytes/s of one copy over the host, INFINITY: none (counted by grpc and host paths) */
  double   chunk;               /* bytes of the largest message of a host path, 0: any */
  double   local_message;       /* s of a host path's message that stays in the node */
  gboolean ll128;               /* is it there */
  /* above the switches that the nodes hang on */
  guint    n_levels;            /* 0: one switch */
  PathLevel level[PLACEMENT_MAX_LEVELS];
  const Placement *placement;   /* borrowed of the cluster */
  guint64  box;                 /* nodes of it that a "node" of the group is */
  double   level_latency;       /* s more for each level that a message climbs */
  gboolean rails;               /* the cards of one number meet in a leaf of their own */
  gboolean pxn;                 /* rails: bytes for another rail pass over NVLink first */
  gboolean minimal;             /* dragonfly: only the links between the two groups */
  /* reducers or parameter servers, 0: none */
  Id       server_out, server_in;
  guint64  servers;
  double   server_capacity;     /* bytes/s of one server's NIC */
  double   server_efficiency;   /* share of the line on the server's NIC */
  double   server_nic_efficiency;   /* on the worker's: the same, and the transport's cap of a node */
  double   server_latency;      /* s a call, software of both ends */
  double   server_sum;          /* bytes a server sums a second [rho] */
  gboolean server_local_reduction;  /* parameter server: reduce in the node first (BytePS) */
  gboolean server_colocated;    /* parameter server: on `servers` of the workers themselves */
  gboolean server_on_both;      /* parameter server: on all workers, and on `servers` machines besides */
  double   line_share;          /* the transport's share of the line, before its cap of a node */
  double   between_efficiency;  /* rate/(links x capacity) of `between` */
  gboolean between_capped;      /* that is less than line_share: the software of a node is the limit, not its line */
} Paths;

/* Servers whose lines together match the workers': ceil (nodes x node line/server
 * line), the sizing rule of reduction servers. */
guint64 path_servers_needed (guint64 nodes, double node_line, double server_line);
/* Of a message between single GPUs of a node; a measured floor of the call holds it. */
static inline double
path_point_hop (const Paths *paths, Protocol protocol)
{
  return paths->p2p_launch > 0 ? 0 : paths->in_node.hop[protocol];
}
/* Of one NIC's rate with one peer, in a communicator of `ranks`. */
double  path_pair_share     (const Paths *paths, double ranks);
