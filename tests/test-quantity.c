/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/quantity.h"
#include <float.h>
#include <math.h>

typedef struct { const char *name, *text; Unit unit; double value; } Good;
typedef struct { const char *name, *text; Unit unit; const char *message; } Bad;
typedef struct { const char *name; double value; Unit unit; const char *text, *exact; } Shown;

/* By the SI brochure and IEC 80000-13: kilo 1e3, kibi 2^10, a byte is 8 bits. */
static const Good good[] = {
  { "gbit", "100 Gbit/s", UNIT_RATE, 12.5e9 },
  { "gbps", "25Gbps", UNIT_RATE, 3.125e9 },
  { "rate-bytes", "7.3 GB/s", UNIT_RATE, 7.3e9 },
  { "rate-binary", "3 GiB/s", UNIT_RATE, 3221225472.0 },
  { "mebi", "25 MiB", UNIT_BYTES, 26214400.0 },
  { "mega", "25 MB", UNIT_BYTES, 25e6 },
  { "megabit", "3 Mbit", UNIT_BYTES, 375000.0 },
  { "bit", "3 bit", UNIT_BYTES, 0.375 },
  { "byte", "\t17 B  ", UNIT_BYTES, 17.0 },
  { "tight", "12us", UNIT_TIME, 12e-6 },
  { "micro-sign", "12 \xc2\xb5s", UNIT_TIME, 12e-6 },
  { "exponent", "1.2e1us", UNIT_TIME, 12e-6 },
  { "hours", "0.5 h", UNIT_TIME, 1800.0 },
  { "days", "14d", UNIT_TIME, 1209600.0 },
  { "minutes", "+7 min", UNIT_TIME, 420.0 },
  { "picoseconds", "83 ps", UNIT_TIME, 8.3e-11 },
  { "point-first", ".5 s", UNIT_TIME, 0.5 },
  { "point-last", "5. s", UNIT_TIME, 5.0 },
  { "negative", "-3 ms", UNIT_TIME, -3e-3 },
  { "zero", "0 s", UNIT_TIME, 0.0 },
  { "share", "0.56", UNIT_SHARE, 0.56 },
  { "per-cent", "56 %", UNIT_SHARE, 0.56 },
  { "flop", "15.7 TFLOP/s", UNIT_FLOP_RATE, 15.7e12 },
  { "exa-is-no-exponent", "2EFLOP/s", UNIT_FLOP_RATE, 2e18 },
  { "samples", "2500 samples/s", UNIT_SAMPLE_RATE, 2500.0 },
  { "money", "2.48 USD/h", UNIT_MONEY_RATE, 2.48 },
  { "none", "1.25e-3", UNIT_NONE, 1.25e-3 },
};

