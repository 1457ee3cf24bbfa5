/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "collective/collective.h"
#include "scenario/groups.h"
#include "strategy/strategy.h"

/* Of two keys that exclude each other: the one that a --set settled. */
enum { NEITHER, FIRST, SECOND };

void
scenario_free (Scenario *scenario)
{
  if (scenario == NULL)
    return;
  for (const KeyGroup *group = scenario_groups (); group->name != NULL; group++)
    if (group_fills (group))
      keys_clear (group->keys, group_struct (scenario, group));
  g_free (scenario->name);
  g_free (scenario->path);
  g_free (scenario->title);
  g_free (scenario->question);
  g_clear_pointer (&scenario->file, key_file_free);
  g_clear_pointer (&scenario->lists, lists_unref);
  g_free (scenario);
}

static gboolean
apply_sets (KeyFile *file, const char *const *sets, GError **error)
{
  for (gsize i = 0; sets != NULL && sets[i] != NULL; i++)
    if (!key_file_set (file, sets[i], error))
      return FALSE;
  return TRUE;
}

/* Does one of the sets name `prefix` ("sweep.", "training.global-batch=")? */
static gboolean
sets_name (const char *const *sets, const char *prefix)
{
  for (gsize i = 0; sets != NULL && sets[i] != NULL; i++)
    if (g_str_has_prefix (sets[i], prefix))
      return TRUE;
  return FALSE;
}

/* The key that the command line gives beats the other one in the file. */
static int
settled_by (const char *const *sets, const char *first, const char *second, int before)
{
  const gboolean has_first = sets_name (sets, first), has_second = sets_name (sets, second);

  if (has_first && has_second)
    return NEITHER;
  return has_first ? FIRST : has_second ? SECOND : before;
}

static void
settle (Scenario *scenario, const char *const *sets, const Scenario *before)
{
  scenario->batch_key = settled_by (sets, "training.batch-per-gpu=", "training.global-batch=",
                                    before != NULL ? before->batch_key : NEITHER);
  scenario->workload_key = settled_by (sets, "workload.name=", "workload.file=",
                                       before != NULL ? before->workload_key : NEITHER);
}

static gboolean
missing (const Scenario *scenario, const char *group, const char *key, const char *what, GError **error)
{
  key_file_error (scenario->file, group, key, error, "%s", what);
  return FALSE;
}

static gboolean
check_batch (Scenario *scenario, GError **error)
{
  TrainingSpec *training = &scenario->training;

  if (training->batch_per_gpu == 0 && training->global_batch == 0)
    return missing (scenario, "training", "batch-per-gpu", "no batch is given; give batch-per-gpu or global-batch", error);
  if (training->batch_per_gpu == 0 || training->global_batch == 0)
    return TRUE;
  if (scenario->batch_key == NEITHER)
    {
      key_file_error (scenario->file, "training", "global-batch", error,
                      "given together with batch-per-gpu; give one of the two");
      return FALSE;
    }
  if (scenario->batch_key == FIRST)
    training->global_batch = 0;
  else
    training->batch_per_gpu = 0;
  return TRUE;
}

static gboolean
check_workload (Scenario *scenario, GError **error)
{
  WorkloadSpec *workload = &scenario->workload;

  if (workload->name == NULL && workload->file == NULL && !shape_given (&workload->shape))
    return missing (scenario, "workload", "name",
                    "no workload is given; give a name ('lockstep list workloads' shows them), a file, or an architecture and its shape", error);
  if (workload->name == NULL || workload->file == NULL)
    return TRUE;
  if (scenario->workload_key == NEITHER)
    {
      key_file_error (scenario->file, "workload", "file", error, "given together with name; give one of the two");
      return FALSE;
    }
  g_clear_pointer (scenario->workload_key == FIRST ? &workload->file : &workload->name, g_free);
  return TRUE;
}

/* Names that are looked up again where they are used: here for the line. */
static gboolean
check_names (const Scenario *scenario, GError **error)
{
  const CollectiveAlgorithm *algorithm;
  const Strategy *strategy;
  g_autoptr (GError) wrong = NULL;

  if (!strategy_find (scenario->strategy.kind, &strategy, error))
    {
      key_file_locate_error (scenario->file, error);
      return FALSE;
    }
  if (scenario->collective.algorithm == NULL ||
      collective_find (scenario->collective.algorithm, &algorithm, &wrong))
    return TRUE;
  key_file_error (scenario->file, "collective", "algorithm", error, "%s", wrong->message);
  return FALSE;
}

