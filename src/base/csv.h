/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>
#include <stdio.h>

/* libcsv owns the plain names in the linker's eyes. */
#define csv_parse csv_table_parse
#define csv_free  csv_table_free

/* CSV in (libcsv) and out.  The whole table is held as text; '#' lines before
 * the header are comments. */
typedef struct CsvTable CsvTable;

#define CSV_ERROR (csv_error_quark ())
typedef enum { CSV_ERROR_READ, CSV_ERROR_SYNTAX, CSV_ERROR_COLUMN, CSV_ERROR_VALUE } CsvError;
GQuark csv_error_quark (void);

#define CSV_MAX_BYTES   (64u << 20)
#define CSV_MAX_COLUMNS 256u
#define CSV_MAX_ROWS    2000000u
#define CSV_MAX_FIELD   65536u

/* "-": standard input.  Refuses what is too large (before reading it), not UTF-8, a row whose number
 * of fields is not the header's, a column named twice, a directory, an empty
 * file.  Messages are "file:line: what; what would be right". */
CsvTable   *csv_load    (const char *path, GError **error);
CsvTable   *csv_parse   (const char *name, const char *text, gsize length, GError **error);
void        csv_free    (CsvTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CsvTable, csv_free)

/* Rows behind the header; text is borrowed from the table. */
guint       csv_rows    (const CsvTable *table);
guint       csv_columns (const CsvTable *table);
const char *csv_column_name (const CsvTable *table, guint column);
const char *csv_name    (const CsvTable *table);
/* -1: none. */
int         csv_column  (const CsvTable *table, const char *name);
/* A missing column is an error that names the near one. */
gboolean    csv_require (const CsvTable *table, const char *name, guint *column, GError **error);
const char *csv_text    (const CsvTable *table, guint row, guint column);
guint       csv_line    (const CsvTable *table, guint row);
/* Empty: NAN.  Anything else that is not a finite number is an error with line and column. */
gboolean    csv_number  (const CsvTable *table, guint row, guint column, double *value, GError **error);
/* The same; a number outside [min, max] is an error too. */
gboolean    csv_number_in (const CsvTable *table, guint row, guint column, double min, double max, double *value, GError **error);

/* One field, quoted where it must be. */
void        csv_append_text   (GString *line, const char *text);
/* "%.9g" in the C locale; nothing for NAN. */
void        csv_append_number (GString *line, double value);
/* Writes the whole file or nothing (g_file_set_contents_full: temporary and
 * rename; through a symbolic link).  A pipe or device is written in place. */
gboolean    file_replace (const char *path, const char *data, gsize length, GError **error);
