/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "calibrate/network-fit.h"

/* Centres (us, GB/s, shares) and deviations of ln.  The hop centres are NCCL's own
 * constants, rounded (NCCL 2.30 src/graph/tuning.cc); shares and launches are the
 * middle of what nccl-tests sweeps of 27 systems showed; rates and floors are those
 * of the rows themselves, see below. */
typedef struct { double nvlink, pcie, sd_nvlink, sd_pcie; } Row;
static const Row rows_of[N_SYSTEM] = {
  [SYSTEM_T0] = { 8, 7, 0.5, 0.5 },
  [SYSTEM_GL] = { 0.9, 1.5, 0.4, 0.4 },
  [SYSTEM_GM] = { 1.6, 2.5, 0.4, 0.4 },
  [SYSTEM_GS] = { 3.5, 5.7, 0.4, 0.4 },
  [SYSTEM_DM] = { 3, 3, 0.7, 0.7 },
  [SYSTEM_DS] = { 8, 8, 0.7, 0.7 },
  [SYSTEM_B] = { 0, 0, 0.25, 0.25 },
  [SYSTEM_FL] = { 0.5, 0.7, 0.3, 0.3 },
  [SYSTEM_FM] = { 0.8, 0.8, 0.2, 0.2 },
  [SYSTEM_CL] = { 2, 2, 0.4, 0.4 },           /* of B */
  [SYSTEM_PHI] = { 1, 1, 0.6, 0.6 },
  [SYSTEM_Q] = { 0.2, 0.2, 0.5, 0.5 },
  [SYSTEM_GAM] = { 0.02, 0.3, 1, 0.8 },
  [SYSTEM_BV] = { 0, 0, 0.1, 0.1 },
  [SYSTEM_AV] = { 18, 18, 0.4, 0.4 },
  [SYSTEM_HL] = { 5, 5, 0.7, 0.7 },
  [SYSTEM_HM] = { 2.4, 2.4, 1, 1 },           /* of hL */
  [SYSTEM_HS] = { 30, 30, 1, 1 },             /* and 1.4 hL */
  [SYSTEM_BN] = { 0, 0, 0.25, 0.25 },
  [SYSTEM_FT] = { 0.85, 0.85, 0.2, 0.2 },
  [SYSTEM_FTL] = { 0.85, 0.85, 0.2, 0.2 },
  [SYSTEM_FLN] = { 0.2, 0.2, 0.6, 0.6 },
  [SYSTEM_FMN] = { 0.7, 0.7, 0.35, 0.35 },
  [SYSTEM_TP] = { 0, 0, 0.4, 0.4 },
  [SYSTEM_DP] = { 6, 6, 0.5, 0.5 },
  [SYSTEM_FP] = { 0.7, 0.85, 0.15, 0.15 },
  [SYSTEM_FLP] = { 0.08, 0.08, 0.6, 0.6 },
  [SYSTEM_FPN] = { 0.8, 0.8, 0.2, 0.2 },
  [SYSTEM_FPP] = { 0.36, 0.36, 0.4, 0.4 },
};
/* A plateau is below the asymptote by slot and fill. */
static const double over_plateau = 1.12;
/* Of the nominal rate, where no plateau was seen: NVLink rings .83-.99; slots half. */
static const double of_nvlink = 0.9, of_slot = 0.5;
static const double large = 16 << 20, small = 64 << 10;

/* What the rows say without a model: floors in s, rates in bytes/s; NAN: nothing. */
typedef struct { double box_floor, box_rate, nvls_rate, p2p_floor, hop, node_rate; } Seen;

static gboolean
is_pairs (CollectiveOp op)
{
  return op == OP_ALL_TO_ALL || op == OP_SEND_RECV;
}

static double
hops_of (CollectiveOp op, double nodes)
{
  return op == OP_ALL_REDUCE ? 2 * log2 (nodes) : nodes - 1;
}

/* Bytes/s of a node's NICs, were they the limit. */
static double
node_rate_of (const NcclTestsRow *row, double rails)
{
  const double n = (double) (row->nodes * row->per_node), p = (double) row->per_node, alg = row->size / row->time;

  if (row->op == OP_ALL_TO_ALL)
    return alg * p * (n - p) / n / 0.8;
  if (row->op == OP_SEND_RECV)
    return alg * rails / 0.36;
  /* a tree of two nodes sends each byte once each way, a ring almost twice */
  return alg * (row->op == OP_ALL_REDUCE && row->nodes == 2 ? 0.7 * 2 * (n - 1) / n : collective_bus_factor (row->op, row->nodes * row->per_node));
}

