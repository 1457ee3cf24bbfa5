/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/network-part.h"

#include <math.h>

void
network_platform_clear (NetworkPlatform *platform)
{
  g_free (platform->intra);
  g_free (platform->launch);
  g_free (platform->origin);
}

static char *
given_text (const CsvTable *table, guint row, const char *column)
{
  const int at = csv_column (table, column);
  const char *text = at >= 0 ? csv_text (table, row, (guint) at) : "";

  return *text != '\0' ? g_strdup (text) : NULL;
}

/* More than any node has, of rails and of GB/s. */
static const double most_rails = 1024, most_rate = 1e5;

/* NAN: nothing given. */
static gboolean
given_number (const CsvTable *table, guint row, const char *column, double most, double *value, GError **error)
{
  const int at = csv_column (table, column);

  *value = NAN;
  return at < 0 || csv_number_in (table, row, (guint) at, 0, most, value, error);
}

static gboolean
read_platform (const CsvTable *table, guint row, NetworkPlatform *out, GError **error)
{
  double rails, rate;

  if (!given_number (table, row, "rails", most_rails, &rails, error) || !given_number (table, row, "node_rate_GBps", most_rate, &rate, error))
    return FALSE;
  out->intra = given_text (table, row, "intra");
  out->launch = given_text (table, row, "launch");
  out->origin = given_text (table, row, "origin");
  out->node_rate = rate * 1e9;
  out->rails = rails >= 1 ? (guint) rails : 0;
  return TRUE;
}

gboolean
network_platform_find (const char *path, NetworkPlatform *out, GError **error)
{
  g_autofree char *base = g_path_get_basename (path), *list = calibration_path ("network-platforms.csv");
  g_autoptr (CsvTable) table = NULL;
  guint file;

  *out = (NetworkPlatform) { .node_rate = NAN };
  if (!g_file_test (list, G_FILE_TEST_IS_REGULAR))
    return TRUE;
  table = csv_load (list, error);
  if (table == NULL || !csv_require (table, "file", &file, error))
    return FALSE;
  for (guint row = 0; row < csv_rows (table); row++)
    if (g_pattern_match_simple (csv_text (table, row, file), base))
      return read_platform (table, row, out, error);
  return TRUE;
}
