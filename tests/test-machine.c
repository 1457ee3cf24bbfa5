/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "base/csv.h"
#include "base/names.h"
#include "cluster/cluster.h"

/* The shelf against the specifications' own table, where that is at hand. */
static CsvTable *
nodes_table (void)
{
  const char *folder = g_getenv ("LOCKSTEP_MEASURED");
  g_autofree char *path = folder != NULL ? g_build_filename (folder, "specs", "nodes.csv", NULL) : NULL;

  return path != NULL && g_file_test (path, G_FILE_TEST_IS_REGULAR) ? csv_load (path, NULL) : NULL;
}

static const char *
cell (const CsvTable *table, guint row, const char *column)
{
  guint at = 0;

  g_assert_true (csv_require (table, column, &at, NULL));
  return csv_text (table, row, at);
}

static double
figure (const CsvTable *table, guint row, const char *column)
{
  const char *text = cell (table, row, column);

  return *text == '\0' ? NAN : g_ascii_strtod (text, NULL);
}

static void
check_figure (const char *what, double part, double given)
{
  if (isnan (given))
    return;
  if (!(fabs (part - given) <= 1e-9 * fabs (given)))
    g_error ("%s: the part has %.9g, the table %.9g", what, part, given);
}

/* "H100-PCIe (NVL 94GB)" is the H100-PCIe part; the DeepBench row names two GPUs
 * and the teaching row an ideal one.  The table's DGX-2 has the card of the DGX-1,
 * its own (350 W, SXM3) is missing there; measured rows name it. */
static void
check_gpu (const MachineInfo *info, const char *given)
{
  g_autofree char *first = g_strdup (given);
  g_autoptr (Gpu) table = NULL, part = NULL;

  if (*given == '\0' || g_str_equal (given, "ideal"))
    return;
  if (g_str_equal (info->name, "dgx-2"))
    given = "V100-SXM3-32GB";
  if (strchr (given, '/') != NULL)
    {
      g_assert_nonnull (strstr (given, info->gpu));
      return;
    }
  table = gpu_load (given, NULL);
  if (table == NULL)
    {
      *strchr (first, ' ') = '\0';
      table = gpu_load (first, NULL);
    }
  part = gpu_load (info->gpu, NULL);
  g_assert_true (table != NULL && part != NULL);
  g_assert_cmpstr (table->name, ==, part->name);
}