static gboolean
check_given (const Scenario *scenario, const char *group, const char *key, const char *value, const char *list,
             GError **error)
{
  g_autofree char *what = g_strdup_printf ("not given; 'lockstep list %s' shows what there is", list);

  return (value != NULL && *value != '\0') || missing (scenario, group, key, what, error);
}

/* A relative path starts at the folder of the file that gives it; on the command
 * line it starts, like every path there, at the current one. */
static void
place_file (const Scenario *scenario, const char *group, const char *key, char **file)
{
  g_autofree char *where = NULL, *folder = NULL;
  char *colon, *path = *file;

  if (path == NULL || g_path_is_absolute (path))
    return;
  where = key_file_where (scenario->file, group, key);
  colon = strrchr (where, ':');
  if (colon == NULL)
    return;
  *colon = '\0';
  folder = g_path_get_dirname (where);
  if (g_str_equal (folder, "."))
    return;
  *file = g_build_filename (folder, path, NULL);
  g_free (path);
}

/* A machine, or the GPU of a machine of one's own keys. */
static gboolean
check_machine (const KeyFile *file, GError **error)
{
  if (key_file_get (file, "cluster", "machine") != NULL || key_file_get (file, "cluster", "gpu") != NULL)
    return TRUE;
  key_file_error (file, "cluster", "machine", error,
                  "missing; add 'machine = ...' to [cluster] ('lockstep list machines'), or describe one with gpu, gpu-link and nic-bandwidth");
  return FALSE;
}

/* Takes `file` and `lists`.  `before`: the scenario that `sets` change; NULL: none. */
static Scenario *
scenario_read (KeyFile *file, const char *const *sets, const Scenario *before, Lists *lists, GError **error)
{
  g_autoptr (Scenario) scenario = g_new0 (Scenario, 1);

  scenario->file = file;
  scenario->lists = lists;
  settle (scenario, sets, before);
  if (!key_file_check (file, scenario_groups (), error) || !check_machine (file, error))
    return NULL;
  for (const KeyGroup *group = scenario_groups (); group->name != NULL; group++)
    if (group_fills (group) && !key_file_read (file, group, group_struct (scenario, group), error))
      return NULL;
  if (scenario->lists == NULL && (scenario->lists = lists_read (file, error)) == NULL)
    return NULL;
  lists = scenario->lists;
  scenario->n_measured = lists->n_measured;
  scenario->measured = lists->measured;
  scenario->n_axes = lists->n_axes;
  scenario->axes = lists->axes;
  if ((scenario->cluster.gpu == NULL && !check_given (scenario, "cluster", "machine", scenario->cluster.machine, "machines", error)) ||
      !check_given (scenario, "strategy", "kind", scenario->strategy.kind, "strategies", error) ||
      !check_workload (scenario, error) || !check_batch (scenario, error) || !check_names (scenario, error))
    return NULL;
  place_file (scenario, "workload", "file", &scenario->workload.file);
  if (scenario->calibration.system != NULL && part_is_file (scenario->calibration.system))
    place_file (scenario, "calibration", "system", &scenario->calibration.system);
  return g_steal_pointer (&scenario);
}

/* Title, question and name of a scenario just read from `head` and its own file. */
static void
name_scenario (Scenario *scenario, const char *path, ScenarioHead *head, const char *preamble)
{
  scenario->path = g_strdup (path);
  scenario->name = g_str_equal (path, "-") ? g_strdup ("stdin") : g_path_get_basename (path);
  if (g_str_has_suffix (scenario->name, ".ini"))
    scenario->name[strlen (scenario->name) - strlen (".ini")] = '\0';
  scenario->title = g_steal_pointer (&head->title);
  scenario->question = g_steal_pointer (&head->question);
  if (scenario->question == NULL && preamble != NULL && *preamble != '\0')
    scenario->question = g_strndup (preamble, strcspn (preamble, "\n"));
}

/* Puts the file that `include` names, and those below it, under `file`, read from
 * `at`.  `open`: canonical paths from the scenario down to `file`. */
