/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "report/text.h"

/* A table of text: filled cell by cell, row by row, then laid out once. */
typedef struct TextTable TextTable;
typedef enum { TABLE_PLAIN, TABLE_MARKDOWN } TableStyle;

/* `columns`: "<cause|>ms|>share", '<' left and '>' right.  A column whose cells
 * are all empty is not printed. */
TextTable *text_table_new    (const char *columns);
/* One more column, before the first cell. */
void       text_table_column (TextTable *table, const char *title, gboolean right);
void       text_table_free   (TextTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TextTable, text_table_free)
void       text_table_add    (TextTable *table, const char *text);   /* NULL: empty; control characters become '?' */
void       text_table_take   (TextTable *table, char *text);
/* A line above the next row. */
void       text_table_section (TextTable *table, const char *heading);
/* The first n columns say which row it is. */
void       text_table_keys   (TextTable *table, guint n);
/* Lines are indented by `indent`, never end in blanks, and have at most `limit` columns where words
 * allow it: titles and texts are broken, or the last text goes under its row; a Markdown table goes
 * on in a second one, with the key columns again. */
void       text_table_append (const TextTable *table, TableStyle style, guint indent, guint limit, GString *out);
