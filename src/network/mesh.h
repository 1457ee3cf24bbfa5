/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>

/* GPUs that links join pair by pair, without a switch (the cube mesh of a DGX-1).  What
 * goes between two that no link joins passes a GPU that has links to both (NCCL's path
 * NVB, 2.9 and later; the widest such ways, alike). */
typedef struct Mesh Mesh;

/* "0-1, 0-3 x2, ...": pairs and their links. */
Mesh   *mesh_new    (const char *text, guint gpus, GError **error);
void    mesh_free   (Mesh *mesh);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Mesh, mesh_free)
guint   mesh_gpus   (const Mesh *mesh);
guint   mesh_degree (const Mesh *mesh);                       /* most links of a GPU */
guint   mesh_widest (const Mesh *mesh);                       /* most links of a pair */
guint   mesh_links  (const Mesh *mesh, guint a, guint b);     /* 0: none */

/* The hops from a to b over GPUs 0, stride, 2 stride, ... of `members`: `part` of the
 * bytes over each.  0: there is no way. */
#define MESH_MOST_HOPS 32u
typedef struct { guint from, to; double part; } MeshHop;
guint   mesh_way    (const Mesh *mesh, guint members, guint stride, guint a, guint b, MeshHop hops[MESH_MOST_HOPS]);
/* Of the busiest link, over its width, where every member sends 1 to each other one, or
 * to the next. */
double  mesh_busiest (const Mesh *mesh, guint members, guint stride, gboolean all);
