/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "network/placement.h"
#include "base/keys.h"
#include <string.h>

#define U64 G_GUINT64_FORMAT
/* No hall has more places; keeps positions in 32 bits. */
static const guint64 most_places = 100000000;

struct Placement
{
  guint64  nodes;
  guint    n_levels;
  guint64  below[PLACEMENT_MAX_LEVELS];
  guint64  domains[PLACEMENT_MAX_LEVELS];
  guint32 *domain[PLACEMENT_MAX_LEVELS];   /* of each node */
  gboolean packed;
};

static gboolean
wrong (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
wrong (GError **error, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error_literal (error, KEYS_ERROR, KEYS_ERROR_VALUE, text);
  return FALSE;
}

/* "7" or "4..7". */
static gboolean
read_item (const char *item, guint64 *first, guint64 *last, GError **error)
{
  g_auto (GStrv) ends = g_strsplit (item, "..", 2);
  const gboolean range = ends[0] != NULL && ends[1] != NULL;

  for (guint i = 0; ends[i] != NULL; i++)
    g_strstrip (ends[i]);
  if (ends[0] == NULL || !g_ascii_string_to_unsigned (ends[0], 10, 0, most_places, first, NULL)
      || !g_ascii_string_to_unsigned (range ? ends[1] : ends[0], 10, 0, most_places, last, NULL) || *last < *first)
    return wrong (error, "'%s' is no place of a node; give packed, scattered, or one place a node, as in 0, 2, 4..7", item);
  return TRUE;
}

static gboolean
add_positions (GArray *places, guint64 first, guint64 last, guint64 nodes, GError **error)
{
  if (places->len + (last - first + 1) > nodes)
    return wrong (error, "more than %" U64 " places for %" U64 " node%s; give one place a node", nodes, nodes, nodes == 1 ? "" : "s");
  for (guint64 at = first; at <= last; at++)
    {
      const guint32 place = (guint32) at;

      g_array_append_val (places, place);
    }
  return TRUE;
}

static int
compare_places (gconstpointer a, gconstpointer b)
{
  const guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return (x > y) - (x < y);
}

static gboolean
check_doubles (const GArray *places, GError **error)
{
  g_autofree guint32 *sorted = g_memdup2 (places->data, places->len * sizeof (guint32));

  qsort (sorted, places->len, sizeof *sorted, compare_places);
  for (guint i = 1; i < places->len; i++)
    if (sorted[i] == sorted[i - 1])
      return wrong (error, "place %u is given twice; a place holds one node", sorted[i]);
  return TRUE;
}

static GArray *
read_places (const char *text, guint64 nodes, GError **error)
{
  g_auto (GStrv) items = g_strsplit (text, ",", -1);
  g_autoptr (GArray) places = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (gsize i = 0; items[i] != NULL; i++)
    {
      guint64 first, last;

      if (!read_item (g_strstrip (items[i]), &first, &last, error) || !add_positions (places, first, last, nodes, error))
        return NULL;
    }
  if (places->len < nodes)
    {
      wrong (error, "%u place%s for %" U64 " nodes; give one place a node", places->len, places->len == 1 ? "" : "s", nodes);
      return NULL;
    }
  return check_doubles (places, error) ? g_steal_pointer (&places) : NULL;
}

/* Units are dealt over as few leaves as hold them, one to each in turn. */
static GArray *
deal (const PlacementSpec *spec, GError **error)
{
  const guint64 below = spec->n_levels > 0 ? spec->below[0] : spec->nodes;
  const guint64 leaves = (spec->nodes + below - 1) / below;
  g_autoptr (GArray) places = g_array_sized_new (FALSE, FALSE, sizeof (guint32), (guint) spec->nodes);

  if (below % spec->unit != 0 && leaves > 1)
    {
      wrong (error, "scattered deals whole NVLink domains of %" U64 " nodes over leaves of %" U64 " nodes; give leaves that hold some",
             spec->unit, below);
      return NULL;
    }
  for (guint64 node = 0; node < spec->nodes; node++)
    {
      const guint64 unit = node / spec->unit;
      const guint32 place = (guint32) (unit % leaves * below + unit / leaves * spec->unit + node % spec->unit);

      g_array_append_val (places, place);
    }
  return g_steal_pointer (&places);
}

typedef struct { guint32 leaf, rank, place; } Seat;

static int
compare_seats (gconstpointer a, gconstpointer b)
{
  const Seat *x = a, *y = b;

  return x->leaf != y->leaf ? (x->leaf > y->leaf) - (x->leaf < y->leaf) : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Leaf by leaf; on a leaf as they came. */
static void
sort_by_leaf (GArray *places, guint64 below)
{
  g_autofree Seat *seats = g_new (Seat, places->len);

  for (guint i = 0; i < places->len; i++)
    {
      const guint32 place = g_array_index (places, guint32, i);

      seats[i] = (Seat) { (guint32) (place / below), i, place };
    }
  qsort (seats, places->len, sizeof *seats, compare_seats);
  for (guint i = 0; i < places->len; i++)
    g_array_index (places, guint32, i) = seats[i].place;
}

/* Numbers the switches in use as they come. */
static void
number_domains (Placement *p, guint level, const GArray *places)
{
  g_autoptr (GHashTable) numbers = g_hash_table_new (NULL, NULL);

  p->domain[level] = g_new (guint32, places->len);
  for (guint i = 0; i < places->len; i++)
    {
      const guint32 raw = (guint32) (g_array_index (places, guint32, i) / p->below[level]);
      gpointer number;

      if (!g_hash_table_lookup_extended (numbers, GUINT_TO_POINTER (raw), NULL, &number))
        {
          number = GUINT_TO_POINTER (g_hash_table_size (numbers));
          g_hash_table_insert (numbers, GUINT_TO_POINTER (raw), number);
        }
      p->domain[level][i] = GPOINTER_TO_UINT (number);
    }
  p->domains[level] = g_hash_table_size (numbers);
}

static void
fill_domains (Placement *p, guint level)
{
  p->domain[level] = g_new (guint32, p->nodes);
  for (guint64 node = 0; node < p->nodes; node++)
    p->domain[level][node] = (guint32) (node / p->below[level]);
  p->domains[level] = (p->nodes + p->below[level] - 1) / p->below[level];
}

static gboolean
check_units (const PlacementSpec *spec, const GArray *places, GError **error)
{
  for (guint i = 0; i < places->len && spec->n_levels > 0 && spec->below[0] % spec->unit == 0; i++)
    {
      const guint first = (guint) (i / spec->unit * spec->unit);

      if (g_array_index (places, guint32, i) / spec->below[0] != g_array_index (places, guint32, first) / spec->below[0])
        return wrong (error, "tears nodes %u and %u of one NVLink domain apart; give the %" U64 " nodes of each on one leaf",
                      first, i, spec->unit);
    }
  return TRUE;
}

static GArray *
places_of (const PlacementSpec *spec, GError **error)
{
  if (g_str_equal (spec->text, "scattered"))
    return deal (spec, error);
  g_autoptr (GArray) places = read_places (spec->text, spec->nodes, error);

  return places != NULL && check_units (spec, places, error) ? g_steal_pointer (&places) : NULL;
}

Placement *
placement_new (const PlacementSpec *spec, GError **error)
{
  g_autoptr (GArray) places = NULL;
  Placement *p;

  if (spec->text != NULL && !g_str_equal (spec->text, "packed") && (places = places_of (spec, error)) == NULL)
    return NULL;
  p = g_new0 (Placement, 1);
  p->nodes = spec->nodes;
  p->n_levels = spec->n_levels;
  memcpy (p->below, spec->below, sizeof p->below);
  if (places != NULL && spec->by_leaf && spec->n_levels > 0)
    sort_by_leaf (places, spec->below[0]);
  p->packed = places == NULL;
  for (guint i = 0; i < spec->n_levels; i++)
    if (places != NULL)
      number_domains (p, i, places);
    else
      fill_domains (p, i);
  return p;
}

void
placement_free (Placement *p)
{
  if (p == NULL)
    return;
  for (guint i = 0; i < PLACEMENT_MAX_LEVELS; i++)
    g_free (p->domain[i]);
  g_free (p);
}

guint64
placement_nodes (const Placement *p)
{
  return p->nodes;
}

guint64
placement_domains (const Placement *p, guint level)
{
  g_return_val_if_fail (level < p->n_levels, 1);
  return p->domains[level];
}

const guint32 *
placement_map (const Placement *p, guint level)
{
  return p->domain[level];
}

gboolean
placement_packed (const Placement *p)
{
  return p->packed;
}

guint64
placement_crossings (const Placement *p, guint level, guint64 unit)
{
  const guint64 nodes = p->nodes / unit * unit;
  guint64 n = 0;

  for (guint64 node = 0; node < nodes; node += unit)
    n += p->domain[level][node] != p->domain[level][(node + unit) % nodes];
  return n;
}
