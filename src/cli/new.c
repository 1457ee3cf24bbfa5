/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/names.h"
#include "cli/cli.h"

/* One kind of scenario to start from.  A new kind is one row. */
typedef struct
{
  const char *name;        /* a strategy, or a question around one */
  const char *alias;       /* NULL: none */
  const char *question;
  const char *machine;
  guint       nodes;
  const char *workload, *precision, *optimizer;
  guint       batch_per_gpu;
  const char *strategy;    /* lines of [strategy] */
  const char *groups;      /* more groups; "": none */
  const char *sweep;       /* what is worth varying */
  guint       global_batch;   /* 0: batch_per_gpu counts */
} Kind;

static const Kind kinds[] = {
  { "single", NULL, "One GPU: how fast is a step alone, and what bounds it?",
    "generic-1gpu", 1, "resnet50", "mixed-fp16", "momentum", 64,
    "kind = single\n",
    "", "training.batch-per-gpu = 8..256 x2\n" },
  { "mirrored", NULL, "MirroredStrategy on one machine: from which batch on do several GPUs help?",
    "n1-standard-32-4xv100", 1, "resnet50", "mixed-fp16", "momentum", 64,
    "kind = mirrored\n"
    "# eager, graph (tf.function, Keras) or cuda-graph: a small batch is bound by the host.\n"
    "host = graph\n",
    "", "training.batch-per-gpu = 4..256 x4\ncluster.gpus-per-node = 1, 2, 4\n" },
  { "multi-worker-mirrored", "mwms", "MultiWorkerMirroredStrategy on several workers: what does the network leave of linear scaling?",
    "n1-standard-32-4xt4", 4, "resnet50", "fp32", "momentum", 32,
    "kind = multi-worker-mirrored\n"
    "# auto is TensorFlow's ring over gRPC, also on GPUs; nccl is the one option to try first.\n"
    "communication = auto\n",
    "", "strategy.communication = auto, nccl\ncluster.nodes = 1, 2, 4\n" },
  { "ddp", NULL, "PyTorch DDP on several nodes: how far does it scale, and what stops it?",
    "dgx-a100", 4, "resnet50", "mixed-fp16", "momentum", 128,
    "kind = ddp\n"
    "# bucket_cap_mb; without the line 25 MiB with a first bucket of 1 MiB.\n"
    "# bucket-size = 25 MiB\n"
    "# A communication hook: none, fp16 or bf16.\n"
    "compression = none\n",
    "", "cluster.nodes = 1, 2, 4, 8\n" },
  { "reduction-server", NULL, "PyTorch DDP and reduction servers: how many of them shorten the step?",
    "n1-highmem-96-8xv100", 5, "bert_base_seq128", "mixed-fp16", "adam", 24,
    "kind = ddp\n",
    "[collective]\n"
    "algorithm = reduction-server\n"
    "[reduction-server]\n"
    "machine = n1-highcpu-16\n"
    "# Their NICs together should carry what the nodes' NICs do; 0: none, the ring.\n"
    "count = 16\n",
    "reduction-server.count = 0, 8, 16, 20\n" },
  { "flat", NULL, "All gradients in one all-reduce after backward: what does the missing overlap cost?",
    "dgx-a100", 4, "resnet50", "mixed-fp16", "momentum", 128,
    "kind = flat\n",
    "", "strategy.kind = flat, ddp\ncluster.nodes = 1, 2, 4, 8\n" },
  { "horovod", NULL, "Horovod on several nodes: what do fusion, cycle and the library underneath make of the network?",
    "dgx-1-v100", 4, "resnet50", "mixed-fp16", "momentum", 128,
    "kind = horovod\n"
    "# tf1, pytorch or mxnet.\n"
    "framework = pytorch\n"
    "# HOROVOD_FUSION_THRESHOLD, HOROVOD_CYCLE_TIME.\n"
    "fusion-size = 128 MiB\n"
    "cycle-time = 1 ms\n"
    "# nccl; mpi and gloo work in host memory.\n"
    "operations = nccl\n",
    "", "strategy.operations = nccl, mpi\ncluster.nodes = 1, 2, 4, 8\n" },
  { "replicated", NULL, "tf_cnn_benchmarks with replicated variables: what does an all-reduce a tensor cost?",
    "dgx-1-v100", 1, "resnet50", "fp32", "momentum", 64,
    "kind = replicated\n",
    "", "cluster.gpus-per-node = 1, 2, 4, 8\n" },
  { "data-parallel", "dp", "nn.DataParallel on one machine: what does one process for all GPUs cost against DDP?",
    "dgx-1-v100", 1, "resnet50", "fp32", "momentum", 64,
    "kind = data-parallel\n",
    "", "strategy.kind = data-parallel, ddp\ncluster.gpus-per-node = 1, 2, 4, 8\n" },
  { "parameter-server", "ps", "Variables on parameter servers: how many servers keep the workers busy?",
    "n1-standard-32-4xt4", 4, "resnet50", "fp32", "momentum", 32,
    "kind = parameter-server\n",
    "[parameter-server]\n"
    "machine = n1-highcpu-16\n"
    "count = 4\n"
    "# true: they run on the workers themselves, at most one a node.\n"
    "colocated = false\n",
    "parameter-server.count = 1, 2, 4, 8\n" },
  { "zero", "deepspeed", "DeepSpeed ZeRO: which stage fits, and what does it cost over this network?",
    "dgx-a100", 2, "gpt3_1.3b", "mixed-bf16", "adam", 4,
    "kind = zero\n"
    "# 1: optimizer state sharded, 2: gradients too, 3: weights too.\n"
    "stage = 2\n"
    "# auto is DeepSpeed's: reductions beside the backward pass in stage 3 alone.\n"
    "overlap-comm = auto\n",
    "", "strategy.stage = 1, 2, 3\ncluster.nodes = 1, 2, 4\n" },
  { "fsdp", NULL, "PyTorch FSDP: do the gathers hide behind the compute, and does it fit?",
    "dgx-h100", 4, "llama2_7b", "mixed-bf16", "adam", 2,
    "kind = fsdp\n"
    "# 1: FullyShardedDataParallel, 2: fully_shard.\n"
    "version = 2\n"
    "# full, grad-op (weights stay between the passes), hybrid (a copy a node), hybrid-grad-op, no.\n"
    "sharding = full\n",
    "", "strategy.sharding = full, grad-op, hybrid\ncluster.nodes = 1, 2, 4\n" },
  { "megatron", NULL, "A transformer laid out by Megatron-LM: which layout is fastest on these GPUs, and does it fit?",
    "dgx-a100", 4, "gpt3_13b", "mixed-bf16", "adam", 0,
    "kind = megatron\n"
    "# Degrees; data-parallel is what is left of the GPUs.\n"
    "tensor-parallel = 4\n"
    "sequence-parallel = yes\n"
    "pipeline-parallel = 2\n"
    "# More than 1: interleaved stages.\n"
    "virtual-stages = 1\n"
    "micro-batch = 1\n"
    "distributed-optimizer = yes\n"
    "overlap-grad-reduce = yes\n"
    "# megatron-2021, megatron-2022, megatron-core-2023, -2025 or -2026; auto: not known, a wide default.\n"
    "stack = auto\n",
    "", "strategy.tensor-parallel = 1, 2, 4, 8\nstrategy.pipeline-parallel = 1, 2, 4\n", 256 },
};

