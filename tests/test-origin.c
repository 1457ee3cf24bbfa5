/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/origin.h"
#include <glib/gstdio.h>
#include <string.h>

static const char part_text[] = "[gpu]\nname = t4\n[origin]\n"
  "default = assumed: no measurement\nfp32 = measured: data/gemm: t4.csv\nbad = guessed: x\nbare = derived\n";

static KeyFile *
part (void)
{
  return key_file_parse ("t4.ini", part_text, strlen (part_text), NULL);
}

static void
test_read (void)
{
  g_autoptr (KeyFile) file = part ();
  Origin origin;

  g_assert_true (origin_read (file, "fp32", &origin, NULL));
  g_assert_cmpint (origin.kind, ==, ORIGIN_MEASURED);
  g_assert_cmpstr (origin.text, ==, "data/gemm: t4.csv");
  g_assert_true (origin_read (file, "memory", &origin, NULL));
  g_assert_cmpint (origin.kind, ==, ORIGIN_ASSUMED);
  g_assert_cmpstr (origin.text, ==, "no measurement");
  g_assert_cmpstr (origin_name (ORIGIN_USER), ==, "user");
}

static void
test_bad (void)
{
  g_autoptr (KeyFile) file = part ();
  g_autoptr (KeyFile) none = key_file_parse ("a.ini", "[gpu]\nname = a\n", 15, NULL);
  g_autoptr (GError) unknown = NULL;
  g_autoptr (GError) bare = NULL;
  g_autoptr (GError) missing = NULL;
  Origin origin;

  g_assert_false (origin_read (file, "bad", &origin, &unknown));
  g_assert_cmpstr (unknown->message, ==,
                   "t4.ini:6: [origin] bad: unknown origin 'guessed'; there are: assumed, derived, measured, user");
  g_assert_false (origin_read (file, "bare", &origin, &bare));
  g_assert_cmpstr (bare->message, ==, "t4.ini:7: [origin] bare: no source; write 'derived: file, formula or reason'");
  g_assert_false (origin_read (none, "fp32", &origin, &missing));
  g_assert_cmpstr (missing->message, ==, "a.ini: [origin] fp32: missing; say where the value comes from, "
                   "as in 'fp32 = measured: data/nccl/x.csv'");
}

static void
write_part (const char *folder, const char *kind, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (folder, kind, name, NULL);
  g_autofree char *dir = g_path_get_dirname (path);

  g_assert_cmpint (g_mkdir_with_parents (dir, 0700), ==, 0);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static void
remove_part (const char *folder, const char *kind, const char *name)
{
  g_autofree char *path = g_build_filename (folder, kind, name, NULL);

  g_assert_cmpint (g_remove (path), ==, 0);
}

static void
assert_unknown (const char *kind, const char *name, const char *message)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (part_find (kind, name, &error));
  g_assert_cmpuint (error->domain, ==, KEYS_ERROR);
  g_assert_true (g_str_has_prefix (error->message, message));
}

static void
test_find (void)
{
  g_autofree char *folder = g_dir_make_tmp ("lockstep-part-XXXXXX", NULL);
  g_autofree char *old = g_strdup (g_getenv ("LOCKSTEP_MODELS"));
  g_autofree char *expected = g_build_filename (folder, "gpu", "v100.ini", NULL);

  write_part (folder, "gpu", "v100.ini", "[gpu]\naliases = tesla-v100, Volta\n");
  write_part (folder, "gpu", "t4.ini", "[gpu]\n");
  write_part (folder, "gpu", "broken.ini", "\x01nonsense");
  write_part (folder, "gpu", "README", "");
  write_part (folder, "secret", "x.ini", "[gpu]\n");
  g_setenv ("LOCKSTEP_MODELS", folder, TRUE);
  g_assert_cmpstr (part_folder (), ==, folder);
  g_auto (GStrv) names = part_list ("gpu");
  g_autofree char *list = g_strjoinv (" ", names);
  g_assert_cmpstr (list, ==, "broken t4 v100");
  g_autofree char *direct = part_find ("gpu", "v100", NULL);
  g_autofree char *alias = part_find ("gpu", "Volta", NULL);
  g_assert_cmpstr (direct, ==, expected);
  g_assert_cmpstr (alias, ==, expected);
  assert_unknown ("gpu", "v101", "unknown gpu 'v101'; did you mean 'v100'?");
  assert_unknown ("gpu", "tesla-v10", "unknown gpu 'tesla-v10'; did you mean 'tesla-v100'?");
  assert_unknown ("gpu", "radeon", "unknown gpu 'radeon'; there are: broken, t4, v100, tesla-v100, Volta");
  assert_unknown ("gpu", "../secret/x", "unknown gpu '../secret/x'");
  assert_unknown ("gpu", "/etc/passwd", "unknown gpu '/etc/passwd'");
  assert_unknown ("gpu", "", "unknown gpu ''");
  assert_unknown ("machine", "dgx", "unknown machine 'dgx'; the folder of parts ");
  if (old != NULL)
    g_setenv ("LOCKSTEP_MODELS", old, TRUE);
  else
    g_unsetenv ("LOCKSTEP_MODELS");
  remove_part (folder, "gpu", "v100.ini");
  remove_part (folder, "gpu", "t4.ini");
  remove_part (folder, "gpu", "broken.ini");
  remove_part (folder, "gpu", "README");
  remove_part (folder, "gpu", "");
  remove_part (folder, "secret", "x.ini");
  remove_part (folder, "secret", "");
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/origin/read", test_read);
  g_test_add_func ("/origin/refuse", test_bad);
  g_test_add_func ("/part/find", test_find);
  return g_test_run ();
}
