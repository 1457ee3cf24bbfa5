/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/quantity.h"
#include "fuzz.h"
#include <math.h>
#include <string.h>

const char *const fuzz_seeds[] = {
  "100 Gbit/s", "25 MiB", "12us", "0.5 h", "56 %", "15.7 TFLOP/s", "2500 samples/s", "2.48 USD/h", "-1.25e-3",
  "1e400 PB", "0x1p3 s", "1,5 ms", "nan", "25 Mb", "12 \xc2\xb5s", NULL
};

/* A value that was read is finite, and is written so that it reads the same;
 * a refusal is one line of clean text. */
int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);

  for (int unit = UNIT_NONE; unit <= UNIT_MONEY_RATE; unit++)
    {
      g_autoptr (GError) error = NULL;
      double value, back;

      if (!quantity_parse (text, (Unit) unit, &value, &error))
        {
          g_assert_true (error != NULL && g_utf8_validate (error->message, -1, NULL));
          if (strpbrk (error->message, "\n\r\x1b") != NULL)
            g_error ("not one clean line: %s", error->message);
          continue;
        }
      g_assert_true (isfinite (value) && error == NULL);
      g_autofree char *shown = quantity_format (value, (Unit) unit);
      g_autofree char *exact = quantity_format_exact (value, (Unit) unit);
      g_assert_true (quantity_parse (exact, (Unit) unit, &back, NULL));
      g_assert_false (back < value || back > value);
    }
  return 0;
}
