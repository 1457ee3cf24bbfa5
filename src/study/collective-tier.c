/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/study.h"
#include "base/names.h"
#include "collective/max-plus.h"
#include "strategy/price.h"
#include <math.h>

/* `collective --tier`: the times of a table again, message by message. */

const char *const collective_tier_names[] = { "auto", "flow", "message", "max-plus", NULL };

/* Memory of one process: 200 bytes a track, 12 a lane; and less than an hour of one
 * processor. */
#define MOST_TRACKS ((guint64) 1 << 23)
#define MOST_LANES ((guint64) 1 << 27)
#define MOST_MESSAGES ((guint64) 1 << 34)
/* Messages of a pipeline whose links are shared: 2 to 4 us each (bench-collectives, tree):
 * two minutes. */
#define MOST_SHARED 3e7

typedef struct { Schedule schedule; Fabric *fabric; double launch; } Setting;

static gboolean
tier_error (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
tier_error (GError **error, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  if (error != NULL)
    *error = g_error_new_valist (COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNSUPPORTED, format, arguments);
  va_end (arguments);
  return FALSE;
}

gboolean
collective_tier_find (const char *name, CollectiveTier *out, GError **error)
{
  g_autofree char *unknown = NULL;

  for (int i = 0; collective_tier_names[i] != NULL; i++)
    if (g_str_equal (collective_tier_names[i], name))
      {
        *out = (CollectiveTier) i;
        return TRUE;
      }
  unknown = names_unknown ("tier", name, collective_tier_names);
  g_set_error_literal (error, COLLECTIVE_ERROR, COLLECTIVE_ERROR_UNKNOWN, unknown);
  return FALSE;
}

static gboolean
not_too_many (const Schedule *s, gboolean one_rank, GError **error)
{
  const guint64 tracks = (one_rank ? 1 : (guint64) s->actors) * s->tracks;
  const double messages = (double) tracks * s->steps * s->chunks;

  const gboolean shared = !one_rank && s->chunks > 1 && s->tracks > 1;

  if (tracks <= MOST_TRACKS && (guint64) s->actors * s->lanes <= MOST_LANES && messages <= (double) MOST_MESSAGES
      && (!shared || messages <= MOST_SHARED))
    return TRUE;
  return tier_error (error, "%.2g messages at most of %u ranks are too many to play one by one; give --tier flow, fewer ranks or --chunks",
                     messages, s->ranks);
}

/* The row's algorithm and protocol are settled by now. */
static gboolean
set_up (Setting *out, const CollectiveRow *row, const Cluster *cluster, guint chunks, gboolean may_fold, GError **error)
{
  CollectiveCall call = { .size = row->size, .protocol = PROTOCOL_SIMPLE };
  RankGroup group = price_all (cluster);
  Paths paths;
  gboolean folded;

  if (!collective_op_find (row->op, &call.op, error) || !collective_find (row->algorithm, &call.algorithm, error))
    return FALSE;
  for (int i = 0; i < N_PROTOCOLS; i++)
    if (g_str_equal (protocol_names[i], row->protocol))
      call.protocol = (Protocol) i;
  cluster_fold_group (cluster, collective_paths (call.algorithm), &group);
  if (!cluster_paths (cluster, collective_paths (call.algorithm), &group, &paths, error)
      || !schedule_init (&out->schedule, &call, &group, &paths, chunks, error))
    return FALSE;
  folded = may_fold && fabric_may_fold (&out->schedule, &paths);
  if (!not_too_many (&out->schedule, folded, error))
    return FALSE;
  out->fabric = fabric_new (&out->schedule, &paths, cluster_network (cluster), call.protocol, folded);
  out->launch = schedule_launch (&out->schedule, &paths, call.protocol);
  return TRUE;
}

static gboolean
seconds_of (const CollectiveRow *row, const Cluster *cluster, CollectiveTier tier, guint chunks, double *seconds, GError **error)
{
  Setting setting;

  if (!set_up (&setting, row, cluster, chunks, tier == TIER_MESSAGE, error))
    return FALSE;

  g_autoptr (Fabric) fabric = setting.fabric;
  const PlayJob job = { .schedule = &setting.schedule };
  Tick end;

  if (tier == TIER_MESSAGE)
    {
      g_autoptr (Play) play = play_new (fabric, FALSE);

      play_add (play, &job);
      if (!play_run (play, error))
        return FALSE;
      end = play_end (play, 0);
    }
  else if (!max_plus_run (fabric, FALSE, &job, &end, error))
    return FALSE;
  *seconds = (double) (end + ticks_from_seconds (setting.launch)) / TICKS_PER_S;
  return TRUE;
}

gboolean
study_collective_tier (CollectiveTable *table, const Cluster *cluster, CollectiveTier tier, guint chunks, GError **error)
{
  for (guint i = 0; i < table->n && (tier == TIER_MESSAGE || tier == TIER_MAX_PLUS) && table->ranks > 1; i++)
    {
      CollectiveRow *row = &table->rows[i];
      const double bus = row->busbw / row->algbw, wire = row->wire / row->algbw;

      if (!seconds_of (row, cluster, tier, chunks, &row->time, error))
        return FALSE;
      row->algbw = row->size / row->time;
      row->busbw = bus * row->algbw;
      row->wire = wire * row->algbw;
      row->time_lo = row->time_hi = NAN;   /* intervals are those of the flow's fits */
    }
  return TRUE;
}

const char *
study_collective_tier_reason (CollectiveTier tier)
{
  static const char *const reasons[] = {
    [TIER_AUTO] = "tier flow, chosen: all ranks start at once on links that nothing else uses, so one activity is as exact as its "
                  "messages and carries the measured floors and intervals",
    [TIER_FLOW] = "tier flow, as asked: one activity with all its bytes",
    [TIER_MESSAGE] = "tier message, as asked: every message on its links, latency and rate of the transport alone; where all ranks "
                     "do the same one stands for all",
    [TIER_MAX_PLUS] = "tier max-plus, as asked: a recurrence over the messages, which share no link",
  };

  return reasons[tier];
}

gboolean
study_collective_steps (const CollectiveTable *table, const Cluster *cluster, guint chunks, guint most,
                        PlaySeen seen, gpointer user, GError **error)
{
  Setting setting;

  if (table->ranks < 2 || table->n != 1)
    return tier_error (error, "the messages are shown of one size among two ranks or more");
  if (!set_up (&setting, &table->rows[0], cluster, chunks, FALSE, error))
    return FALSE;

  g_autoptr (Fabric) fabric = setting.fabric;
  g_autoptr (Play) play = play_new (fabric, FALSE);
  const Schedule *s = &setting.schedule;
  const Tick launch = ticks_from_seconds (setting.launch);
  g_autofree Tick *start = g_new (Tick, s->actors);
  const PlayJob job = { .schedule = s, .start = start };

  if ((double) s->actors * s->tracks * s->steps * s->chunks > 64. * most)
    return tier_error (error, "%u ranks and %u chunks are too many messages to show; give fewer nodes or --chunks", s->ranks, s->chunks);
  for (guint32 i = 0; i < s->actors; i++)
    start[i] = launch;
  play_watch (play, seen, user);
  play_add (play, &job);
  return play_run (play, error);
}
