/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/quantity.h"
#include "base/names.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

G_DEFINE_QUARK (lockstep-quantity-error-quark, quantity_error)

#define KI 1024.0
#define UNITS_MAX 40

/* A unit as it is typed: times * 10^power in SI.  The power is joined to the
 * digits before they are read, so that "161.2 ms" is the same double as
 * 0.1612.  `shown`: from how many of it quantity_format takes it; 0: only
 * read.  `binary`: only where it divides evenly. */
typedef struct { const char *name; int power; double times, shown; gboolean binary; } UnitName;

#define ALWAYS 1e-300   /* the smallest unit of its kind */

static const UnitName none_units[] = { { .name = NULL } };
static const UnitName share_units[] = { { "%", -2, 1 }, { .name = NULL } };
static const UnitName time_units[] = {
  { "ps", -12, 1, ALWAYS }, { "ns", -9, 1, 1 }, { "us", -6, 1, 1 }, { "ms", -3, 1, 1 },
  { "s", 0, 1, 1 }, { "min", 0, 60, 3 }, { "h", 0, 3600, 1 }, { "d", 0, 86400, 2 },
  { "\xc2\xb5s", -6, 1 }, { "\xce\xbcs", -6, 1 },   /* micro sign and Greek mu */
  { .name = NULL }
};
static const UnitName byte_units[] = {
  { "B", 0, 1, ALWAYS }, { "kB", 3, 1, 1 }, { "MB", 6, 1, 1 }, { "GB", 9, 1, 1 },
  { "TB", 12, 1, 1 }, { "PB", 15, 1, 1 },
  { "KiB", 0, KI, 1, TRUE }, { "MiB", 0, KI * KI, 1, TRUE }, { "GiB", 0, KI * KI * KI, 1, TRUE },
  { "TiB", 0, KI * KI * KI * KI, 1, TRUE }, { "PiB", 0, KI * KI * KI * KI * KI, 1, TRUE },
  { "bit", 0, 0.125 }, { "kbit", 3, 0.125 }, { "Mbit", 6, 0.125 }, { "Gbit", 9, 0.125 }, { "Tbit", 12, 0.125 },
  { .name = NULL }
};
static const UnitName rate_units[] = {
  { "B/s", 0, 1, ALWAYS }, { "kB/s", 3, 1, 1 }, { "MB/s", 6, 1, 1 }, { "GB/s", 9, 1, 1 },
  { "TB/s", 12, 1, 1 }, { "PB/s", 15, 1, 1 },
  { "KiB/s", 0, KI }, { "MiB/s", 0, KI * KI }, { "GiB/s", 0, KI * KI * KI },
  { "TiB/s", 0, KI * KI * KI * KI }, { "PiB/s", 0, KI * KI * KI * KI * KI },
  { "bit/s", 0, 0.125 }, { "kbit/s", 3, 0.125 }, { "Mbit/s", 6, 0.125 }, { "Gbit/s", 9, 0.125 }, { "Tbit/s", 12, 0.125 },
  { "bps", 0, 0.125 }, { "kbps", 3, 0.125 }, { "Mbps", 6, 0.125 }, { "Gbps", 9, 0.125 }, { "Tbps", 12, 0.125 },
  { .name = NULL }
};
static const UnitName flop_units[] = {
  { "FLOP/s", 0, 1, ALWAYS }, { "kFLOP/s", 3, 1, 1 }, { "MFLOP/s", 6, 1, 1 }, { "GFLOP/s", 9, 1, 1 },
  { "TFLOP/s", 12, 1, 1 }, { "PFLOP/s", 15, 1, 1 }, { "EFLOP/s", 18, 1, 1 },
  { .name = NULL }
};
static const UnitName sample_units[] = { { "samples/s", 0, 1, ALWAYS }, { .name = NULL } };
static const UnitName money_units[] = { { "USD/h", 0, 1, ALWAYS }, { .name = NULL } };

/* What a text without a unit is in, and zero is shown in: the SI unit. */
static const UnitName plain_unit = { NULL, 0, 1, ALWAYS };

