/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/report-parts.h"
#include "report/table.h"
#include <string.h>

/* Up to this many calls each has its own line. */
#define ALONE 6u
/* Calls of one line: the largest at most this many times the smallest. */
#define ALIKE 1.5

/* Calls that are one line. */
typedef struct
{
  const CollectiveUse *first;
  guint64 n;
  double  smallest, largest, start, end, wire, exposed, slowest, fastest;   /* the last two: busbw */
} Bunch;

static Bunch
bunch_of (const CollectiveUse *use)
{
  return (Bunch) { .first = use, .n = use->calls, .smallest = use->bytes, .largest = use->bytes, .start = use->start,
                   .end = use->end, .wire = use->wire_s, .exposed = use->exposed_s, .slowest = use->busbw,
                   .fastest = use->busbw };
}

/* What calls of one kind share of their names: "gradients" of "gradients 12", "gather" of
 * "gather h3.qkv", whose units are many. */
static char *
stem (const CollectiveUse *use)
{
  static const char *const of_units[] = { "gather ", "reduce " };
  const char *label = use->label != NULL ? use->label : use->op != NULL ? use->op : "";
  gsize length = strlen (label);

  for (gsize i = 0; i < G_N_ELEMENTS (of_units); i++)
    if (g_str_has_prefix (label, of_units[i]))
      return g_strndup (label, strlen (of_units[i]) - 1);
  while (length > 0 && g_ascii_isdigit (label[length - 1]))
    length--;
  return length > 0 ? g_strchomp (g_strndup (label, length)) : g_strdup (label);
}

static gboolean
bunch_takes (const Bunch *bunch, const CollectiveUse *use)
{
  g_autofree char *own = NULL, *other = NULL;

  if (g_strcmp0 (bunch->first->op, use->op) != 0 || g_strcmp0 (bunch->first->algorithm, use->algorithm) != 0
      || g_strcmp0 (bunch->first->protocol, use->protocol) != 0 || g_strcmp0 (bunch->first->link, use->link) != 0
      || MAX (bunch->largest, use->bytes) > ALIKE * MIN (bunch->smallest, use->bytes))
    return FALSE;
  own = stem (bunch->first);
  other = stem (use);
  return g_str_equal (own, other);
}

static void
bunch_add (Bunch *bunch, const CollectiveUse *use)
{
  bunch->n += use->calls;
  bunch->smallest = MIN (bunch->smallest, use->bytes);
  bunch->largest = MAX (bunch->largest, use->bytes);
  bunch->start = MIN (bunch->start, use->start);
  bunch->end = MAX (bunch->end, use->end);
  bunch->wire += use->wire_s;
  bunch->exposed += use->exposed_s;
  bunch->slowest = MIN (bunch->slowest, use->busbw);
  bunch->fastest = MAX (bunch->fastest, use->busbw);
}

/* "bucket 3", of several "12 x bucket". */
static char *
bunch_label (const Bunch *bunch)
{
  g_autofree char *name = stem (bunch->first);

  return bunch->n == 1 ? g_strdup (bunch->first->label != NULL ? bunch->first->label : name)
                       : g_strdup_printf ("%" G_GUINT64_FORMAT " x %s", bunch->n, name);
}

/* "27.3 MB" or "25.1 to 31.4 MB". */
static char *
range_text (double low, double high, char *(*form) (double))
{
  g_autofree char *from = form (low);
  g_autofree char *to = form (high);
  const char *unit = strchr (to, ' ');

  if (g_str_equal (from, to))
    return g_steal_pointer (&to);
  if (unit != NULL && g_str_has_suffix (from, unit))
    from[strlen (from) - strlen (unit)] = '\0';
  return g_strdup_printf ("%s to %s", from, to);
}

static char *
gigabytes (double rate)
{
  return text_three (rate / 1e9);
}

/* What a page without room for all leaves out, the first (1) first. */
static const struct { const char *title; gboolean right; guint dropped; } columns[] = {
  { "call", FALSE, 0 }, { "size", TRUE, 0 }, { "how", FALSE, 0 }, { "bound by", FALSE, 2 }, { "from, to ms", TRUE, 1 },
  { "wire ms", TRUE, 0 }, { "exposed ms", TRUE, 0 }, { "busbw GB/s", TRUE, 3 },
};
#define MOST_DROPPED 3u

static void
add_bunch (TextTable *table, const Bunch *bunch, double step, guint dropped)
{
  g_autofree char *from = text_ms (bunch->start, step);
  g_autofree char *to = text_ms (bunch->end, step);
  const char *algorithm = bunch->first->algorithm, *protocol = bunch->first->protocol;
  g_autofree char *how = algorithm != NULL && algorithm[0] != '\0' ? g_strjoin (" ", algorithm, protocol, NULL) : g_strdup ("");

  char *cells[G_N_ELEMENTS (columns)] = {
    bunch_label (bunch), range_text (bunch->smallest, bunch->largest, text_bytes), g_strdup (how), g_strdup (bunch->first->link),
    g_strdup_printf ("%s to %s", from, to), text_ms (bunch->wire, step), text_ms (bunch->exposed, step),
    range_text (bunch->slowest, bunch->fastest, gigabytes),
  };

  for (gsize i = 0; i < G_N_ELEMENTS (columns); i++)
    {
      if (columns[i].dropped == 0 || columns[i].dropped > dropped)
        text_table_add (table, cells[i]);
      g_free (cells[i]);
    }
}

