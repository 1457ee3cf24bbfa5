/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "calibrate/training-reading.h"

static void
set_keys (Reading *r, const char *text)
{
  g_auto (GStrv) list = g_strsplit (text, ";", -1);

  for (char **p = list; *p != NULL; p++)
    {
      char *equals = strchr (*p, '=');

      if (equals == NULL)
        continue;
      *equals = '\0';
      reading_put (r, g_strstrip (*p), g_strstrip (equals + 1));
    }
}

/* What calibration/platforms.csv knows of the row's machine. */
static gboolean
known_platform (Reading *r)
{
  static const char *const columns[] = { "source", "gpu", "gpus_per_node" };
  const CsvTable *platforms = r->reader->platforms;

  for (guint i = 0; i < csv_rows (platforms); i++)
    {
      const char *machine = csv_cell (platforms, i, "machine");
      gboolean fits = TRUE;

      for (gsize k = 0; k < G_N_ELEMENTS (columns) && fits; k++)
        {
          const char *pattern = csv_cell (platforms, i, columns[k]);

          fits = *pattern == '\0' || pattern_fits (pattern, reading_cell (r, columns[k]));
        }
      if (!fits || !condition_met (csv_cell (platforms, i, "where"), r->table, r->row))
        continue;
      if (*machine != '\0')
        reading_put (r, "cluster.machine", machine);
      set_keys (r, csv_cell (platforms, i, "set"));
      r->out->link_assumed = g_str_equal (csv_cell (platforms, i, "link"), "assumed");
      r->out->platform = g_strdup (*machine != '\0' ? machine : csv_cell (platforms, i, "name"));
      return TRUE;
    }
  return FALSE;
}

static const ReadingWords link_words[] = {
  { "*nvswitch*", "nvswitch" }, { "*nvlink*bridge*|*nvbridge*", "nvlink-bridge" }, { "*nvlink*", "nvlink-mesh" },
  { "*pcie*|*pci-e*", "pcie" }, { NULL, NULL },
};
static const ReadingWords transport_words[] = {
  { "*roce*", "roce" }, { "*infiniband*|*ib *|*edr*|*hdr*|*ndr*", "ib" }, { "*efa*", "efa" }, { "*slingshot*", "slingshot" },
  { "*tcp*|*ether*|*gbe*", "tcp" }, { NULL, NULL },
};

/* A GPU's name without what stands in brackets and in front of it. */
static char *
gpu_name (const char *text)
{
  const char *bracket = strchr (text, '(');
  g_autofree char *plain = bracket != NULL ? g_strndup (text, (gsize) (bracket - text)) : g_strdup (text);

  g_strstrip (plain);
  return g_strdup (g_ascii_strncasecmp (plain, "nvidia ", 7) == 0 ? plain + 7 : plain);
}

/* Only what the row itself says.  Cards: one a GPU where the node's rate is at
 * least 100 Gbit/s for each, else of 100 Gbit/s. */
static void
own_platform (Reading *r)
{
  const char *link = reading_translate (link_words, reading_cell (r, "intra_link"));
  const char *transport = reading_translate (transport_words, reading_cell (r, "inter_link"));
  const double rate = reading_number (r, "nic_gbps_per_node");
  g_autofree char *gpu = gpu_name (reading_cell (r, "gpu"));

  reading_put (r, "cluster.gpu", gpu);
  if (r->out->per_node > 1)
    reading_put (r, "cluster.gpu-link", link != NULL ? link : "pcie");
  if (r->out->nodes > 1)
    {
      const guint64 cards = rate >= 100 * (double) r->out->per_node ? r->out->per_node : MAX (1, (guint64) (rate / 100));
      g_autofree char *text = g_strdup_printf ("%.9g Gbit/s", (rate > 0 ? rate : 100) / (double) cards);

      reading_put_count (r, "cluster.nics", cards);
      reading_put (r, "cluster.nic-bandwidth", text);
      reading_put (r, "network.transport", transport != NULL ? transport : "ib");
    }
  r->out->link_assumed = (r->out->per_node > 1 && link == NULL) || (r->out->nodes > 1 && (transport == NULL || rate <= 0));
  r->out->platform = g_strdup_printf ("%s as the row says", gpu);
}

void
platform_size (Reading *r)
{
  TrainingRow *out = r->out;

  out->nodes = (guint64) reading_number (r, "nodes");
  out->gpus = (guint64) reading_number (r, "total_gpus");
  out->per_node = (guint64) reading_number (r, "gpus_per_node");
  if (out->nodes == 0)
    out->nodes = out->per_node > 0 && out->gpus > out->per_node ? out->gpus / out->per_node : 1;
  if (out->gpus == 0)
    out->gpus = out->nodes * MAX (out->per_node, 1);
  if (out->per_node == 0 || out->nodes * out->per_node != out->gpus)
    out->per_node = MAX (out->gpus / out->nodes, 1);
  if (out->gpus != out->nodes * out->per_node)
    reading_refuse (r, skip_inconsistent, "GPUs are not nodes times GPUs a node");
}

void
platform_read (Reading *r)
{
  if (!known_platform (r))
    own_platform (r);
}
