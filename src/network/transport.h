/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/origin.h"
#include "network/path.h"

/* A transport part, models/transport/NAME.ini: what software makes of a link.
 * Symbols in brackets are those of the cost model of collectives.  NAN: not
 * given by the part. */
enum { TRANSPORT_IN_NODE, TRANSPORT_BETWEEN, TRANSPORT_BOTH };
enum { TRANSPORT_LINK_ANY, TRANSPORT_LINK_NVLINK, TRANSPORT_LINK_PCIE };
typedef struct
{
  char    *name, *aliases, *summary;
  int      place;               /* in the node or between nodes */
  int      link;                /* which link of the GPU it takes, in the node */
  double   launch[N_PROTOCOLS]; /* s [t0, t0 + dM, t0 + dS] */
  double   hop[N_PROTOCOLS];    /* s [gL gM gS | hL hM hS] */
  double   share[N_PROTOCOLS];  /* [fL fM 1] */
  gboolean ll128;
  double   efficiency_one;      /* share of a NIC's line with one GPU behind it */
  double   efficiency_several;  /* with several */
  double   cap;                 /* bytes/s of one node, one way; NAN: none */
  double   fill, ramp, ramp_size, norm, blend;   /* blend NAN: the smaller rate */
  double   local_ratio;         /* local slot over ring rate [Cl/B]; NAN: no slot */
  double   plateau_fill;        /* share of the time that fill adds where plateaus are read (512 MiB) */
  double   ring_share[4];       /* of the slot's nominal rate for 2, 4, 8, 16 GPUs; NAN: the machine's figures */
  double   host_copy, chunk, local_message;
  double   server_latency;      /* s a call; NAN: none */
  double   server_efficiency;   /* at most this share of the line on a server path; NAN: no limit of its own */
  double   server_sum_rate;     /* bytes/s a server sums per 16 vCPU; NAN: no limit */
  double   nccl_launch[N_PROTOCOLS], nccl_hop[N_PROTOCOLS];
  double   nccl_bus;            /* NCCL's own figure for the links over their nominal rate; NAN: as measured */
  double   nccl_share[N_PROTOCOLS];
  double   nccl_ll_max[4];      /* bytes/s; Volta and before, Ampere, Hopper, Blackwell; NAN: none */
  KeyFile *part;
} Transport;

/* Errors list the near names; caller frees. */
Transport *transport_load   (const char *name, GError **error);
void       transport_free   (Transport *transport);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Transport, transport_free)
/* Where a value of the part comes from; text borrowed from the part. */
Origin     transport_origin (const Transport *transport, const char *key);
/* The largest bytes/s a ring asymptotically reaches, from the bus bandwidth that
 * it keeps at large messages with n GPUs: the local slot and the fill taken off. */
double     transport_asymptote (const Transport *transport, double plateau, double n);
