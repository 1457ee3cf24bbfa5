/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>

/* What a number measures.  In files and on screen it carries a unit ("100
 * Gbit/s", "25 MiB", "12 us"); in the program it is a double in SI. */
typedef enum
{
  UNIT_NONE,         /* a pure number; a unit is refused */
  UNIT_SHARE,        /* 0.56 or 56 % */
  UNIT_TIME,         /* s: ps ns us ms s min h d */
  UNIT_BYTES,        /* bytes: B kB MB GB TB PB KiB MiB GiB TiB PiB, bit kbit Mbit Gbit Tbit */
  UNIT_RATE,         /* bytes/s: every unit of UNIT_BYTES followed by /s; Gbps and the like are read as Gbit/s */
  UNIT_FLOP_RATE,    /* FLOP/s: FLOP/s kFLOP/s ... EFLOP/s */
  UNIT_SAMPLE_RATE,  /* samples/s */
  UNIT_MONEY_RATE,   /* USD/h, kept as USD an hour: prices are quoted so */
} Unit;

#define QUANTITY_ERROR (quantity_error_quark ())
typedef enum { QUANTITY_ERROR_NUMBER, QUANTITY_ERROR_UNIT } QuantityError;
GQuark quantity_error_quark (void);

/* Reads "number unit" (the blank between may be left out).  A quantity without
 * its unit is refused (a bare 0 too); so is NaN, infinity, anything behind the
 * unit.  Powers of 1000 and 1024, bits and bytes are never mixed: "MB" is 1e6
 * bytes, "MiB" 2^20 bytes, "Mbit" 125,000 bytes; "Mb", "mb" are refused with
 * what would be right.  The message says what was read and which units there
 * are, without file or key (the caller puts these in front). */
gboolean    quantity_parse  (const char *text, Unit unit, double *value, GError **error);
/* For people: 3 significant digits and a fitting unit, "12.5 GB/s", "161 ms",
 * "25 MiB" where only a binary unit divides evenly; "-" for NAN.  Caller frees. */
char       *quantity_format (double value, Unit unit);
/* Of GPUs, in the unit of PyTorch's messages: "13.12 GiB".  NAN gives "".  Caller frees. */
char       *memory_format   (double bytes);
/* For files: as quantity_format where that loses nothing, else with as many
 * digits as quantity_parse needs to give the same bits.  Caller frees. */
char       *quantity_format_exact (double value, Unit unit);
/* "time", "bytes", ... and the units that it takes, for help: borrowed. */
const char *unit_name       (Unit unit);
