/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective/schedule.h"

/* In the memory of the hosts: the schedules of others, their CPUs' hops and rates. */

static gboolean
plan_gloo (Schedule *s, const RankGroup *group, const Paths *paths, GError **error)
{
  s->priced = PRICED_HOST;
  return ring_steps.plan (s, group, paths, error);
}

static gboolean
is_power_of_two (uint32_t n)
{
  return (n & (n - 1)) == 0;
}

/* Bytes from which Open MPI's ring is taken (ompi/mca/coll/tuned, fixed decision). */
#define RING_FROM 10000

gboolean
host_mpi_halves (double size, guint64 nodes, guint64 per_node)
{
  return size < RING_FROM || (is_power_of_two ((uint32_t) nodes) && is_power_of_two ((uint32_t) per_node));
}

static const CollectiveSteps *
mpi_steps (const Schedule *s)
{
  return host_mpi_halves (s->size, s->nodes, s->per_node) ? &halving_doubling_steps : &ring_steps;
}

static gboolean
plan_mpi (Schedule *s, const RankGroup *group, const Paths *paths, GError **error)
{
  s->priced = PRICED_HOST;
  return mpi_steps (s)->plan (s, group, paths, error);
}

static gboolean
mpi_message (const Schedule *s, uint32_t rank, uint32_t track, uint32_t step, uint32_t chunk, Message *out)
{
  return mpi_steps (s)->message (s, rank, track, step, chunk, out);
}

static gboolean
gloo_message (const Schedule *s, uint32_t rank, uint32_t track, uint32_t step, uint32_t chunk, Message *out)
{
  return ring_steps.message (s, rank, track, step, chunk, out);
}

const CollectiveSteps host_mpi_steps = { plan_mpi, mpi_message };
const CollectiveSteps gloo_steps = { plan_gloo, gloo_message };