static const char *
transport_of (const char *rdma)
{
  static const struct { const char *prefix, *transport; } rows[] = {
    { "none", "tcp" }, { "IB", "ib" }, { "RoCE", "roce" }, { "EFA", "efa" }, { "GPUDirect-TCPXO", "tcpxo" },
    { "GPUDirect-TCPX", "tcpx" }, { "plain", "plain" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_str_has_prefix (rdma, rows[i].prefix))
      return rows[i].transport;
  g_error ("a kind of network that no transport is known for: %s", rdma);
}

static void
check_row (const CsvTable *table, guint row)
{
  const char *type = cell (table, row, "type");
  g_autoptr (GError) error = NULL;
  g_autoptr (Machine) machine = machine_load (type, &error);
  g_autofree char *year = NULL;
  const MachineInfo *info;

  g_assert_no_error (error);
  info = machine_info (machine);
  check_figure (type, (double) info->gpus, figure (table, row, "gpus"));
  check_figure (type, (double) info->nics, figure (table, row, "nics"));
  check_figure (type, info->nic_bandwidth * (double) info->nics * 8e-9, figure (table, row, "nic_gbps_total"));
  check_figure (type, (double) info->vcpus, figure (table, row, "vcpus"));
  check_figure (type, info->price_per_hour, figure (table, row, "list_price_usd_per_hour"));
  g_assert_cmpint (isnan (info->price_per_hour), ==, isnan (figure (table, row, "list_price_usd_per_hour")));
  g_assert_true (isnan (info->price_per_hour) || (info->price_date != NULL && strstr (cell (table, row, "source"), info->price_date) != NULL)
                 || g_strcmp0 (info->price_date, "2026") == 0);
  g_assert_cmpstr (info->transport, ==, transport_of (cell (table, row, "rdma")));
  check_gpu (info, cell (table, row, "gpu"));
}

static void
test_nodes_table (void)
{
  g_autoptr (CsvTable) table = nodes_table ();

  if (table == NULL)
    {
      g_test_skip ("no specs/nodes.csv: set LOCKSTEP_MEASURED");
      return;
    }
  for (guint i = 0; i < csv_rows (table); i++)
    check_row (table, i);
  g_assert_cmpuint (csv_rows (table), >, 80);
}

/* What NVLink, NVSwitch and PCIe are called in the table. */
static void
test_links (void)
{
  g_autoptr (CsvTable) table = nodes_table ();
  static const struct { const char *word, *link; } rows[] = {
    { "cube mesh", "nvlink-mesh" }, { "NVSwitch", "nvswitch" }, { "bridge", "nvlink-bridge" }, { "Infinity", "infinity-fabric" },
    { "PCIe", "pcie" }, { "", "none" },
  };

  if (table == NULL)
    {
      g_test_skip ("no specs/nodes.csv: set LOCKSTEP_MEASURED");
      return;
    }
  for (guint i = 0; i < csv_rows (table); i++)
    {
      const char *text = cell (table, i, "intra_link");
      g_autoptr (Machine) machine = machine_load (cell (table, i, "type"), NULL);
      gsize k = 0;

      while (*rows[k].word != '\0' && strstr (text, rows[k].word) == NULL)
        k++;
      g_assert_cmpstr (machine_info (machine)->gpu_link, ==, rows[k].link);
    }
}

/* No two parts share a name, in any case of letters. */
static void
test_names (void)
{
  g_auto (GStrv) names = part_list ("machine");
  g_autoptr (GHashTable) owner = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autofree char *path = part_find ("machine", names[i], NULL);
      g_autoptr (KeyFile) part = key_file_load (path, NULL);
      const char *aliases = key_file_get (part, "machine", "aliases");
      g_autofree char *all = g_strconcat (names[i], ",", aliases != NULL ? aliases : "", NULL);
      g_auto (GStrv) list = g_strsplit (all, ",", -1);

      g_assert_cmpstr (key_file_get (part, "machine", "name"), ==, names[i]);
      for (guint k = 0; list[k] != NULL; k++)
        {
          char *folded = g_ascii_strdown (g_strstrip (list[k]), -1);

          if (*folded != '\0' && g_hash_table_contains (owner, folded))
            g_error ("'%s' names both %s and %s", folded, names[i], (const char *) g_hash_table_lookup (owner, folded));
          g_hash_table_insert (owner, folded, names[i]);
        }
    }
}

/* As tables, people and file names write them. */
static void
test_aliases (void)
{
  static const struct { const char *typed, *name; } rows[] = {
    { "p3.16xlarge", "p3-16xlarge" }, { "P3.16XLARGE", "p3-16xlarge" }, { "Standard_ND96asr_v4", "standard-nd96asr-v4" },
    { "nd96asr_v4", "standard-nd96asr-v4" }, { "NVIDIA DGX A100", "dgx-a100" }, { "dgx-1", "dgx-1-v100" }, { "DGX H100", "dgx-h100" },
    { "n1-standard-32 + 4xT4", "n1-standard-32-4xt4" }, { "A2-HighGPU-8g", "a2-highgpu-8g" }, { "NVL72", "gb200-nvl72" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (Machine) machine = machine_load (rows[i].typed, &error);

      g_assert_no_error (error);
      g_assert_cmpstr (machine_info (machine)->name, ==, rows[i].name);
    }
}

/* Every part of the shelf says where its values come from, and when a price held. */
static void
test_origins (void)
{
  static const char *const keys[] = { "gpus", "nic-bandwidth", "price", "ring-bandwidth-2", "ring-bandwidth-8", "gpu-link" };
  g_auto (GStrv) names = part_list ("machine");

  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (Machine) machine = machine_load (names[i], &error);
      g_autofree char *path = part_find ("machine", names[i], NULL);
      g_autoptr (KeyFile) part = key_file_load (path, NULL);
      Origin origin;

      g_assert_no_error (error);
      for (gsize k = 0; k < G_N_ELEMENTS (keys); k++)
        {
          origin_read (part, keys[k], &origin, &error);
          g_assert_no_error (error);
        }
      g_assert_true (isnan (machine_info (machine)->price_per_hour) || machine_info (machine)->price_date != NULL);
      g_assert_cmpuint (strlen (machine_info (machine)->summary), <, 120);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/machine/nodes-table", test_nodes_table);
  g_test_add_func ("/machine/links", test_links);
  g_test_add_func ("/machine/names", test_names);
  g_test_add_func ("/machine/aliases", test_aliases);
  g_test_add_func ("/machine/origins", test_origins);
  return g_test_run ();
}
