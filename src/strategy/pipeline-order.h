/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "strategy/pipeline.h"

/* One pass of one micro-batch through a chunk of a stage. */
typedef struct { gboolean back; guint chunk, micro_batch; } PipelinePass;

/* Of PipelinePass: all passes of a stage as its schedule runs them.  Caller frees. */
GArray *pipeline_order (const Pipeline *pipeline, guint stage);
