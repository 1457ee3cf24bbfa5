# SPDX-License-Identifier: GPL-3.0-or-later
# What there is grows; the lines that tests and scenarios rely on stay.
for what in machines gpus transports workloads strategies algorithms keys; do
  try list $what > $what.txt
  tail -1 $what.txt
  lockstep list $what --format csv | head -1
done
grep -c -E '^(n1-highmem-96-8xv100|n1-standard-32-4xt4|n1-standard-32-4xv100|n1-highcpu-16|a2-highgpu-8g|a2-megagpu-16g|dgx-a100|generic-1gpu) ' machines.txt
grep -c -E '^(t4|v100-sxm2-16gb|a100-sxm-40gb) ' gpus.txt
grep -c -E '^(nvlink|pcie-p2p|pcie-host|tcp|grpc|ib|plain) ' transports.txt
grep -c -E '^(resnet50|vgg16|bert_base_seq128|bert_large_seq128) ' workloads.txt
grep -c -E '^(single|mirrored|multi-worker-mirrored|ddp) ' strategies.txt
grep -c -E '^(ring|hierarchical|grpc-ring|reduction-server|parameter-server) ' algorithms.txt
grep -c -E '^(cluster.machine|training.global-batch|network.latency|sweep|measured)[ .]' keys.txt
# No line without its words, no key without its help.
for what in machines transports workloads strategies algorithms keys; do
  lockstep list $what --format csv | awk -F, '$NF == ""'
done
# No table is wider than 100 columns.
cat machines.txt gpus.txt transports.txt workloads.txt strategies.txt algorithms.txt keys.txt | wc -L
try list keys scenario
try list strategies --format json | tail -4
# No empty list where there is no folder of parts.
echo '$ without parts' >&2
for what in machines gpus transports workloads; do
  LOCKSTEP_MODELS=/nowhere lockstep list $what
  echo "exit $?"
done
