/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compute/efficiency.h"

#include <math.h>
#include <string.h>

#include "base/csv.h"
#include "base/names.h"

#define ANY "any"   /* the key of the row for what nothing was measured for */

/* A value that stands alone: the 5 % to 95 % range of measured over predicted
 * time among rows predicted from wider keys is 0.80 to 1.65; rounded outwards. */
#define ALONE_LOW  (1 / 1.5)
#define ALONE_HIGH 1.5

enum { FAMILY, TUNING, PRECISION, GENERATION, SOURCE, EFFICIENCY, LOW, HIGH, GROUPS, SOURCES, N_COLUMNS };
static const char *const column_names[N_COLUMNS] = {
  "family", "tuning", "precision", "generation", "source", "efficiency", "low", "high", "groups", "sources",
};

/* Which parts of the key must agree, narrowest first.  The generation goes
 * before the tuning: tuning moves e by 1.5 to 2.5 times, a GPU generation by
 * 1.1 to 1.6. */
typedef enum { FAMILY_ITSELF, FAMILY_KIN, FAMILY_ANY } LevelFamily;
typedef struct { LevelFamily family; gboolean tuning, generation; const char *match; } Level;
static const Level levels[] = {
  { FAMILY_ITSELF, TRUE, TRUE, "key" }, { FAMILY_ITSELF, TRUE, FALSE, "generation" }, { FAMILY_ITSELF, FALSE, FALSE, "class" },
  { FAMILY_KIN, TRUE, TRUE, "class" }, { FAMILY_KIN, TRUE, FALSE, "class" }, { FAMILY_KIN, FALSE, FALSE, "class" },
  { FAMILY_ANY, FALSE, FALSE, "class" },
};

/* Families of the same kernels: convolutions with batch norms; blocks of attention and
 * feed-forward parts; looked-up rows and small products. */
static const struct { const char *family, *kin; } kins[] = {
  { "efficientnet", "resnet" }, { "vgg", "resnet" }, { "transformer", "bert" }, { "dlrm", "ncf" }, { "ncf", "dlrm" },
};

static const char *
kin_of (const char *family)
{
  for (gsize i = 0; i < G_N_ELEMENTS (kins); i++)
    if (g_str_equal (kins[i].family, family))
      return kins[i].kin;
  return "";
}

/* The table's word: automatic mixed precision in either half format.  Pure
 * half precision has no rows of its own and takes these. */
const char *
efficiency_precision (Precision precision)
{
  switch (precision)
    {
    case PRECISION_MIXED_FP16:
    case PRECISION_MIXED_BF16:
    case PRECISION_FP16:
    case PRECISION_BF16:
      return "amp";
    default:
      return precision_names[precision];
    }
}

/* A cell may name several tunings that were measured as one: "nhwc/xla". */
static gboolean
has_tuning (const char *cell, const char *tuning)
{
  g_auto (GStrv) names = g_strsplit (cell, "/", 0);

  return g_strv_contains ((const char *const *) names, tuning);
}

/* By how much of a step's memory traffic and idle tensor cores they remove: nothing;
 * images laid out for tensor cores; that and element-wise kernels fused (or the layout by
 * hand); norms fused too; everything.  A tuning without rows lies between those next to it. */
static const struct { const char *name; int rank; } tunings[] = {
  { "plain", 0 }, { "graph", 1 }, { "nhwc", 2 }, { "xla", 2 }, { "fused", 3 }, { "mlperf", 4 },
};

typedef struct
{
  const CsvTable *table;
  guint           column[N_COLUMNS];
  const char     *family, *tuning, *precision, *generation;
  const char     *without;   /* a source whose rows do not count; NULL: none */
} Query;

/* Rows of one source were fitted by `calibrate step`; those without one are
 * medians over several, of which nobody can take one out. */
static gboolean
source_allowed (const Query *q, guint row, gboolean fitted)
{
  const char *source = csv_text (q->table, row, q->column[SOURCE]);

  if (fitted)
    return *source != '\0' && g_strcmp0 (source, q->without) != 0;
  return *source == '\0' && (q->without == NULL || g_str_equal (q->family, ANY));
}

static gboolean
row_matches (const Query *q, guint row, const Level *level)
{
  const char *tuning = csv_text (q->table, row, q->column[TUNING]);

  if (!g_str_equal (csv_text (q->table, row, q->column[PRECISION]), q->precision))
    return FALSE;
  if (level->family != FAMILY_ANY
      && !g_str_equal (csv_text (q->table, row, q->column[FAMILY]), level->family == FAMILY_KIN ? kin_of (q->family) : q->family))
    return FALSE;
  if (level->generation && !g_str_equal (csv_text (q->table, row, q->column[GENERATION]), q->generation))
    return FALSE;
  if (level->tuning)
    return has_tuning (tuning, q->tuning);
  /* Stacks tuned for MLPerf say nothing about others. */
  return !g_str_equal (tuning, "mlperf") || g_str_equal (q->tuning, "mlperf");
}

