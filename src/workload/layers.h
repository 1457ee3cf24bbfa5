/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/csv.h"
#include "workload/workload.h"

/* Layers in the making. */
typedef struct LayerList LayerList;
LayerList *layer_list_new    (void);
void       layer_list_free   (LayerList *list);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LayerList, layer_list_free)
/* A tensor of the layer that comes next. */
void       layer_list_tensor (LayerList *list, double elements);
/* `name` is copied; what it says about tying counts.  The tensors noted since the last are its parameters. */
void       layer_list_add    (LayerList *list, const char *name, const Layer *layer);
/* Hands everything over with its sums; `list` is empty then. */
void       layer_list_end    (LayerList *list, Workload *workload);

/* Fills the layers and all that follows from them (not name, family, sample,
 * samples_per_epoch).  Copies what it needs: the table may go. */
gboolean layers_read (Workload *workload, const CsvTable *table, GError **error);
void     layers_clear (Workload *workload);
