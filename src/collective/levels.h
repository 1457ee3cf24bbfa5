/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "collective/flow.h"

/* View 1 above the switches that the nodes hang on: the loads of a pattern of edges
 * between nodes on the uplinks of leaves, pods or groups. */
typedef struct
{
  double   bytes;        /* a byte of message, what the pattern scales */
  double   share;        /* of an uplink that the sender's cards can fill; 0 as 1 */
  gboolean other_rail;   /* every edge leaves its rail */
  gboolean at_once;      /* the farthest edge is what takes time, not all in turn */
  guint    round;        /* of exchanges, one after the other */
  double   node_rate, seconds;   /* where all this is in series with more: bytes/s of a node, s a byte of message of everything */
} PatternData;
typedef void (*NodeEdge)    (gpointer user, guint64 from, guint64 to, double bytes);
typedef void (*NodePattern) (guint64 nodes, const PatternData *data, NodeEdge edge, gpointer user);
/* Of a ring `bytes` are what each node sends to the next, of pairs
 * what it sends in all, of trees and exchanges the vector. */
void pattern_ring    (guint64 nodes, const PatternData *data, NodeEdge edge, gpointer user);
void pattern_tree    (guint64 nodes, const PatternData *data, NodeEdge edge, gpointer user);
void pattern_halving (guint64 nodes, const PatternData *data, NodeEdge edge, gpointer user);
void pattern_pat     (guint64 nodes, const PatternData *data, NodeEdge edge, gpointer user);
void pattern_pairs   (guint64 nodes, const PatternData *data, NodeEdge edge, gpointer user);

/* Rounds of each over so many nodes. */
guint rounds_halving (guint64 nodes);
guint rounds_pat     (guint64 nodes);

/* Adds the loads.  Returns what an edge takes more, s: on average, or the farthest. */
double flow_levels (Flow *flow, NodePattern pattern, const PatternData *data);
/* Rounds one after the other, of nodes that send `node_rate` bytes/s; `seconds`: a byte of
 * message takes without leaves.  Returns what all rounds take more. */
double flow_levels_rounds (Flow *flow, NodePattern pattern, double bytes, guint rounds, double node_rate, double seconds);
/* All-to-all of nodes that send `bytes` each; `other_rails`: the share of what stays
 * below a switch that changes rails there.  Returns what the farthest edge takes more. */
double flow_levels_all (Flow *flow, double bytes, double other_rails);
/* Every leaf sends `bytes` up and gets as many. */
void   flow_levels_each (Flow *flow, double bytes);
/* What the longest way up and down both trees takes more, s. */
double flow_tree_climb (const Flow *flow);