static gboolean
include_file (KeyFile *file, const char *at, const char *include, GPtrArray *open, GError **error)
{
  g_autofree char *folder = NULL, *path = NULL, *canonical = NULL;
  g_autoptr (KeyFile) below = NULL;
  ScenarioHead head = { 0 };
  GError *wrong = NULL;
  gboolean ok;

  if (include == NULL)
    return TRUE;
  folder = g_path_get_dirname (at);
  path = g_str_equal (folder, ".") ? g_strdup (include) : g_build_filename (folder, include, NULL);
  canonical = g_canonicalize_filename (path, NULL);
  if (g_path_is_absolute (include))
    key_file_error (file, "scenario", "include", &wrong, "'%s' is absolute; give a path from this file's folder", include);
  else if (g_ptr_array_find_with_equal_func (open, canonical, g_str_equal, NULL))
    key_file_error (file, "scenario", "include", &wrong, "'%s' includes itself", include);
  else if (open->len > SCENARIO_MAX_INCLUDES)
    key_file_error (file, "scenario", "include", &wrong, "more than %u files deep", SCENARIO_MAX_INCLUDES);
  else if ((below = key_file_load (path, &wrong)) == NULL && g_error_matches (wrong, KEYS_ERROR, KEYS_ERROR_READ))
    {
      g_autoptr (GError) cause = g_steal_pointer (&wrong);

      key_file_error (file, "scenario", "include", &wrong, "%s", cause->message);
    }
  if (wrong != NULL)
    {
      g_propagate_error (error, wrong);
      return FALSE;
    }
  g_ptr_array_add (open, g_steal_pointer (&canonical));
  ok = key_file_check (below, scenario_groups (), error) &&
       key_file_read (below, scenario_groups (), &head, error) &&
       include_file (below, path, head.include, open, error);
  g_ptr_array_set_size (open, (int) open->len - 1);
  keys_clear (scenario_keys, &head);
  if (ok)
    key_file_merge (file, below);
  return ok;
}

/* Takes `file`. */
static Scenario *
scenario_build (KeyFile *file, const char *path, const char *const *sets, GError **error)
{
  g_autoptr (KeyFile) own = file;
  g_autoptr (GPtrArray) open = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *preamble = g_strdup (key_file_preamble (file));
  ScenarioHead head = { 0 };
  Scenario *scenario = NULL;

  g_ptr_array_add (open, g_canonicalize_filename (path, NULL));
  if (apply_sets (file, sets, error) && key_file_check (file, scenario_groups (), error) &&
      key_file_read (file, scenario_groups (), &head, error) &&
      include_file (file, path, head.include, open, error) &&
      (scenario = scenario_read (g_steal_pointer (&own), sets, NULL, NULL, error)) != NULL)
    name_scenario (scenario, path, &head, preamble);
  keys_clear (scenario_keys, &head);
  return scenario;
}

Scenario *
scenario_load (const char *path, const char *const *sets, GError **error)
{
  KeyFile *file = key_file_load (path, error);

  return file != NULL ? scenario_build (file, path, sets, error) : NULL;
}

Scenario *
scenario_parse (const char *name, const char *text, gsize length, const char *const *sets, GError **error)
{
  KeyFile *file = key_file_parse (name, text, length, error);

  return file != NULL ? scenario_build (file, name, sets, error) : NULL;
}

/* All values with their places. */
static KeyFile *
copy_file (const KeyFile *file)
{
  static const char nothing[] = "[scenario]\n";
  KeyFile *copy = key_file_parse (key_file_name (file), nothing, sizeof nothing - 1, NULL);

  g_assert (copy != NULL);
  key_file_merge (copy, file);
  return copy;
}

Scenario *
scenario_with (const Scenario *scenario, const char *const *sets, GError **error)
{
  g_autoptr (KeyFile) file = copy_file (scenario->file);
  const gboolean same_lists = !sets_name (sets, "sweep.") && !sets_name (sets, "measured.");
  Scenario *with;

  if (!apply_sets (file, sets, error))
    return NULL;
  with = scenario_read (g_steal_pointer (&file), sets, scenario,
                        same_lists ? g_atomic_rc_box_acquire (scenario->lists) : NULL, error);
  if (with == NULL)
    return NULL;
  with->path = g_strdup (scenario->path);
  with->name = g_strdup (scenario->name);
  with->title = g_strdup (scenario->title);
  with->question = g_strdup (scenario->question);
  return with;
}