/* The table without the columns up to `dropped`; does it fit the page? */
static gboolean
append_bunches (GString *out, const GArray *bunches, double step, guint dropped, const Look *look)
{
  g_autoptr (TextTable) table = text_table_new ("");
  g_autoptr (GString) text = g_string_new (NULL);
  g_auto (GStrv) lines = NULL;
  gboolean fits = TRUE;

  for (gsize i = 0; i < G_N_ELEMENTS (columns); i++)
    if (columns[i].dropped == 0 || columns[i].dropped > dropped)
      text_table_column (table, columns[i].title, columns[i].right);
  for (guint i = 0; i < bunches->len; i++)
    add_bunch (table, &g_array_index (bunches, Bunch, i), step, dropped);
  text_table_append (table, TABLE_PLAIN, 2, look->width, text);
  lines = g_strsplit (text->str, "\n", -1);
  for (gsize i = 0; lines[i] != NULL; i++)
    fits = fits && g_utf8_strlen (lines[i], -1) <= (glong) look->width;
  if (!fits && dropped < MOST_DROPPED)
    return FALSE;
  g_string_append (out, text->str);
  return TRUE;
}

static void
append_dropped (GString *out, guint dropped, const Look *look)
{
  g_autoptr (GString) line = g_string_new ("No room here for:");

  for (guint k = 1; k <= dropped; k++)
    for (gsize i = 0; i < G_N_ELEMENTS (columns); i++)
      if (columns[i].dropped == k)
        g_string_append_printf (line, "%s %s", k > 1 ? ";" : "", columns[i].title);
  g_string_append_c (line, '.');
  g_string_append (out, "  ");
  report_text (out, line->str, 2, look);
}

void
collectives_table (GString *out, const Result *result, const Look *look)
{
  guint dropped = 0;
  g_autoptr (GArray) bunches = g_array_new (FALSE, FALSE, sizeof (Bunch));

  for (guint i = 0; i < result->n_collectives; i++)
    {
      const CollectiveUse *use = &result->collectives[i];
      Bunch *taker = NULL;

      for (guint k = bunches->len; taker == NULL && result->n_collectives > ALONE && k-- > 0;)
        if (bunch_takes (&g_array_index (bunches, Bunch, k), use))
          taker = &g_array_index (bunches, Bunch, k);
      if (taker != NULL)
        bunch_add (taker, use);
      else
        {
          const Bunch bunch = bunch_of (use);
          g_array_append_val (bunches, bunch);
        }
    }
  while (!append_bunches (out, bunches, result->step_time, dropped, look))
    dropped++;
  if (dropped > 0)
    append_dropped (out, dropped, look);
}

/* As nccl-tests prints it, so that a measured table can lie beside it. */
void
collective_table (GString *out, const CollectiveTable *table, const Look *look)
{
  g_autoptr (TextTable) text = text_table_new (">#     size B|>time us|>algbw GB/s|>busbw GB/s|>wire GB/s|<algorithm|<protocol"
                                               "|>low us|>high us");
  g_autofree char *gpu = g_strdup (table->gpu != NULL ? table->gpu : "GPUs");
  g_autofree char *head = g_strdup_printf ("# %s, predicted: %" G_GUINT64_FORMAT " ranks, %" G_GUINT64_FORMAT " x %s (%s)",
                                           table->n > 0 ? table->rows[0].op : "collective", table->ranks, table->nodes,
                                           table->machine, gpu);

  g_string_append_printf (out, "%s\n", head);
  for (guint i = 0; i < table->n; i++)
    {
      const CollectiveRow *row = &table->rows[i];

      text_table_take (text, text_fixed (row->size, 0));
      text_table_take (text, text_fixed (1e6 * row->time, 2));
      text_table_take (text, text_fixed (row->algbw / 1e9, 2));
      text_table_take (text, text_fixed (row->busbw / 1e9, 2));
      text_table_take (text, text_fixed (row->wire / 1e9, 2));
      text_table_add (text, row->algorithm);
      text_table_add (text, row->protocol);
      text_table_take (text, text_fixed (1e6 * row->time_lo, 2));
      text_table_take (text, text_fixed (1e6 * row->time_hi, 2));
    }
  text_table_append (text, TABLE_PLAIN, 2, look->width, out);
  if (table->note != NULL)
    {
      g_string_append (out, "# ");
      report_text (out, table->note, 2, look);
    }
}
