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
  Block *current;   /* before it in the list: those that are full */
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
  for (Block *block = arena->current, *next; block != NULL; block = next)
    {
      next = block->next;
      g_free (block);
    }
  g_free (arena);
}

static void
add_block (Arena *arena, gsize bytes)
{
  const gsize size = MAX (bytes, BLOCK_BYTES - sizeof (Block));
  Block *block = g_malloc (sizeof (Block) + size);

  block->size = size;
  block->next = arena->current;
  arena->current = block;
  arena->used = 0;
}

gpointer
arena_alloc (Arena *arena, gsize bytes)
{
  g_assert (bytes <= G_MAXSIZE / 2);
  bytes = (bytes + ALIGNMENT - 1) & ~(gsize) (ALIGNMENT - 1);
  if (arena->current == NULL || arena->current->size - arena->used < bytes)
    add_block (arena, bytes);

  char *memory = (char *) (arena->current + 1) + arena->used;

  arena->used += bytes;
  return memset (memory, 0, bytes);
}
