/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/report-parts.h"
#include "report/text.h"

/* Headings and paragraphs. */

const Look look_plain = { FALSE, 100 };

/* Longer lines are hard to read. */
static const guint widest_text = 100;

void
report_heading (GString *out, const char *text, const Look *look)
{
  g_autofree char *clean = text_clean (text);

  g_string_append_printf (out, "%s%s%s\n", look->colour ? "\033[1m" : "", clean, look->colour ? "\033[0m" : "");
}

void
report_text (GString *out, const char *text, guint indent, const Look *look)
{
  text_wrap (out, text, indent, MIN (look->width, widest_text));
}