static const Bad bad[] = {
  { "no-unit", "100", UNIT_RATE, "'100' has no unit; a rate needs one, as in '100 Gbit/s'" },
  { "bare-zero", "0", UNIT_TIME, "'0' has no unit; a time needs one, as in '12 us'" },
  { "bit-or-byte", "25 Mb", UNIT_BYTES, "'25 Mb' has the unit 'Mb', which there is not; did you mean 'Mbit' or 'MB'?" },
  { "lower-case", "25 mb", UNIT_BYTES, "'25 mb' has the unit 'mb', which there is not; did you mean 'Mbit' or 'MB'?" },
  { "kilo-or-kibi", "64 KB", UNIT_BYTES, "'64 KB' has the unit 'KB', which there is not; did you mean 'kB' (1000) or 'KiB' (1024)?" },
  { "rate-no-second", "25 GB", UNIT_RATE, "'25 GB' has the unit 'GB', which there is not; did you mean 'GB/s'?" },
  { "rate-bits", "25 Gb/s", UNIT_RATE, "'25 Gb/s' has the unit 'Gb/s', which there is not; did you mean 'Gbit/s' or 'GB/s'?" },
  { "near", "3 Us", UNIT_TIME, "'3 Us' has the unknown unit 'Us'; did you mean 'us'?" },
  { "far", "3 parsec", UNIT_TIME, "'3 parsec' has the unknown unit 'parsec'; a time takes: ps ns us ms s min h d" },
  { "behind", "3 us or so", UNIT_TIME, "'3 us or so' has the unknown unit 'us or so'; a time takes: ps ns us ms s min h d" },
  { "none-unit", "4 GPUs", UNIT_NONE, "'4 GPUs' has 'GPUs' behind the number; a pure number stands alone, as in '4'" },
  { "flops", "125 TFLOPS", UNIT_FLOP_RATE, "'125 TFLOPS' has the unit 'TFLOPS', which there is not; did you mean 'TFLOP/s'?" },
  { "nan", "nan s", UNIT_TIME, "'nan s' is not a time; write a decimal number and its unit as in '12 us'" },
  { "inf", "inf", UNIT_NONE, "'inf' is not a number; write a decimal number as in '4'" },
  { "hex", "0x10 B", UNIT_BYTES, "'0x10 B' is not a number of bytes; write a decimal number and its unit as in '25 MiB'" },
  { "hex-none", "0x1p3", UNIT_NONE, "'0x1p3' is not a number; write a decimal number as in '4'" },
  { "word", "fast", UNIT_RATE, "'fast' is not a rate; write a decimal number and its unit as in '100 Gbit/s'" },
  { "nothing", "", UNIT_TIME, "'' is not a time; write a decimal number and its unit as in '12 us'" },
  { "sign-alone", "- s", UNIT_TIME, "'- s' is not a time; write a decimal number and its unit as in '12 us'" },
  { "comma", "1,5 ms", UNIT_TIME, "'1,5 ms' is not one number; write the decimal point as '.' and the digits without separators, as in '12 us'" },
  { "two", "1 2 ms", UNIT_TIME, "'1 2 ms' is not one number; write the decimal point as '.' and the digits without separators, as in '12 us'" },
  { "huge", "1e400 s", UNIT_TIME, "'1e400 s' is too large for a number" },
  { "huge-product", "1e300 PB", UNIT_BYTES, "'1e300 PB' is too large for a number" },
  { "tiny", "1e-400 s", UNIT_TIME, "'1e-400 s' is too small for a number" },
  { "not-utf8", "3 \xff\x01", UNIT_TIME, "'3 \\xff\\x01' has the unknown unit '\\xff\\x01'; a time takes: ps ns us ms s min h d" },
};

static const Shown shown[] = {
  { "rate", 12.5e9, UNIT_RATE, "12.5 GB/s", "12.5 GB/s" },
  { "rate-rounded", 3.12345e9, UNIT_RATE, "3.12 GB/s", "3.12345 GB/s" },
  { "time", 0.1612, UNIT_TIME, "161 ms", "161.2 ms" },
  { "carry", 999.96e-6, UNIT_TIME, "1 ms", "999.96 us" },
  { "short", 8.3e-11, UNIT_TIME, "83 ps", "83 ps" },
  { "shorter", 8.3e-14, UNIT_TIME, "0.083 ps", "0.083 ps" },
  { "minutes", 500.0, UNIT_TIME, "8.33 min", "500 s" },
  { "limit", 1e6, UNIT_TIME, "11.6 d", "1e+06 s" },
  { "hours", 5400.0, UNIT_TIME, "1.5 h", "1.5 h" },
  { "days", 1209600.0, UNIT_TIME, "14 d", "14 d" },
  { "zero", 0.0, UNIT_TIME, "0 s", "0 s" },
  { "negative", -0.0125, UNIT_TIME, "-12.5 ms", "-12.5 ms" },
  { "binary", 26214400.0, UNIT_BYTES, "25 MiB", "25 MiB" },
  { "decimal", 25e6, UNIT_BYTES, "25 MB", "25 MB" },
  { "page", 4096.0, UNIT_BYTES, "4 KiB", "4 KiB" },
  { "odd-bytes", 97492.0, UNIT_BYTES, "97.5 kB", "97.492 kB" },
  { "big", 5e18, UNIT_BYTES, "5000 PB", "5000 PB" },
  { "share", 0.5612, UNIT_SHARE, "56.1 %", "0.5612" },
  { "shares", 100.0, UNIT_SHARE, "10000 %", "10000 %" },
  { "flop", 15.7e12, UNIT_FLOP_RATE, "15.7 TFLOP/s", "15.7 TFLOP/s" },
  { "samples", 12345.6, UNIT_SAMPLE_RATE, "12346 samples/s", "12345.6 samples/s" },
  { "money", 2.4849, UNIT_MONEY_RATE, "2.48 USD/h", "2.4849 USD/h" },
  { "number", 12345.0, UNIT_NONE, "12345", "12345" },
  { "fraction", 0.12345, UNIT_NONE, "0.123", "0.12345" },
};