static gboolean
known_tuning (const Query *q, GError **error)
{
  g_autoptr (GPtrArray) known = g_ptr_array_new_with_free_func (g_free);

  for (guint row = 0; row < csv_rows (q->table); row++)
    {
      g_auto (GStrv) names = g_strsplit (csv_text (q->table, row, q->column[TUNING]), "/", 0);
      for (guint i = 0; names[i] != NULL; i++)
        {
          if (g_str_equal (names[i], q->tuning))
            return TRUE;
          if (!g_str_equal (names[i], ANY)
              && !g_ptr_array_find_with_equal_func (known, names[i], g_str_equal, NULL))
            g_ptr_array_add (known, g_strdup (names[i]));
        }
    }
  g_ptr_array_add (known, NULL);
  g_autofree char *message = names_unknown ("tuning", q->tuning, (const char *const *) known->pdata);
  g_set_error (error, KEYS_ERROR, KEYS_ERROR_UNKNOWN, "[compute] tuning: %s", message);
  return FALSE;
}

static int
tuning_rank (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (tunings); i++)
    {
      if (g_str_equal (tunings[i].name, name))
        return tunings[i].rank;
    }
  return -1;
}

/* Of the tunings that a row stands for the one nearest to the wanted. */
static int
row_tuning (const Query *q, guint row)
{
  const int wanted = tuning_rank (q->tuning);
  g_auto (GStrv) names = g_strsplit (csv_text (q->table, row, q->column[TUNING]), "/", 0);
  int nearest = -1;

  for (guint i = 0; names[i] != NULL; i++)
    {
      const int rank = tuning_rank (names[i]);

      if (nearest < 0 || ABS (rank - wanted) < ABS (nearest - wanted))
        nearest = rank;
    }
  return nearest;
}

/* The tuning itself, or those next to it on either side that have rows.  Over all families
 * the words mean nothing: few have layouts and norms to gain by. */
typedef struct { int below, above; } Beside;

static Beside
tunings_beside (const Query *q, const Level *level, gboolean fitted)
{
  const int wanted = tuning_rank (q->tuning);
  Beside beside = { G_MININT, G_MAXINT };

  for (guint row = 0; row < csv_rows (q->table) && wanted >= 0; row++)
    {
      const int rank = row_tuning (q, row);

      if (rank < 0 || !row_matches (q, row, level) || !source_allowed (q, row, fitted))
        continue;
      beside.below = rank <= wanted ? MAX (beside.below, rank) : beside.below;
      beside.above = rank >= wanted ? MIN (beside.above, rank) : beside.above;
    }
  return beside;
}

static gboolean
stands_beside (const Query *q, guint row, const Level *level, const Beside *beside)
{
  const int rank = row_tuning (q, row);

  return level->family == FAMILY_ANY || rank < 0 || tuning_rank (q->tuning) < 0 || rank == beside->below || rank == beside->above;
}

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  const double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static double
median (GArray *values)
{
  const double *v = (const double *) (gconstpointer) values->data;
  const guint n = values->len;

  g_array_sort (values, compare_doubles);
  return n % 2 == 1 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

/* The rows that were taken, or which part of the key had none.  `sources`: of
 * fitted rows. */
static char *
describe (const Query *q, const Level *level, guint row, guint n, const char *sources)
{
  GString *text = g_string_new ("models/efficiency.csv: ");
  const char *groups = csv_text (q->table, row, q->column[GROUPS]);
  const gboolean own = level->family == FAMILY_ITSELF;

  if (level->family != FAMILY_ANY)
    g_string_append_printf (text, "%s, ", level->family == FAMILY_KIN ? kin_of (q->family) : q->family);
  if (level->tuning)
    g_string_append_printf (text, "%s, ", q->tuning);
  g_string_append (text, q->precision);
  if (level->generation)
    g_string_append_printf (text, ", %s", q->generation);
  if (level->generation && *sources != '\0')
    g_string_append_printf (text, ", by steps of %s", sources);
  else if (level->generation && *groups != '\0')
    g_string_append_printf (text, " (groups of measured rows: %s, sources: %s)", groups,
                            csv_text (q->table, row, q->column[SOURCES]));
  if (!level->generation)
    g_string_append_printf (text, ", median of %u row%s of the nearest GPU generation; none for %s%s", n, n == 1 ? "" : "s",
                            own && !level->tuning ? "tuning " : "", !own ? q->family : !level->tuning ? q->tuning : q->generation);
  else if (!own)
    g_string_append_printf (text, "; none for %s", q->family);
  return g_string_free (text, FALSE);
}

/* The rows' own ranges where all of the key was found; else, or where a row has
 * none, at least that of a value alone. */
static void
set_range (const GArray *values, const GArray *ends, gboolean whole_key, Efficiency *out)
{
  const double *v = (const double *) (gconstpointer) values->data, *e = (const double *) (gconstpointer) ends->data;
  const gboolean own = whole_key && (values->len > 1 || ends->len > 0);

  out->low = own ? out->value : out->value * ALONE_LOW;
  out->high = own ? out->value : out->value * ALONE_HIGH;
  for (guint i = 0; i < values->len; i++)
    {
      out->low = MIN (out->low, v[i]);
      out->high = MAX (out->high, v[i]);
    }
  for (guint i = 0; i < ends->len && own; i++)
    {
      out->low = MIN (out->low, e[i]);
      out->high = MAX (out->high, e[i]);
    }
}

/* Of an efficiency. */
static const double least = 1e-3, most = 10;

static gboolean
add_ends (const Query *q, guint row, GArray *ends, GError **error)
{
  for (guint c = LOW; c <= HIGH; c++)
    {
      double end;

      if (!csv_number_in (q->table, row, q->column[c], least, most, &end, error))
        return FALSE;
      if (!isnan (end))
        g_array_append_val (ends, end);
    }
  return TRUE;
}

/* In the order of their years; those of one year stand together. */
static const struct { const char *name; int rank; } generations[] = {
  { "Kepler", 0 }, { "Maxwell", 1 }, { "Pascal", 2 }, { "Volta", 3 }, { "Turing", 4 }, { "Ampere", 5 }, { "Ada", 6 },
  { "Hopper", 6 }, { "Blackwell", 7 },
};

static int
generation_rank (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (generations); i++)
    {
      if (g_str_equal (generations[i].name, name))
        return generations[i].rank;
    }
  return -1;
}