static const Option options[] = {
  { "force", 0, OPTION_FLAG, offsetof (Options, force), NULL, "Replaces a file that is there." },
  { NULL, 0, 0, 0, NULL, NULL }
};

static const Kind *
find_kind (const char *name, GError **error)
{
  const char *names[2 * G_N_ELEMENTS (kinds) + 1] = { NULL };
  g_autofree char *wrong = NULL;
  gsize n = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      if (g_str_equal (kinds[i].name, name) || g_strcmp0 (kinds[i].alias, name) == 0)
        return &kinds[i];
      names[n++] = kinds[i].name;
    }
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (kinds[i].alias != NULL)
      names[n++] = kinds[i].alias;
  wrong = names_unknown ("kind", name, names);
  usage_error (error, "%s", wrong);
  return NULL;
}

static const char batch_words[] =
  "# The batch of one GPU stays as GPUs are added; with global-batch in its place the total stays.\n";

static void
write_scenario (GString *out, const Kind *kind)
{
  g_string_append_printf (out,
    "# %s\n"
    "# lockstep run FILE: one step; scale: the curve; sweep: every point of [sweep]; list keys: all that can stand here.\n"
    "[cluster]\n"
    "# One of 'lockstep list machines'.\n"
    "machine = %s\n"
    "nodes = %u\n"
    "[network]\n"
    "# Without these lines the machine's own.\n"
    "# transport = tcp\n"
    "# nic-bandwidth = 100 Gbit/s\n"
    "[workload]\n"
    "# One of 'lockstep list workloads'.\n"
    "name = %s\n"
    "precision = %s\n"
    "[training]\n"
    "%s"
    "%s = %u\n"
    "optimizer = %s\n"
    "[strategy]\n"
    "%s"
    "%s"
    "[sweep]\n"
    "%s",
    kind->question, kind->machine, kind->nodes, kind->workload, kind->precision, kind->global_batch > 0 ? "" : batch_words, kind->global_batch > 0 ? "global-batch" : "batch-per-gpu",
    MAX (kind->global_batch, kind->batch_per_gpu), kind->optimizer,
    kind->strategy, kind->groups, kind->sweep);
}

static gboolean
run_new (Call *call, GError **error)
{
  const char *path = call->options.output;
  const Kind *kind = find_kind (call->args[0], error);

  if (kind == NULL)
    return FALSE;
  if (path != NULL && !call->options.force && g_file_test (path, G_FILE_TEST_EXISTS))
    {
      usage_error (error, "'%s' is there already; give another name, or --force to replace it", path);
      return FALSE;
    }
  write_scenario (call->out, kind);
  if (path != NULL)
    call->next = g_strdup_printf ("next: lockstep run %s", path);
  return TRUE;
}

const Command command_new = {
  .name = "new",
  .summary = "a commented scenario to start from",
  .arguments = "KIND",
  .min_args = 1, .max_args = 1,
  .options = options,
  .writes = TRUE,
  .details =
    "Writes a scenario that runs as it is, with a comment where a choice is to be made.  KIND is\n"
    "one of 'lockstep list strategies', a short name (mwms, dp, ps) or a question around a\n"
    "strategy (reduction-server).\n"
    "\n"
    "Example:\n"
    "  lockstep new ddp -o mine.ini\n",
  .run = run_new,
};
