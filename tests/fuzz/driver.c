/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/random.h"
#include "fuzz.h"
#include <glib.h>
#include <stdlib.h>
#include <string.h>

/* A short fuzz without clang: mutated seeds, the same in each run.  With
 * `clang -fsanitize=fuzzer` the entry is linked without this file.
 * usage: fuzz-NAME [COUNT [SEED | FILE]] */

#define COUNT     20000
#define EDITS_MAX 6
#define TEXT_MAX 4096u

typedef struct { RandomKey key; uint64_t index; } Draws;

static guint
below (Draws *draws, guint n)
{
  return n == 0 ? 0 : (guint) (random_bits (&draws->key, draws->index++) % n);
}

/* Bytes that mean something to the readers come more often than chance. */
static char
any_byte (Draws *draws)
{
  static const char pointed[] = "=[]#;\"\\,.-_+eE%xX \t\n\r/0123456789\0\x7f\x80\xff\xc3\xa9";

  return below (draws, 4) == 0 ? (char) below (draws, 256) : pointed[below (draws, sizeof pointed - 1)];
}

static void
mutate (GString *text, Draws *draws)
{
  const guint at = below (draws, (guint) text->len + 1);
  const guint length = below (draws, MIN (64u, (guint) text->len - at + 1));

  switch (below (draws, 6))
    {
    case 0:
      if (at < text->len)
        text->str[at] = any_byte (draws);
      break;
    case 1:
      g_string_insert_c (text, at, any_byte (draws));
      break;
    case 2:
      g_string_erase (text, at, length);
      break;
    case 3:   /* a piece once more, elsewhere */
      {
        g_autofree char *piece = g_memdup2 (text->str + at, MAX (length, 1u));
        g_string_insert_len (text, below (draws, (guint) text->len + 1), piece, (gssize) length);
      }
      break;
    case 4:
      if (at < text->len)
        text->str[at] ^= (char) (1 << below (draws, 8));
      break;
    default:
      g_string_truncate (text, at);
    }
  if (text->len > TEXT_MAX)
    g_string_truncate (text, TEXT_MAX);
}

/* From memory of its exact size, so that a sanitizer sees one byte too far. */
static void
feed (const char *data, gsize size)
{
  g_autofree uint8_t *copy = g_malloc (MAX (size, 1));

  memcpy (copy, data, size);
  LLVMFuzzerTestOneInput (copy, size);
}

int
main (int argc, char **argv)
{
  const guint64 count = argc > 1 ? g_ascii_strtoull (argv[1], NULL, 10) : COUNT;
  g_autofree char *file = NULL;
  gsize n_seeds = 0, size;

  if (argc > 2 && g_file_get_contents (argv[2], &file, &size, NULL))
    {
      feed (file, size);
      return 0;
    }
  while (fuzz_seeds[n_seeds] != NULL)
    {
      feed (fuzz_seeds[n_seeds], strlen (fuzz_seeds[n_seeds]));
      n_seeds++;
    }
  for (guint64 i = 0; i < count; i++)
    {
      Draws draws = { .key = { .seed = argc > 2 ? g_ascii_strtoull (argv[2], NULL, 10) : 1, .run = i } };
      g_autoptr (GString) text = g_string_new (fuzz_seeds[below (&draws, (guint) n_seeds)]);

      for (guint edits = 1 + below (&draws, EDITS_MAX); edits > 0; edits--)
        mutate (text, &draws);
      feed (text->str, text->len);
    }
  g_print ("%" G_GUINT64_FORMAT " mutations\n", count);
  return 0;
}
