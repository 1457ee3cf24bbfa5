/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "network/mesh.h"
#include "base/keys.h"
#include <math.h>

/* No mesh has more; hops of all ways fit MESH_MOST_HOPS. */
#define MOST_GPUS 16u
#define MOST_WIDE 18u

struct Mesh
{
  guint gpus;
  guint links[MOST_GPUS][MOST_GPUS];
};

static gboolean
read_number (char *text, guint least, guint most, guint *out)
{
  guint64 number;

  if (!g_ascii_string_to_unsigned (g_strstrip (text), 10, least, most, &number, NULL))
    return FALSE;
  *out = (guint) number;
  return TRUE;
}

static gboolean
read_pair (Mesh *mesh, char *item, GError **error)
{
  g_auto (GStrv) wide = g_strsplit (item, "x", 2), ends = g_strsplit (wide[0] != NULL ? wide[0] : "", "-", 2);
  guint a, b, n = 1;

  if (ends[0] != NULL && ends[1] != NULL && read_number (ends[0], 0, mesh->gpus - 1, &a) && read_number (ends[1], 0, mesh->gpus - 1, &b)
      && (wide[1] == NULL || read_number (wide[1], 1, MOST_WIDE, &n)) && a != b && mesh->links[a][b] == 0)
    {
      mesh->links[a][b] = mesh->links[b][a] = n;
      return TRUE;
    }
  g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE,
               "'%s' is no pair of %u GPUs, or given before; give each pair once, as in 0-1, 0-3 x2", g_strstrip (item), mesh->gpus);
  return FALSE;
}

Mesh *
mesh_new (const char *text, guint gpus, GError **error)
{
  g_auto (GStrv) items = g_strsplit (text, ",", -1);
  g_autoptr (Mesh) mesh = g_new0 (Mesh, 1);

  mesh->gpus = gpus;
  if (gpus < 2 || gpus > MOST_GPUS)
    {
      g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "a mesh joins 2 to %u GPUs, not %u", MOST_GPUS, gpus);
      return NULL;
    }
  for (gsize i = 0; items[i] != NULL; i++)
    if (!read_pair (mesh, items[i], error))
      return NULL;
  return g_steal_pointer (&mesh);
}

void
mesh_free (Mesh *mesh)
{
  g_free (mesh);
}

guint
mesh_gpus (const Mesh *mesh)
{
  return mesh->gpus;
}

guint
mesh_links (const Mesh *mesh, guint a, guint b)
{
  return mesh->links[a][b];
}

guint
mesh_degree (const Mesh *mesh)
{
  guint most = 0;

  for (guint a = 0; a < mesh->gpus; a++)
    {
      guint n = 0;

      for (guint b = 0; b < mesh->gpus; b++)
        n += mesh->links[a][b];
      most = MAX (most, n);
    }
  return most;
}

guint
mesh_widest (const Mesh *mesh)
{
  guint most = 0;

  for (guint a = 0; a < mesh->gpus; a++)
    for (guint b = 0; b < mesh->gpus; b++)
      most = MAX (most, mesh->links[a][b]);
  return most;
}

static guint
width_by (const Mesh *mesh, guint a, guint by, guint b)
{
  return MIN (mesh->links[a][by], mesh->links[by][b]);
}

guint
mesh_way (const Mesh *mesh, guint members, guint stride, guint a, guint b, MeshHop hops[MESH_MOST_HOPS])
{
  guint widest = 0, ways = 0, n = 0;

  if (mesh->links[a][b] > 0)
    {
      hops[0] = (MeshHop) { a, b, 1 };
      return 1;
    }
  for (guint i = 0; i < members; i++)
    {
      const guint width = width_by (mesh, a, i * stride, b);

      ways = width > widest ? 1 : ways + (width == widest);
      widest = MAX (widest, width);
    }
  for (guint i = 0; i < members && widest > 0; i++)
    if (width_by (mesh, a, i * stride, b) == widest)
      {
        hops[n++] = (MeshHop) { a, i * stride, 1. / ways };
        hops[n++] = (MeshHop) { i * stride, b, 1. / ways };
      }
  return n;
}

double
mesh_busiest (const Mesh *mesh, guint members, guint stride, gboolean all)
{
  double bytes[MOST_GPUS][MOST_GPUS] = { { 0 } }, busiest = 0;

  for (guint i = 0; i < members; i++)
    for (guint d = 1; d < (all ? members : 2); d++)
      {
        MeshHop hops[MESH_MOST_HOPS];
        const guint n = mesh_way (mesh, members, stride, i * stride, (i + d) % members * stride, hops);

        for (guint k = 0; k < n; k++)
          bytes[hops[k].from][hops[k].to] += hops[k].part;
      }
  for (guint a = 0; a < mesh->gpus; a++)
    for (guint b = 0; b < mesh->gpus; b++)
      if (mesh->links[a][b] > 0)
        busiest = fmax (busiest, bytes[a][b] / mesh->links[a][b]);
  return busiest;
}
