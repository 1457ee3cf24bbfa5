/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/shelf.h"

/* A part is read once, whoever asks, and freed with the shelf. */

static gint loads, frees;

static gpointer
load_text (gconstpointer what, GError **error)
{
  g_atomic_int_inc (&loads);
  if (g_str_equal (what, "bad"))
    {
      g_set_error_literal (error, G_FILE_ERROR, G_FILE_ERROR_NOENT, "no part 'bad'");
      return NULL;
    }
  g_usleep (1000);   /* long enough for another thread to come by */
  return g_strdup (what);
}

static void
free_text (gpointer part)
{
  g_atomic_int_inc (&frees);
  g_free (part);
}

static const ShelfKind texts = { "text", load_text, free_text };
static const ShelfKind others = { "other", load_text, free_text };

static void
test_once (void)
{
  Shelf *shelf = shelf_new ();
  const char *a;

  loads = frees = 0;
  a = shelf_get (shelf, &texts, "a", "first", NULL);
  g_assert_cmpstr (a, ==, "first");
  g_assert_true (shelf_get (shelf, &texts, "a", "not read", NULL) == a);
  /* The same key of another kind is another part. */
  g_assert_cmpstr (shelf_get (shelf, &others, "a", "second", NULL), ==, "second");
  g_assert_cmpint (loads, ==, 2);
  shelf_free (shelf);
  g_assert_cmpint (frees, ==, 2);
}

static void
test_failure (void)
{
  g_autoptr (Shelf) shelf = shelf_new ();
  g_autoptr (GError) error = NULL;

  loads = 0;
  g_assert_null (shelf_get (shelf, &texts, "bad", "bad", &error));
  g_assert_cmpstr (error->message, ==, "no part 'bad'");
  g_assert_null (shelf_get (shelf, &texts, "bad", "bad", NULL));
  g_assert_cmpint (loads, ==, 2);
}

static gpointer
get_all (gpointer shelf)
{
  static const char *const keys[] = { "3", "1", "4", "1", "5", "9" };

  for (gsize i = 0; i < G_N_ELEMENTS (keys); i++)
    g_assert_cmpstr (shelf_get (shelf, &texts, keys[i], keys[i], NULL), ==, keys[i]);
  return NULL;
}

static void
test_threads (void)
{
  g_autoptr (Shelf) shelf = shelf_new ();
  GThread *threads[7];

  loads = 0;
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("get", get_all, shelf);
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  g_assert_cmpint (loads, ==, 5);   /* five different keys */
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/shelf/once", test_once);
  g_test_add_func ("/shelf/failure", test_failure);
  g_test_add_func ("/shelf/threads", test_threads);
  return g_test_run ();
}
