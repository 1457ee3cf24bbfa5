/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/sensitivity.h"
#include "run/steady.h"
#include "run/summary.h"
#include "run/tier.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A duration longer by this share. */
static const double nudge = 0.01;
/* Below this a resource is said to change nothing. */
static const double nothing = 1e-6;

/* One resource: a factor in DurationScale, or a rate of the compute model. */
typedef struct
{
  const char *name;
  gsize       scale;      /* offset in DurationScale */
  gsize       rate;       /* offset in ComputeModel, 0: none; with second: both */
  gsize       second;
  gboolean    inverse;    /* a rate: the duration is its inverse */
} Resource;

static const Resource resources[] = {
  { "GPU rate", 0, offsetof (ComputeModel, peak_tensor), offsetof (ComputeModel, peak_plain), TRUE },
  { "GPU memory rate", 0, offsetof (ComputeModel, bandwidth), 0, TRUE },
  { "kernel floor", 0, offsetof (ComputeModel, t0), 0, FALSE },
  { "host", offsetof (DurationScale, host), 0, 0, FALSE },
  { "framework", offsetof (DurationScale, framework), 0, 0, FALSE },
  { "input", offsetof (DurationScale, input), 0, 0, FALSE },
  { "network latency", offsetof (DurationScale, latency), 0, 0, FALSE },
};

#define AT(base, offset) ((double *) (void *) ((char *) (base) + (offset)))

/* The step with scaled durations.  The graph is built anew only for rates of the
 * GPU; the flows do not depend on them. */
static gboolean
step_at (const Point *point, const ComputeModel *compute, const DurationScale *scale, double *seconds, GError **error)
{
  StepInput input = point->input;
  g_autoptr (StepGraph) graph = NULL;
  g_autoptr (Messages) messages = NULL;
  g_autoptr (Execution) x = NULL;
  Window window;

  input.compute = compute;
  if (!tier_build (point, &input, &graph, &messages, error))
    return FALSE;
  x = execution_new (graph, cluster_network (point->cluster), FALSE);
  if (messages != NULL)
    execution_messages (x, messages);
  execution_scale (x, scale);
  if (!steady_run (x, &window, error))
    return FALSE;
  *seconds = steady_seconds (&window);
  return TRUE;
}

static gboolean
resource_at (const Point *point, const Resource *resource, double factor, double *seconds, GError **error)
{
  ComputeModel compute = point->compute;
  DurationScale scale = duration_as_is;
  const double rate = resource->inverse ? 1 / factor : factor;

  if (resource->rate == 0)
    *AT (&scale, resource->scale) = factor;
  else
    *AT (&compute, resource->rate) *= rate;
  if (resource->second != 0)
    *AT (&compute, resource->second) *= rate;
  return step_at (point, &compute, &scale, seconds, error);
}

static void
add (NamedTime **out, guint *n, const char *name, double as_is, double longer)
{
  const double slope = (log (longer) - log (as_is)) / log1p (nudge);

  if (fabs (slope) > nothing)
    summary_add_time (out, n, name, slope);
}

/* "nic-out" and "nic-in" are both ways of one "nic". */
static char *
wire_name (const LinkClass *link)
{
  if (g_str_has_suffix (link->name, "-out"))
    return g_strndup (link->name, strlen (link->name) - strlen ("-out"));
  return g_strdup (link->name);
}

/* The other way of a wire, or 0. */
static Id
other_way (const Network *network, const char *wire)
{
  g_autofree char *name = g_strconcat (wire, "-in", NULL);

  for (Id link = 1; link <= network_n_links (network); link++)
    {
      if (g_str_equal (network_link (network, link)->name, name))
        return link;
    }
  return 0;
}

static gboolean
add_links (const Point *point, double as_is, NamedTime **out, guint *n, GError **error)
{
  const Network *network = cluster_network (point->cluster);

  for (Id link = 1; link <= network_n_links (network); link++)
    {
      g_autofree char *wire = wire_name (network_link (network, link));
      DurationScale scale = duration_as_is;
      double longer;

      if (g_str_has_suffix (wire, "-in"))
        continue;
      scale.links[0] = link;
      scale.links[1] = other_way (network, wire);
      scale.link = 1 + nudge;
      if (!step_at (point, &point->compute, &scale, &longer, error))
        return FALSE;
      add (out, n, wire, as_is, longer);
    }
  return TRUE;
}

static int
larger_first (gconstpointer a, gconstpointer b)
{
  const double x = fabs (((const NamedTime *) a)->seconds), y = fabs (((const NamedTime *) b)->seconds);

  return (x < y) - (x > y);
}

gboolean
sensitivity_list (const Point *point, NamedTime **out, guint *n, GError **error)
{
  double as_is;

  if (!step_at (point, &point->compute, &duration_as_is, &as_is, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (resources); i++)
    {
      double longer;

      if (!resource_at (point, &resources[i], 1 + nudge, &longer, error))
        return FALSE;
      add (out, n, resources[i].name, as_is, longer);
    }
  if (!add_links (point, as_is, out, n, error))
    return FALSE;
  if (*n > 1)
    qsort (*out, *n, sizeof **out, larger_first);
  return TRUE;
}

gboolean
sensitivity_all (const Point *point, double factor, double *seconds, GError **error)
{
  const DurationScale scale = { .host = factor, .framework = factor, .input = factor, .kernel = factor,
                                .optimizer = factor, .latency = factor, .link = factor };

  return step_at (point, &point->compute, &scale, seconds, error);
}