static const struct
{
  const char     *name, *article, *examples, *example;
  const UnitName *units;
} kinds[] = {
  [UNIT_NONE] = { "number", "a number", "no unit", "4", none_units },
  [UNIT_SHARE] = { "share", "a share", "0.56 or 56 %", "56 %", share_units },
  [UNIT_TIME] = { "time", "a time", "ps ns us ms s min h d", "12 us", time_units },
  [UNIT_BYTES] = { "bytes", "a number of bytes", "B kB MB GB TB PB, KiB MiB GiB TiB PiB, bit kbit Mbit Gbit Tbit", "25 MiB", byte_units },
  [UNIT_RATE] = { "rate", "a rate", "B/s kB/s MB/s GB/s TB/s PB/s, KiB/s ... PiB/s, bit/s kbit/s Mbit/s Gbit/s Tbit/s", "100 Gbit/s", rate_units },
  [UNIT_FLOP_RATE] = { "FLOP rate", "a FLOP rate", "FLOP/s kFLOP/s MFLOP/s GFLOP/s TFLOP/s PFLOP/s EFLOP/s", "125 TFLOP/s", flop_units },
  [UNIT_SAMPLE_RATE] = { "sample rate", "a sample rate", "samples/s", "2500 samples/s", sample_units },
  [UNIT_MONEY_RATE] = { "price", "a price", "USD/h", "2.48 USD/h", money_units },
};

/* What people write for a unit that there is, or that has two meanings. */
static const struct { Unit unit; const char *typed, *right; } slips[] = {
  { UNIT_BYTES, "b", "'bit' or 'B'" }, { UNIT_BYTES, "KB", "'kB' (1000) or 'KiB' (1024)" },
  { UNIT_BYTES, "K", "'kB' (1000) or 'KiB' (1024)" }, { UNIT_BYTES, "k", "'kB' (1000) or 'KiB' (1024)" },
  { UNIT_BYTES, "M", "'MB' (1e6) or 'MiB' (2^20)" }, { UNIT_BYTES, "G", "'GB' (1e9) or 'GiB' (2^30)" },
  { UNIT_BYTES, "T", "'TB' (1e12) or 'TiB' (2^40)" },
  { UNIT_BYTES, "kb", "'kbit' or 'kB'" }, { UNIT_BYTES, "Kb", "'kbit' or 'kB'" },
  { UNIT_BYTES, "Mb", "'Mbit' or 'MB'" }, { UNIT_BYTES, "mb", "'Mbit' or 'MB'" },
  { UNIT_BYTES, "Gb", "'Gbit' or 'GB'" }, { UNIT_BYTES, "gb", "'Gbit' or 'GB'" },
  { UNIT_BYTES, "Tb", "'Tbit' or 'TB'" }, { UNIT_BYTES, "tb", "'Tbit' or 'TB'" },
  { UNIT_BYTES, "bytes", "'B'" }, { UNIT_BYTES, "byte", "'B'" }, { UNIT_BYTES, "bits", "'bit'" },
  { UNIT_RATE, "b/s", "'bit/s' or 'B/s'" }, { UNIT_RATE, "KB/s", "'kB/s' (1000) or 'KiB/s' (1024)" },
  { UNIT_RATE, "Kb/s", "'kbit/s' or 'kB/s'" }, { UNIT_RATE, "kb/s", "'kbit/s' or 'kB/s'" },
  { UNIT_RATE, "Mb/s", "'Mbit/s' or 'MB/s'" }, { UNIT_RATE, "mb/s", "'Mbit/s' or 'MB/s'" },
  { UNIT_RATE, "Gb/s", "'Gbit/s' or 'GB/s'" }, { UNIT_RATE, "gb/s", "'Gbit/s' or 'GB/s'" },
  { UNIT_RATE, "Tb/s", "'Tbit/s' or 'TB/s'" }, { UNIT_RATE, "tb/s", "'Tbit/s' or 'TB/s'" },
  { UNIT_RATE, "Bps", "'B/s'" }, { UNIT_RATE, "kBps", "'kB/s'" }, { UNIT_RATE, "KBps", "'kB/s'" },
  { UNIT_RATE, "MBps", "'MB/s'" }, { UNIT_RATE, "GBps", "'GB/s'" }, { UNIT_RATE, "TBps", "'TB/s'" },
  { UNIT_RATE, "mbps", "'Mbit/s'" }, { UNIT_RATE, "gbps", "'Gbit/s'" },
  { UNIT_RATE, "Gbit", "'Gbit/s'" }, { UNIT_RATE, "Mbit", "'Mbit/s'" }, { UNIT_RATE, "GB", "'GB/s'" },
  { UNIT_RATE, "MB", "'MB/s'" }, { UNIT_RATE, "G", "'Gbit/s' or 'GB/s'" },
  { UNIT_TIME, "sec", "'s'" }, { UNIT_TIME, "secs", "'s'" }, { UNIT_TIME, "second", "'s'" },
  { UNIT_TIME, "seconds", "'s'" }, { UNIT_TIME, "usec", "'us'" }, { UNIT_TIME, "msec", "'ms'" },
  { UNIT_TIME, "nsec", "'ns'" }, { UNIT_TIME, "m", "'min' or 'ms'" }, { UNIT_TIME, "minutes", "'min'" },
  { UNIT_TIME, "hr", "'h'" }, { UNIT_TIME, "hour", "'h'" }, { UNIT_TIME, "hours", "'h'" },
  { UNIT_TIME, "day", "'d'" }, { UNIT_TIME, "days", "'d'" },
  { UNIT_FLOP_RATE, "FLOPS", "'FLOP/s'" }, { UNIT_FLOP_RATE, "GFLOPS", "'GFLOP/s'" },
  { UNIT_FLOP_RATE, "TFLOPS", "'TFLOP/s'" }, { UNIT_FLOP_RATE, "PFLOPS", "'PFLOP/s'" },
  { UNIT_FLOP_RATE, "TFLOPs", "'TFLOP/s'" }, { UNIT_FLOP_RATE, "TFLOP", "'TFLOP/s'" },
  { UNIT_FLOP_RATE, "TF", "'TFLOP/s'" }, { UNIT_FLOP_RATE, "TFlops", "'TFLOP/s'" },
  { UNIT_MONEY_RATE, "$/h", "'USD/h'" }, { UNIT_MONEY_RATE, "USD", "'USD/h'" }, { UNIT_MONEY_RATE, "$", "'USD/h'" },
  { UNIT_SAMPLE_RATE, "sample/s", "'samples/s'" }, { UNIT_SAMPLE_RATE, "images/s", "'samples/s'" },
  { UNIT_SAMPLE_RATE, "img/s", "'samples/s'" }, { UNIT_SAMPLE_RATE, "sequences/s", "'samples/s'" },
};

