/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/origin.h"
#include "network/path.h"

/* A transport part, models/transport/NAME.ini: what software makes of a link.
 * Symbols in brackets are those of the cost model of collectives.  NAN: not
 * given by the part. */
enum { TRANSPORT_IN_NODE, TRANSPORT_BETWEEN, TRANSPORT_BOTH };
enum { TRANSPORT_LINK_ANY, TRANSPORT_LINK_NVLINK, TRANSPORT_LINK_PCIE };
/* Rows of tables by compute capability; Volta and all before it, Ampere and Ada,
 * Blackwell and all after it. */
typedef enum { GENERATION_VOLTA, GENERATION_AMPERE, GENERATION_HOPPER, GENERATION_BLACKWELL, N_GENERATIONS } Generation;
Generation generation_find (const char *name);   /* a GPU part's "Ampere"; NULL or another: Volta */

/* Point to point: all-to-all, send/recv. */
typedef struct
{
  double launch, launch_ratio;  /* s [tP]; NAN: the ratio of launch[LL] */
  double simple, simple_ratio;  /* s more for Simple [dP]; NAN: the ratio of what a ring takes more */
  double node_share;            /* of a ring's rate in the node [fP] */
  double share;                 /* of the NICs' typical rate, many peers */
  double pair_share, few_share; /* of one NIC's typical rate, one peer: among many ranks, among few; NAN: the same */
  double ll;                    /* of the rate, LL [fLp] */
} PointToPoint;
typedef struct
{
  char    *name, *aliases, *summary;
  int      place;               /* in the node or between nodes */
  int      link;                /* which link of the GPU it takes, in the node */
  double   launch[N_PROTOCOLS]; /* s [t0, t0 + dM, t0 + dS] */
  double   hop[N_PROTOCOLS];    /* s [gL gM gS | hL hM hS] */
  double   launch_of[N_GENERATIONS][N_PROTOCOLS], hop_of[N_GENERATIONS][N_PROTOCOLS];   /* NAN: as above */
  double   share[N_PROTOCOLS];  /* [fL fM 1] */
  gboolean ll128;
  double   efficiency_one;      /* share of a NIC's line with one GPU behind it */
  double   efficiency_several;  /* with several */
  double   cap;                 /* bytes/s of one node, one way; NAN: none */
  double   fill, ramp, ramp_size, norm, blend;   /* blend NAN: the smaller rate */
  double   fill_blackwell;      /* NAN: fill */
  double   local_ratio;         /* local slot over ring rate [Cl/B]; NAN: no slot */
  double   plateau_fill;        /* share of the time that fill adds where plateaus are read (512 MiB) */
  double   tree_share;          /* of the rate that a tree reaches [fT] */
  double   nvls_latency;        /* s [av] */
  double   nvls_share[N_GENERATIONS];   /* bus bandwidth over the link's nominal rate [Bv]; NAN: none */
  double   switch_share;        /* of the rate, where switches add */
  double   pat_hop, pat_share;  /* of Simple's hop, of the rate */
  PointToPoint p2p;
  double   host_reduce;         /* bytes of message/s of an all-reduce in host memory; NAN: no limit of its own */
  double   spread;              /* factor: nine of ten measured times lie within it either way */
  double   ring_share[4];       /* of the slot's nominal rate for 2, 4, 8, 16 GPUs; NAN: the machine's figures */
  double   host_copy, chunk, local_message;
  double   server_latency;      /* s a call; NAN: none */
  double   server_efficiency;   /* at most this share of the line on a server path; NAN: no limit of its own */
  double   server_sum_rate;     /* bytes/s a server sums per 16 vCPU; NAN: no limit */
  double   nccl_bus;            /* NCCL's own figure for the links over their nominal rate; NAN: as measured */
  KeyFile *part;
} Transport;

/* Errors list the near names; caller frees. */
Transport *transport_load   (const char *name, GError **error);
void       transport_free   (Transport *transport);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Transport, transport_free)
/* Where a value of the part comes from; text borrowed from the part. */
Origin     transport_origin (const Transport *transport, const char *key);
/* Of a launch or hop, "hop-ll": of the generation's own figure where there is one. */
Origin     transport_origin_of (const Transport *transport, const char *key, Generation generation);
/* The largest bytes/s a ring asymptotically reaches, from the bus bandwidth that
 * it keeps at large messages with n GPUs: the local slot and the fill taken off. */
double     transport_asymptote (const Transport *transport, double plateau, double n);
/* Launch and hop of a protocol on GPUs of one generation. */
double     transport_launch (const Transport *transport, Generation generation, Protocol protocol);
double     transport_hop    (const Transport *transport, Generation generation, Protocol protocol);
/* What the software says, into the paths; links and rates of the legs are filled
 * before.  In the node: hops, shares, NVLS where there is NVSwitch. */
void       transport_fill_node (const Transport *in_node, Generation generation, gboolean nvswitch, Paths *out);
/* `t`: what the group's collectives take, in_node on one node, else between. */
void       transport_fill   (const Transport *t, const Transport *between, Generation generation, Paths *out);