static void
see_box (const NetworkModel *model, const NcclTestsRow *row, double gl, guint64 *least_n, guint64 *least_p, Seen *seen)
{
  const guint64 n = row->per_node;
  const double bus = row->size / row->time * collective_bus_factor (row->op, n);
  const double hops = (row->op == OP_ALL_REDUCE ? 2 : 1) * (double) (n - 1);

  if (is_pairs (row->op))
    {
      if (row->size <= small)
        seen->p2p_floor = fmin (seen->p2p_floor, row->time);
      return;
    }
  if (row->size <= small && n <= *least_n)
    {
      if (n < *least_n)
        seen->box_floor = INFINITY;
      *least_n = n;
      seen->box_floor = fmin (seen->box_floor, fmax (row->time - hops * gl, 0.35 * row->time));
    }
  if (row->size < large)
    return;
  if (n >= 8 && row->op == OP_ALL_REDUCE && model->nvswitch && generation_find (model->gpu->generation) >= GENERATION_HOPPER)
    seen->nvls_rate = fmax (seen->nvls_rate, bus);
  else if (model->nvlink || n <= *least_p)
    {
      if (!model->nvlink && n < *least_p)
        seen->box_rate = 0;
      *least_p = n;
      seen->box_rate = fmax (seen->box_rate, bus);
    }
}

static void
see (const NetworkModel *model, const GPtrArray *rows, Seen *seen)
{
  const double gl = 1e-6 * (model->nvlink ? rows_of[SYSTEM_GL].nvlink : rows_of[SYSTEM_GL].pcie);
  guint64 least_n = G_MAXUINT64, least_p = G_MAXUINT64;

  *seen = (Seen) { INFINITY, 0, 0, INFINITY, INFINITY, 0 };
  for (guint i = 0; i < rows->len; i++)
    {
      const NcclTestsRow *row = g_ptr_array_index (rows, i);

      if (row->nodes < 2)
        see_box (model, row, gl, &least_n, &least_p, seen);
    }
  for (guint i = 0; i < rows->len; i++)
    {
      const NcclTestsRow *row = g_ptr_array_index (rows, i);
      const double launch = isfinite (seen->box_floor) ? seen->box_floor : 8e-6;

      if (row->nodes < 2)
        continue;
      if (row->size <= small && !is_pairs (row->op))
        seen->hop = fmin (seen->hop, (row->time - launch - 2 * gl * (double) (row->per_node - 1)) / hops_of (row->op, (double) row->nodes));
      else if (row->size <= small)
        seen->p2p_floor = fmin (seen->p2p_floor, row->time);
      if (row->size >= large)
        seen->node_rate = fmax (seen->node_rate, node_rate_of (row, model->rails));
    }
}

void
network_priors (const NetworkModel *model, const GPtrArray *rows, NetworkPriors *out)
{
  double *c = out->centre;
  Seen seen;

  see (model, rows, &seen);
  for (int i = 0; i < N_SYSTEM; i++)
    {
      const Unit unit = system_parameters[i].unit;

      c[i] = (model->nvlink ? rows_of[i].nvlink : rows_of[i].pcie) * (unit == UNIT_TIME ? 1e-6 : 1);
      out->sd[i] = model->nvlink ? rows_of[i].sd_nvlink : rows_of[i].sd_pcie;
    }
  if (isfinite (seen.box_floor))
    c[SYSTEM_T0] = seen.box_floor;
  c[SYSTEM_B] = seen.box_rate > 0 ? over_plateau * seen.box_rate : model->nominal * (model->nvlink ? of_nvlink : of_slot);
  if (generation_find (model->gpu->generation) == GENERATION_BLACKWELL)
    {
      c[SYSTEM_FL] = 0.35;
      out->sd[SYSTEM_GS] = 1;   /* NCCL's constants have it as before; its curves are far above */
      c[SYSTEM_AV] *= 1.5;      /* as its LL hops are of Hopper's */
    }
  c[SYSTEM_CL] *= c[SYSTEM_B];
  c[SYSTEM_BV] = seen.nvls_rate > 0 ? 1.08 * seen.nvls_rate
                 : model->nominal * (isnan (model->in_node->nvls_share[generation_find (model->gpu->generation)])
                                       ? 1 : model->in_node->nvls_share[generation_find (model->gpu->generation)]);
  /* fabrics whose transport has no fill overlap hops and bytes wholly */
  if (!(model->between->fill > 0) && !isfinite (seen.box_floor) && seen.hop < INFINITY)
    {
      c[SYSTEM_PHI] = 0;
      out->sd[SYSTEM_PHI] = 0;
    }
  if (isfinite (seen.hop))
    c[SYSTEM_HL] = CLAMP (seen.hop, 2e-6, 1e-3);
  c[SYSTEM_HM] = rows_of[SYSTEM_HM].nvlink * c[SYSTEM_HL];
  c[SYSTEM_HS] += 1.4 * c[SYSTEM_HL];
  c[SYSTEM_BN] = seen.node_rate > 0 ? seen.node_rate * 1.08 : 25e9;
  c[SYSTEM_TP] = isfinite (seen.p2p_floor) ? seen.p2p_floor : c[SYSTEM_T0] + 1e-6;
}