/* Where no row is of the generation, the nearest one says most. */
static guint
generation_distance (const Query *q, guint row)
{
  const int wanted = generation_rank (q->generation), has = generation_rank (csv_text (q->table, row, q->column[GENERATION]));

  return wanted < 0 || has < 0 ? 0 : (guint) ABS (wanted - has);
}

static gboolean
try_rows (const Query *q, const Level *level, gboolean fitted, Efficiency *out, gboolean *found, GError **error)
{
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (double)), ends = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GString) sources = g_string_new (NULL);
  const Beside beside = tunings_beside (q, level, fitted);
  guint last = 0, nearest = G_MAXUINT;

  *found = FALSE;
  for (guint row = 0; row < csv_rows (q->table); row++)
    {
      double value;

      if (!row_matches (q, row, level) || !source_allowed (q, row, fitted) || !stands_beside (q, row, level, &beside))
        continue;
      if (!csv_number_in (q->table, row, q->column[EFFICIENCY], least, most, &value, error))
        return FALSE;
      if (generation_distance (q, row) > nearest)
        continue;
      if (generation_distance (q, row) < nearest)
        g_array_set_size (values, g_array_set_size (ends, 0)->len);
      g_string_append_printf (sources, "%s%s", values->len > 0 ? ", " : "", csv_text (q->table, row, q->column[SOURCE]));
      nearest = generation_distance (q, row);
      g_array_append_val (values, value);
      if (!add_ends (q, row, ends, error))
        return FALSE;
      last = row;
    }
  if (values->len == 0)
    return TRUE;
  out->value = median (values);
  out->match = level->family == FAMILY_ITSELF && !level->generation && level->tuning && nearest > 1 ? "far" : level->match;
  const gboolean whole = level->family == FAMILY_ITSELF && level->generation;

  set_range (values, ends, whole, out);
  g_autofree char *text = describe (q, level, last, values->len, fitted ? sources->str : "");
  out->origin = (Origin) { fitted && whole ? ORIGIN_DERIVED : ORIGIN_ASSUMED, g_intern_string (text) };
  *found = TRUE;
  return TRUE;
}

/* Fitted rows of single sources, else the medians over several. */
static gboolean
try_level (const Query *q, const Level *level, Efficiency *out, gboolean *found, GError **error)
{
  return try_rows (q, level, TRUE, out, found, error)
         && (*found || try_rows (q, level, FALSE, out, found, error));
}

gboolean
efficiency_find (const char *family, const char *tuning, const char *precision, const char *generation,
                 const char *without, Efficiency *out, GError **error)
{
  g_autofree char *path = g_build_filename (part_folder (), "efficiency.csv", NULL);
  g_autoptr (CsvTable) table = csv_load (path, error);
  Query q = { table, { 0 }, family, tuning, precision, generation, without };
  gboolean found = FALSE;

  if (table == NULL)
    return FALSE;
  for (guint i = 0; i < N_COLUMNS; i++)
    {
      if (!csv_require (table, column_names[i], &q.column[i], error))
        return FALSE;
    }
  if (!known_tuning (&q, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (levels) && !found; i++)
    {
      if (!try_level (&q, &levels[i], out, &found, error))
        return FALSE;
    }
  if (found)
    return TRUE;
  q.family = q.tuning = q.precision = q.generation = ANY;
  if (!try_level (&q, &levels[0], out, &found, error))
    return FALSE;
  out->match = "class";
  if (!found)
    g_set_error (error, CSV_ERROR, CSV_ERROR_VALUE, "%s: no row for %s, and none for '%s'", csv_name (table),
                 precision, ANY);
  return found;
}
