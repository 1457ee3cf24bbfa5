/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "calibrate/validate.h"

/* `lockstep validate compute`: measured kernels against predicted ones. */
typedef struct
{
  gboolean     hold_out_shapes;   /* fit 70 % of the shapes of each file, predict the others */
  gboolean     catalogue;         /* fit nothing: the shipped parts that no row of the file was fitted to */
  const char *const *fit;         /* files to fit; NULL-terminated or NULL */
} KernelValidation;

/* The tables join `keep` (KernelTable *, freed with it), which must live as long
 * as the validation. */
gboolean kernel_validate (const char *const *paths, const KernelValidation *how, Validation *validation, GPtrArray *keep,
                          GError **error);