static void
test_good (gconstpointer data)
{
  const Good *row = data;
  g_autoptr (GError) error = NULL;
  double value;

  g_assert_true (quantity_parse (row->text, row->unit, &value, &error));
  g_assert_no_error (error);
  g_assert_cmpfloat_with_epsilon (value, row->value, fabs (row->value) * DBL_EPSILON + DBL_MIN);
}

static void
test_bad (gconstpointer data)
{
  const Bad *row = data;
  g_autoptr (GError) error = NULL;
  double value;

  g_assert_false (quantity_parse (row->text, row->unit, &value, &error));
  g_assert_cmpuint (error->domain, ==, QUANTITY_ERROR);
  g_assert_cmpstr (error->message, ==, row->message);
  g_assert_true (isnan (value));
  g_assert_false (quantity_parse (row->text, row->unit, &value, NULL));
}

static void
test_shown (gconstpointer data)
{
  const Shown *row = data;
  g_autofree char *text = quantity_format (row->value, row->unit);
  g_autofree char *exact = quantity_format_exact (row->value, row->unit);
  double back;

  g_assert_cmpstr (text, ==, row->text);
  g_assert_true (quantity_parse (exact, row->unit, &back, NULL));
  g_assert_false (back < row->value || back > row->value);
  if (!g_str_equal (row->name, "minutes"))   /* the digits of a third are not ours to fix */
    g_assert_cmpstr (exact, ==, row->exact);
}

static void
test_special (void)
{
  g_autofree char *nan_text = quantity_format (NAN, UNIT_TIME);
  g_autofree char *inf_text = quantity_format (INFINITY, UNIT_RATE);

  g_assert_cmpstr (nan_text, ==, "-");
  g_assert_cmpstr (inf_text, ==, "unlimited");
}

/* Property: what is written for a file reads back to the same bits, whatever
 * the size.  Lumpy mantissas over 30 powers of ten. */
static void
test_round_trip (void)
{
  for (int unit = UNIT_NONE; unit <= UNIT_MONEY_RATE; unit++)
    for (int power = -14; power < 17; power++)
      for (int i = 1; i < 40; i++)
        {
          const double value = pow (10.0, power) * (1.0 + i / 7.0 + i * i / 1013.0);
          g_autofree char *text = quantity_format_exact (value, (Unit) unit);
          double back;

          g_assert_true (quantity_parse (text, (Unit) unit, &back, NULL));
          g_assert_false (back < value || back > value);
        }
}

#define ADD(rows, what, function)                                                      \
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)                                      \
    {                                                                                  \
      g_autofree char *path = g_strdup_printf ("/quantity/" what "/%s", rows[i].name); \
      g_test_add_data_func (path, &rows[i], function);                                 \
    }

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD (good, "read", test_good)
  ADD (bad, "refuse", test_bad)
  ADD (shown, "show", test_shown)
  g_test_add_func ("/quantity/show/special", test_special);
  g_test_add_func ("/quantity/round-trip", test_round_trip);
  return g_test_run ();
}
