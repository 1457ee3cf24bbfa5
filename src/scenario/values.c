/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenario/values.h"

#include <math.h>
#include <string.h>

#include "base/keys.h"

/* A range ends at its upper end in spite of what rounding adds. */
static const double end_slack = 1e-6;

void
value_range_clear (ValueRange *range)
{
  g_clear_pointer (&range->low, g_free);
  g_clear_pointer (&range->high, g_free);
  g_clear_pointer (&range->step, g_free);
}

/* The blank before the last "xFACTOR" or "+STEP". */
static const char *
find_step (const char *text)
{
  const char *found = NULL;

  for (const char *p = text; *p != '\0'; p++)
    if (*p == ' ' && (p[1] == 'x' || p[1] == '+') && p[2] != '\0')
      found = p;
  return found;
}

gboolean
value_range_split (const char *item, ValueRange *range, GError **error)
{
  const char *dots = strstr (item, "..");
  const char *step;

  memset (range, 0, sizeof *range);
  if (dots == NULL)
    return FALSE;
  step = find_step (dots);
  if (step == NULL || dots == item)
    {
      g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE,
                   "'%s' is no range; write it as 8..512 x2 or 0..64 +8", item);
      return FALSE;
    }
  range->low = g_strstrip (g_strndup (item, (gsize) (dots - item)));
  range->high = g_strstrip (g_strndup (dots + 2, (gsize) (step - dots - 2)));
  range->step = g_strdup (step + 2);
  range->multiply = step[1] == 'x';
  return TRUE;
}

guint
value_range_count (double low, double high, double step, gboolean multiply, guint max, GError **error)
{
  double n;

  if (!(high >= low) || (multiply && !(low > 0)) || !(step > (multiply ? 1 : 0)))
    {
      g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "a range needs %s and an upper end not below its lower one",
                   multiply ? "a lower end above 0, a factor above 1" : "a step above 0");
      return 0;
    }
  n = multiply ? log (high / low) / log (step) : (high - low) / step;
  n = floor (n + end_slack) + 1;
  if (!(n <= max))
    {
      g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "a range of %.0f values; at most %u are allowed", n, max);
      return 0;
    }
  return (guint) n;
}

double
value_range_at (double low, double step, gboolean multiply, guint i)
{
  return multiply ? low * pow (step, i) : low + step * i;
}

char **
values_split (const char *text, GError **error)
{
  g_auto (GStrv) items = g_strsplit (text, ",", -1);

  for (guint i = 0; items[i] != NULL; i++)
    if (*g_strstrip (items[i]) == '\0')
      {
        g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "an empty value in the list '%s'; write it as 1, 2, 4", text);
        return NULL;
      }
  if (items[0] == NULL)
    {
      g_set_error_literal (error, KEYS_ERROR, KEYS_ERROR_VALUE, "an empty list; write it as 1, 2, 4");
      return NULL;
    }
  return g_steal_pointer (&items);
}

/* A number and the unit behind it, blanks between left out. */
static gboolean
number_and_unit (const char *text, double *number, const char **unit, GError **error)
{
  char *end;

  *number = g_ascii_strtod (text, &end);
  if (end == text || !isfinite (*number))
    {
      g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE, "'%s' in a range is no number", text);
      return FALSE;
    }
  *unit = end + strspn (end, " \t");
  return TRUE;
}

static gboolean
expand_range (const ValueRange *range, guint max, GPtrArray *out, GError **error)
{
  const char *low_unit, *high_unit, *step_unit;
  double low, high, step;
  guint n;

  if (!number_and_unit (range->low, &low, &low_unit, error) ||
      !number_and_unit (range->high, &high, &high_unit, error) ||
      !number_and_unit (range->step, &step, &step_unit, error))
    return FALSE;
  if ((*low_unit && !g_str_equal (low_unit, high_unit)) ||
      (*step_unit && (range->multiply || !g_str_equal (step_unit, high_unit))))
    {
      g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE,
                   "units '%s', '%s', '%s' in one range; give one unit, behind the upper end",
                   low_unit, high_unit, step_unit);
      return FALSE;
    }
  n = value_range_count (low, high, step, range->multiply, max, error);
  for (guint i = 0; i < n; i++)
    {
      char number[G_ASCII_DTOSTR_BUF_SIZE];

      g_ascii_formatd (number, sizeof number, "%.12g", value_range_at (low, step, range->multiply, i));
      g_ptr_array_add (out, *high_unit ? g_strdup_printf ("%s %s", number, high_unit) : g_strdup (number));
    }
  return n > 0;
}

char **
values_expand (const char *text, guint max, guint *n, GError **error)
{
  g_auto (GStrv) items = values_split (text, error);
  g_autoptr (GPtrArray) out = g_ptr_array_new_with_free_func (g_free);

  if (items == NULL)
    return NULL;
  for (guint i = 0; items[i] != NULL; i++)
    {
      g_auto (ValueRange) range = { 0 };
      GError *wrong = NULL;

      if (value_range_split (items[i], &range, &wrong))
        expand_range (&range, max, out, &wrong);
      else if (wrong == NULL)
        g_ptr_array_add (out, g_strdup (items[i]));
      if (wrong == NULL && out->len > max)
        g_set_error (&wrong, KEYS_ERROR, KEYS_ERROR_VALUE, "a list of more than %u values", max);
      if (wrong != NULL)
        {
          g_propagate_error (error, wrong);
          return NULL;
        }
    }
  if (n != NULL)
    *n = out->len;
  g_ptr_array_add (out, NULL);
  g_ptr_array_set_free_func (out, NULL);
  return (char **) g_ptr_array_free (g_steal_pointer (&out), FALSE);
}

guint64 *
values_counts (const char *text, guint64 largest, guint max, guint *n, GError **error)
{
  g_auto (GStrv) values = values_expand (text, max, n, error);
  g_autofree guint64 *counts = NULL;

  if (values == NULL)
    return NULL;
  counts = g_new (guint64, *n);
  for (guint i = 0; i < *n; i++)
    if (!g_ascii_string_to_unsigned (values[i], 10, 1, largest, &counts[i], NULL))
      {
        g_set_error (error, KEYS_ERROR, KEYS_ERROR_VALUE,
                     "'%s' is not a whole number from 1 to %" G_GUINT64_FORMAT, values[i], largest);
        return NULL;
      }
  return g_steal_pointer (&counts);
}
