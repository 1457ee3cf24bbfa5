/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "cli/cli.h"

/* Rows of plain text cells that `show` and `list` print in each format. */
typedef struct Rows Rows;
/* `titles`: NULL-terminated, borrowed; names of the CSV columns and of the JSON members. */
Rows *rows_new   (const char *const *titles);
void  rows_free  (Rows *rows);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Rows, rows_free)
void  rows_add   (Rows *rows, const char *text);   /* NULL: empty */
void  rows_take  (Rows *rows, char *text);
/* Only CSV and JSON have this column: what the table says elsewhere. */
void  rows_hide  (Rows *rows, const char *title);
/* In the table the first column heads the rows that share it. */
void  rows_group (Rows *rows);
/* JSON: an object with the rows as the array `name`. */
void  rows_print (const Rows *rows, const char *name, const Call *call);
