/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>

/* All that one picture is made from. */
typedef struct
{
  const char *script;      /* "scaling.gp" */
  const char *csv;         /* text */
  const char *measured;    /* text: gpus,throughput_samples_per_s,step_time_s; NULL: none */
  const char *title;
  const char *labels;      /* text: what, place, text between tabs; NULL: none */
} Picture;
/* Whole or not at all, to FILE.svg or FILE.png; errors of PLOT_ERROR and G_FILE_ERROR. */
gboolean picture_draw (const Picture *picture, const char *path, GError **error);
