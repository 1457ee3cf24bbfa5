/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenario/groups.h"

const Key scenario_keys[] = {
  { "title", KEY_STRING, UNIT_NONE, offsetof (ScenarioHead, title), NULL,
    "A few words for pictures and tables.", 0, 0, NULL, FALSE },
  { "question", KEY_STRING, UNIT_NONE, offsetof (ScenarioHead, question), NULL,
    "What the scenario asks; without it the first comment of the file.", 0, 0, NULL, FALSE },
  { "include", KEY_STRING, UNIT_NONE, offsetof (ScenarioHead, include), NULL,
    "Another scenario file whose values hold where this one gives none; a path from this file's folder.", 0, 0, NULL, FALSE },
  { NULL, 0, 0, 0, NULL, NULL, 0, 0, NULL, FALSE }
};

static const KeyGroup groups[] = {
  { "scenario", "What the file is about.", scenario_keys, sizeof (ScenarioHead) },
  { "cluster", "Machines and how many of them.", cluster_keys, sizeof (ClusterSpec) },
  { "network", "What joins the nodes.", network_keys, sizeof (NetworkSpec) },
  { "compute", "How work becomes seconds on a GPU.", compute_keys, sizeof (ComputeSpec) },
  { "workload", "The neural network.", workload_keys, sizeof (WorkloadSpec) },
  { "training", "Batch, optimizer, length.", training_keys, sizeof (TrainingSpec) },
  { "strategy", "How the framework spreads the work.", strategy_keys, sizeof (StrategySpec) },
  { "collective", "Algorithm and protocol of the collectives.", collective_keys, sizeof (CollectiveSpec) },
  { "reduction-server", "Machines that sum gradients for the workers.", reduction_server_keys, sizeof (ServerSpec) },
  { "parameter-server", "Machines that hold and update the parameters.", parameter_server_keys, sizeof (ServerSpec) },
  { "input", "The input pipeline.", input_keys, sizeof (InputSpec) },
  { "noise", "How ranks differ: spread, slow GPUs and cards, pauses.", noise_keys, sizeof (NoiseSpec) },
  { "traffic", "What others move over the same links: flows, a second job, storage.", traffic_keys, sizeof (TrafficSpec) },
  { "calibration", "Measured parts that beat the catalogue.", calibration_keys, sizeof (CalibrationSpec) },
  { "measured", "Measured points: NODESxGPUS = 0.167 s or 5000 samples/s.", NULL, 0 },
  { "sweep", "Keys to vary: group.key = 1, 2, 4 or 8..512 x2 or 0..64 +8.", NULL, 0 },
  { NULL, NULL, NULL, 0 }
};

/* In the order of groups[]. */
static const gsize offsets[] = {
  0,
  offsetof (Scenario, cluster), offsetof (Scenario, network), offsetof (Scenario, compute),
  offsetof (Scenario, workload), offsetof (Scenario, training), offsetof (Scenario, strategy),
  offsetof (Scenario, collective), offsetof (Scenario, reducers), offsetof (Scenario, servers),
  offsetof (Scenario, input), offsetof (Scenario, noise), offsetof (Scenario, traffic), offsetof (Scenario, calibration),
};

const KeyGroup *
scenario_groups (void)
{
  return groups;
}

const KeyGroup *
scenario_group (const char *name)
{
  for (const KeyGroup *group = groups; group->name != NULL; group++)
    if (g_str_equal (group->name, name))
      return group;
  return NULL;
}

gboolean
group_fills (const KeyGroup *group)
{
  return group->keys != NULL && group->keys != scenario_keys;
}

gpointer
group_struct (Scenario *scenario, const KeyGroup *group)
{
  return (char *) scenario + offsets[group - groups];
}
