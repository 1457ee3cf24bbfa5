/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report-fixture.h"

/* Numbers, lines and tables as text. */

static void
test_numbers (void)
{
  static const struct { double value; const char *text; } cases[] = {
    { 0, "0" }, { 5962.7, "5963" }, { 87.126, "87.13" }, { 9.99996, "10.00" }, { 0.004123, "0.004123" },
    { 1234567, "1234567" }, { 3.2e12, "3.2e+12" }, { -1.5, "-1.500" }, { NAN, "" },
  };
  static const struct { double seconds; const char *text; } times[] = {
    { 7e-6, "7.000 us" }, { 0.1613, "161.3 ms" }, { 61, "61.00 s" }, { 150, "2.500 min" }, { 9000, "2.500 h" }, { 216000, "2.500 d" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = text_number (cases[i].value);
      g_assert_cmpstr (text, ==, cases[i].text);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (times); i++)
    {
      g_autofree char *text = text_time (times[i].seconds);
      g_assert_cmpstr (text, ==, times[i].text);
    }
  g_autofree char *gain = text_change (0.0513);
  g_autofree char *clean = text_clean ("a\nb\033[1m");
  g_assert_cmpstr (gain, ==, "+5.1 %");
  g_assert_cmpstr (clean, ==, "a?b?[1m");
}

static void
test_markdown (void)
{
  g_autoptr (TextTable) table = text_table_new ("<name|>ms|>empty");
  g_autoptr (GString) out = g_string_new (NULL);

  text_table_add (table, "a|b");
  text_table_add (table, "12.5");
  text_table_add (table, "");
  text_table_add (table, "wide one");
  text_table_add (table, "7");
  text_table_add (table, NULL);
  text_table_append (table, TABLE_MARKDOWN, 0, 100, out);
  g_assert_cmpstr (out->str, ==,
                   "| name     |   ms |\n"
                   "|:---------|-----:|\n"
                   "| a\\|b     | 12.5 |\n"
                   "| wide one |    7 |\n");
}

/* A number stays with its unit, choices break behind their bars, later lines are indented. */
static void
test_wrap (void)
{
  g_autoptr (GString) out = g_string_new ("  ");

  /* columns:     "  takes 12.3 ms" are 15 */
  text_wrap (out, "takes 12.3 ms of 5 x 8 GPUs: a|bc|def", 4, 15);
  g_assert_cmpstr (out->str, ==,
                   "  takes 12.3 ms\n"
                   "    of\n"
                   "    5 x 8 GPUs:\n"
                   "    a|bc|def\n");
  g_string_truncate (out, 0);
  text_wrap (out, "takes 12.3 ms of a|bc|def", 0, 12);
  g_assert_cmpstr (out->str, ==,
                   "takes\n"
                   "12.3 ms of\n"
                   "a|bc|def\n");
  g_string_truncate (out, 0);
  text_wrap (out, "a|bc|def", 0, 5);
  g_assert_cmpstr (out->str, ==, "a|bc|\ndef\n");
}

/* 14 columns of "| name | a | b |" would be 19: the rest goes under the names again. */
static void
test_markdown_split (void)
{
  g_autoptr (TextTable) table = text_table_new ("<name|>a|>b");
  g_autoptr (GString) out = g_string_new (NULL);

  text_table_keys (table, 1);
  text_table_add (table, "one");
  text_table_add (table, "1.5");
  text_table_add (table, "250");
  text_table_append (table, TABLE_MARKDOWN, 0, 14, out);
  g_assert_cmpstr (out->str, ==,
                   "| name |   a |\n"
                   "|:-----|----:|\n"
                   "| one  | 1.5 |\n"
                   "\n"
                   "| name |   b |\n"
                   "|:-----|----:|\n"
                   "| one  | 250 |\n");
}

/* Titles first, then the last text under itself, then under its row. */
static void
test_narrow (void)
{
  static const char words[] = "aaaa bbbb cccc dddd eeee ffff gggg hhhh iiii jjjj";   /* 49 columns */
  g_autoptr (TextTable) table = text_table_new ("<key|>so many ms|<help");
  g_autoptr (GString) out = g_string_new (NULL);

  text_table_section (table, "[one]");
  text_table_add (table, "nodes");
  text_table_add (table, "7");
  text_table_add (table, words);
  text_table_append (table, TABLE_PLAIN, 0, 52, out);
  /* 5 + 2 + 4 + 2 leave 39: eight words of four */
  g_assert_cmpstr (out->str, ==,
                   "         so\n"
                   "       many\n"
                   "key      ms  help\n"
                   "\n[one]\n"
                   "nodes     7  aaaa bbbb cccc dddd eeee ffff gggg hhhh\n"
                   "             iiii jjjj\n");
  g_string_truncate (out, 0);
  /* 27 are left, too few */
  text_table_append (table, TABLE_PLAIN, 0, 40, out);
  g_assert_cmpstr (out->str, ==,
                   "         so\n"
                   "       many\n"
                   "key      ms\n"
                   "    help\n"
                   "\n[one]\n"
                   "nodes     7\n"
                   "    aaaa bbbb cccc dddd eeee ffff gggg\n"
                   "    hhhh iiii jjjj\n");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/report/text/numbers", test_numbers);
  g_test_add_func ("/report/table/markdown", test_markdown);
  g_test_add_func ("/report/table/markdown-split", test_markdown_split);
  g_test_add_func ("/report/table/narrow", test_narrow);
  g_test_add_func ("/report/text/wrap", test_wrap);
  return g_test_run ();
}
