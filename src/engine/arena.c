/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/arena.h"
#include <string.h>

#define ALIGNMENT 16
#define BLOCK_BYTES (64 * 1024)

typedef struct Block Block;
struct Block
{
  Block *next;
  gsize  size;      /* of what follows the header */
};
G_STATIC_ASSERT (sizeof (Block) % ALIGNMENT == 0);

struct Arena
{
  Block *first, *current;
  gsize  used;      /* of the current block */
};

Arena *
arena_new (void)
{
  return g_new0 (Arena, 1);
}

void
arena_free (Arena *arena)
{
  if (arena == NULL)
    return;
  for (Block *block = arena->first, *next; block != NULL; block = next)
    {
      next = block->next;
      g_free (block);
    }
  g_free (arena);
}

void
arena_reset (Arena *arena)
{
  arena->current = arena->first;
  arena->used = 0;
}

/* The next block that holds `bytes`: one kept by a reset, or a new one. */
static void
next_block (Arena *arena, gsize bytes)
{
  Block *next = arena->current != NULL ? arena->current->next : arena->first;

  if (next == NULL || next->size < bytes)
    {
      const gsize size = MAX (bytes, BLOCK_BYTES - sizeof (Block));
      Block *fresh = g_malloc (sizeof (Block) + size);

      fresh->size = size;
      fresh->next = next;
      if (arena->current != NULL)
        arena->current->next = fresh;
      else
        arena->first = fresh;
      next = fresh;
    }
  arena->current = next;
  arena->used = 0;
}

gpointer
arena_alloc (Arena *arena, gsize bytes)
{
  g_assert (bytes <= G_MAXSIZE / 2);
  bytes = (bytes + ALIGNMENT - 1) & ~(gsize) (ALIGNMENT - 1);
  if (arena->current == NULL || arena->current->size - arena->used < bytes)
    next_block (arena, bytes);

  char *memory = (char *) (arena->current + 1) + arena->used;

  arena->used += bytes;
  return memset (memory, 0, bytes);
}

char *
arena_strdup (Arena *arena, const char *text)
{
  if (text == NULL)
    return NULL;

  const gsize bytes = strlen (text) + 1;

  return memcpy (arena_alloc (arena, bytes), text, bytes);
}
