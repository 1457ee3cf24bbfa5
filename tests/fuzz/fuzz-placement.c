/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"
#include "network/mesh.h"
#include "network/placement.h"
#include <string.h>

const char *const fuzz_seeds[] = {
  "packed", "scattered", "0, 2, 4..7", "3,1,0,2", "0..99999999", "0-1, 0-3 x2, 1-2", "0,1,1,2", "7..3", "0-0", "1x2-3", NULL
};

static void
check_error (const GError *error)
{
  g_assert_nonnull (error);
  if (strchr (error->message, '\n') != NULL)
    g_error ("not one line: %s", error->message);
}

/* What is taken sits below as many switches as are counted, and its ring leaves none
 * more often than there are nodes. */
static void
check_placement (const char *text, guint64 nodes, guint64 unit, guint64 below, gboolean by_leaf)
{
  const PlacementSpec spec = { .text = text, .by_leaf = by_leaf, .nodes = nodes, .unit = unit, .n_levels = 2, .below = { below, 3 * below } };
  g_autoptr (GError) error = NULL;
  g_autoptr (Placement) placement = placement_new (&spec, &error);

  if (placement == NULL)
    {
      check_error (error);
      return;
    }
  for (guint level = 0; level < 2; level++)
    {
      for (guint64 i = 0; i < nodes; i++)
        g_assert_cmpuint (placement_map (placement, level)[i], <, placement_domains (placement, level));
      g_assert_cmpuint (placement_crossings (placement, level, 1), <=, nodes);
    }
  if (by_leaf && placement_domains (placement, 0) > 1)
    g_assert_cmpuint (placement_crossings (placement, 0, 1), ==, placement_domains (placement, 0));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autoptr (GError) error = NULL;

  for (char *p = text; *p != '\0'; p++)   /* the key file lets no control byte through */
    if (*p < ' ' || *p > '~')
      return 0;
  check_placement (text, 4, 1, 2, FALSE);
  check_placement (text, 4, 2, 2, TRUE);
  check_placement (text, 13, 1, 4, TRUE);
  g_autoptr (Mesh) mesh = mesh_new (text, 8, &error);
  if (mesh == NULL)
    check_error (error);
  else
    g_assert_cmpfloat (mesh_busiest (mesh, 8, 1, TRUE), >=, 0);
  return 0;
}