const char *
unit_name (Unit unit)
{
  return kinds[unit].name;
}

/* Length of a plain decimal number at the start of the text, 0: none.  Not
 * left to strtod, which would take hexadecimal, "inf" and "nan". */
static gsize
number_length (const char *text)
{
  const char *p = text;
  gsize n_digits = 0;

  if (*p == '+' || *p == '-')
    p++;
  for (; g_ascii_isdigit (*p); p++)
    n_digits++;
  if (*p == '.')
    for (p++; g_ascii_isdigit (*p); p++)
      n_digits++;
  if (n_digits == 0)
    return 0;
  if (*p == 'e' || *p == 'E')
    {
      const char *e = p + 1;

      if (*e == '+' || *e == '-')
        e++;
      if (g_ascii_isdigit (*e))
        {
          while (g_ascii_isdigit (*e))
            e++;
          p = e;
        }
    }
  return (gsize) (p - text);
}

static gboolean
not_a_number (const char *quoted, Unit unit, GError **error)
{
  g_set_error (error, QUANTITY_ERROR, QUANTITY_ERROR_NUMBER,
               "%s is not %s; write %s as in '%s'", quoted, kinds[unit].article,
               unit == UNIT_NONE ? "a decimal number" : "a decimal number and its unit",
               kinds[unit].example);
  return FALSE;
}

