/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "run/run.h"

/* Ranks numbered so that the ring of their nodes leaves leaves (or groups) more often
 * than it must: a warning of the result, with what the best order would give. */
gboolean order_remark (Result *r, const Scenario *scenario, const Cluster *cluster, Shelf *parts, GError **error);
