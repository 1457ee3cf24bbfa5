/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/shelf.h"

typedef struct
{
  const ShelfKind *kind;
  gpointer         part;
} Item;

struct Shelf
{
  GMutex      lock;    /* held while a part is loaded: nobody reads the same file twice */
  GHashTable *items;   /* "kind\nkey" -> Item */
};

static void
item_free (gpointer data)
{
  Item *item = data;

  item->kind->free (item->part);
  g_free (item);
}

Shelf *
shelf_new (void)
{
  Shelf *shelf = g_new0 (Shelf, 1);

  g_mutex_init (&shelf->lock);
  shelf->items = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, item_free);
  return shelf;
}

void
shelf_free (Shelf *shelf)
{
  if (shelf == NULL)
    return;
  g_hash_table_destroy (shelf->items);
  g_mutex_clear (&shelf->lock);
  g_free (shelf);
}

gconstpointer
shelf_get (Shelf *shelf, const ShelfKind *kind, const char *key, gconstpointer what, GError **error)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&shelf->lock);
  g_autofree char *name = g_strconcat (kind->name, "\n", key, NULL);
  Item *item = g_hash_table_lookup (shelf->items, name);
  gpointer part;

  if (item != NULL)
    return item->part;
  part = kind->load (what, error);
  if (part == NULL)
    return NULL;
  item = g_new (Item, 1);
  *item = (Item) { kind, part };
  g_hash_table_insert (shelf->items, g_steal_pointer (&name), item);
  return part;
}