static gboolean
unknown_unit (const char *quoted, const char *typed, Unit unit, GError **error)
{
  const char *names[UNITS_MAX + 1] = { NULL };
  gsize n = 0;

  g_autofree char *quoted_unit = names_quote (typed);
  for (gsize i = 0; i < G_N_ELEMENTS (slips); i++)
    if (slips[i].unit == unit && g_str_equal (slips[i].typed, typed))
      {
        g_set_error (error, QUANTITY_ERROR, QUANTITY_ERROR_UNIT,
                     "%s has the unit %s, which there is not; did you mean %s?",
                     quoted, quoted_unit, slips[i].right);
        return FALSE;
      }
  for (const UnitName *u = kinds[unit].units; u->name != NULL && n < UNITS_MAX; u++)
    names[n++] = u->name;
  const char *near = names_nearest (typed, names);
  if (unit == UNIT_NONE)
    g_set_error (error, QUANTITY_ERROR, QUANTITY_ERROR_UNIT,
                 "%s has %s behind the number; a pure number stands alone, as in '%s'",
                 quoted, quoted_unit, kinds[unit].example);
  else if (near != NULL)
    g_set_error (error, QUANTITY_ERROR, QUANTITY_ERROR_UNIT,
                 "%s has the unknown unit %s; did you mean '%s'?", quoted, quoted_unit, near);
  else
    g_set_error (error, QUANTITY_ERROR, QUANTITY_ERROR_UNIT,
                 "%s has the unknown unit %s; %s takes: %s", quoted, quoted_unit,
                 kinds[unit].article, kinds[unit].examples);
  return FALSE;
}

static const UnitName *
find_unit (const char *quoted, const char *typed, Unit unit, GError **error)
{
  if (*typed == '\0' && (unit == UNIT_NONE || unit == UNIT_SHARE))
    return &plain_unit;
  if (*typed == '\0')
    {
      g_set_error (error, QUANTITY_ERROR, QUANTITY_ERROR_UNIT,
                   "%s has no unit; %s needs one, as in '%s'", quoted,
                   kinds[unit].article, kinds[unit].example);
      return NULL;
    }
  for (const UnitName *u = kinds[unit].units; u->name != NULL; u++)
    if (g_str_equal (u->name, typed))
      return u;
  unknown_unit (quoted, typed, unit, error);
  return NULL;
}

/* The number times 10^power, rounded once. */
static gboolean
read_digits (const char *text, gsize length, int power, double *value)
{
  g_autofree char *digits = g_strndup (text, length);
  char *e = strpbrk (digits, "eE");
  gint64 exponent = power;

  if (e != NULL)
    {
      exponent += CLAMP (g_ascii_strtoll (e + 1, NULL, 10), -G_MAXINT, G_MAXINT);
      *e = '\0';
    }
  g_autofree char *joined = g_strdup_printf ("%se%" G_GINT64_FORMAT, digits, exponent);
  errno = 0;
  *value = g_ascii_strtod (joined, NULL);
  return errno != ERANGE;
}

gboolean
quantity_parse (const char *text, Unit unit, double *value, GError **error)
{
  g_autofree char *stripped = g_strstrip (g_strdup (text));
  g_autofree char *quoted = names_quote (stripped);
  const gsize length = number_length (stripped);
  double number;

  *value = NAN;
  const char *typed = stripped + length;
  while (*typed == ' ' || *typed == '\t')
    typed++;
  if (length == 0 || ((*typed == 'x' || *typed == 'X') && g_ascii_isxdigit (typed[1])))
    return not_a_number (quoted, unit, error);
  if (*typed == ',' || *typed == '.' || *typed == '_' || g_ascii_isdigit (*typed))
    {
      g_set_error (error, QUANTITY_ERROR, QUANTITY_ERROR_NUMBER,
                   "%s is not one number; write the decimal point as '.' and the "
                   "digits without separators, as in '%s'", quoted, kinds[unit].example);
      return FALSE;
    }
  const UnitName *u = find_unit (quoted, typed, unit, error);
  if (u == NULL)
    return FALSE;
  if (!read_digits (stripped, length, u->power, &number) || !isfinite (number * u->times))
    {
      g_set_error (error, QUANTITY_ERROR, QUANTITY_ERROR_NUMBER, "%s is too %s for a number",
                   quoted, fabs (number) < 1.0 ? "small" : "large");
      return FALSE;
    }
  *value = number * u->times;
  return TRUE;
}

