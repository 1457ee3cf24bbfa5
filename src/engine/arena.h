/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>

/* Memory of one run: taken in blocks, dropped at once. */
typedef struct Arena Arena;
Arena   *arena_new   (void);
void     arena_free  (Arena *arena);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Arena, arena_free)
gpointer arena_alloc (Arena *arena, gsize bytes);    /* zeroed, 16-byte aligned, never NULL */
#define arena_array(arena, type, n) ((type *) arena_alloc ((arena), sizeof (type) * (gsize) (n)))
