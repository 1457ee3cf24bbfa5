/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The losses of the ledger, in the order of the CSV columns. */
typedef enum
{
  CAUSE_COMPUTE, CAUSE_HOST, CAUSE_EXPOSED_COMM, CAUSE_BUBBLE, CAUSE_WAIT, CAUSE_INPUT, CAUSE_OPTIMIZER, CAUSE_OTHER, N_CAUSES
} Cause;
/* "compute", "host", "exposed_comm", ... (as in CSV, without _s); and for people "exposed communication". */
extern const char *const cause_names[];
extern const char *const cause_titles[];
