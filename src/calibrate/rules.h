/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/csv.h"

/* How rows of other people's tables are read: a CSV with the columns
 *   where   conditions that a row must meet, "column=pattern; column>number; ...":
 *           = and != take shell patterns in any case, with '|' between several;
 *           empty: every row
 *   set     what holds for such rows, "name=value; name=value"
 *   origin  where that comes from
 * The first rule that sets a name decides, so that special rules stand above
 * general ones. */
typedef struct Rules Rules;

/* Errors name file, line and column; caller frees. */
Rules      *rules_load (const char *path, GError **error);
void        rules_free (Rules *rules);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Rules, rules_free)

/* What the rules say of one row.  Strings borrowed from the rules. */
typedef void (*RuleValue) (gpointer user, const char *name, const char *value, const char *origin);
void        rules_apply (const Rules *rules, const CsvTable *table, guint row, RuleValue value, gpointer user);

/* One condition, or several with ';', of a row. */
gboolean    condition_met   (const char *text, const CsvTable *table, guint row);
/* FALSE and an error: no "column=value". */
gboolean    condition_check (const char *text, GError **error);
/* Does `text` fit one of the patterns ('|' between them), in any case? */
gboolean    pattern_fits    (const char *patterns, const char *text);
/* A cell by column name; "" where the table has no such column. */
const char *csv_cell        (const CsvTable *table, guint row, const char *column);