/* How many of the unit. */
static double
in_unit (double value, const UnitName *u)
{
  double power = 1.0;

  for (int i = 0; i < abs (u->power); i++)
    power *= 10.0;
  return u->power < 0 ? value * power / u->times : value / power / u->times;
}

/* The best unit for an absolute value: the largest of which there are enough. */
static const UnitName *
shown_unit (double value, Unit unit)
{
  const UnitName *best = NULL;

  for (const UnitName *u = kinds[unit].units; u->name != NULL; u++)
    if (u->shown > 0 && !u->binary
        && (best == NULL || in_unit (value, u) >= u->shown || (u->power == 0 && value <= 0 && u->times <= 1)))
      best = u;
  return best == NULL ? &plain_unit : best;
}

/* 25 MiB is not 26.2 MB, so a whole number of a binary unit is shown as such,
 * unless the decimal unit says it in three digits. */
static const UnitName *
binary_unit (double value, Unit unit)
{
  const UnitName *best = NULL;

  for (const UnitName *u = kinds[unit].units; u->name != NULL; u++)
    {
      const double n = value / u->times;

      if (u->binary && n >= 1.0 && n < KI && n <= floor (n))
        best = u;
    }
  return best;
}

static double
round_3 (double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  return g_ascii_strtod (g_ascii_formatd (text, sizeof text, "%.2e", value), NULL);
}

static char *
with_unit (double number, const char *format, const char *name)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (text, sizeof text, format, number);
  return name == NULL ? g_strdup (text) : g_strconcat (text, " ", name, NULL);
}

static gboolean
same (double a, double b)
{
  return !(a < b) && !(a > b);
}

char *
quantity_format (double value, Unit unit)
{
  const double most = unit == UNIT_NONE ? 1e15 : 1e6;   /* with all digits before the point */
  const double size = fabs (value);

  if (isnan (value))
    return g_strdup ("-");
  if (isinf (value))
    return g_strdup (value > 0 ? "unlimited" : "-unlimited");
  if (unit == UNIT_SHARE)
    return with_unit (round_3 (in_unit (value, &share_units[0])), size >= 9.995 && size < most ? "%.0f" : "%.3g", "%");
  if (unit == UNIT_MONEY_RATE)
    return with_unit (value, size < most ? "%.2f" : "%.3g", money_units[0].name);
  const double rounded = round_3 (size);
  const UnitName *binary = same (rounded, size) ? NULL : binary_unit (size, unit);
  if (binary != NULL)
    return with_unit (value / binary->times, "%.0f", binary->name);
  const UnitName *u = shown_unit (rounded, unit);
  const double number = in_unit (value, u);
  if (fabs (number) >= 999.5 && fabs (number) < most)
    return with_unit (number, "%.0f", u->name);
  return with_unit (number, "%.3g", u->name);
}

char *
memory_format (double bytes)
{
  return isfinite (bytes) ? with_unit (bytes / (KI * KI * KI), "%.2f", "GiB") : g_strdup ("");
}

/* The fewest digits, of the fitting unit first: 1e+06 s, not 11.574074074074074 d.
 * In the SI unit the digits always do. */
char *
quantity_format_exact (double value, Unit unit)
{
  static const char *const formats[] = { "%.6g", "%.9g", "%.15g", "%.16g", "%.17g" };
  const UnitName *units[] = { shown_unit (fabs (value), unit), shown_unit (0.0, unit) };
  char *text = quantity_format (value, unit);
  double back;

  if (!isfinite (value) || (quantity_parse (text, unit, &back, NULL) && same (back, value)))
    return text;
  for (gsize i = 0; i < G_N_ELEMENTS (units) * G_N_ELEMENTS (formats); i++)
    {
      const UnitName *u = units[i % G_N_ELEMENTS (units)];

      g_free (text);
      text = with_unit (in_unit (value, u), formats[i / G_N_ELEMENTS (units)], u->name);
      if (quantity_parse (text, unit, &back, NULL) && same (back, value))
        break;
    }
  return text;
}
