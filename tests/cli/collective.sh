# SPDX-License-Identifier: GPL-3.0-or-later
# Ring all-reduce of 100 MB, 5 us a message, 25 GB/s a NIC: 2 (n - 1) (5 us + 100 MB/(n x 25 GB/s)), so
# 2 x 7 x (5 us + 0.5 ms) = 7.07 ms for 8, 126 x 67.5 us = 8.505 for 64, 510 x 20.625 us = 10.51875 for 256,
# 2046 x 8.90625 us = 18.2221875 for 1024.
for nodes in 8 64 256 1024; do
  lockstep collective all-reduce --machine generic-1gpu --nodes $nodes --sizes 100MB --algorithm ring \
    --set network.transport=plain --set 'network.latency=5 us' --set 'network.nic-bandwidth=25 GB/s' --format csv |
    cut -d, -f 1-3
done
try collective all-reduce --machine dgx-a100 --nodes 2 --sizes 8,1KiB,1MiB,1GiB --format csv | cut -d, -f 1,2
try collective all-reduce --machine dgx-a100 --format csv | cut -d, -f 2 | tr '\n' ' '
echo
try collective all-reduce --machine dgx-a100 --sizes '8..1KiB x2, 5 MB' --format csv | cut -d, -f 2 | tr '\n' ' '
echo
for op in all-reduce reduce-scatter all-gather broadcast; do
  lockstep collective $op --machine dgx-a100 --nodes 2 --sizes 1MiB --format csv | sed 1d | cut -d, -f 1
done
lockstep collective all-reduce --machine dgx-a100 --sizes 1MiB --format json |
  python3 -c 'import json, sys; r = json.load (sys.stdin); print (r["schema"], r["command"])'
# The same by messages and by the recurrence; all-to-all (100 MB/8 to each of 7): 5 us + 3.5 ms
for tier in flow message max-plus; do
  lockstep collective all-reduce --machine generic-1gpu --nodes 64 --sizes 100MB --algorithm ring --tier $tier \
    --set network.transport=plain --set 'network.latency=5 us' --set 'network.nic-bandwidth=25 GB/s' --format csv | cut -d, -f 3
done
lockstep collective all-to-all --machine generic-1gpu --nodes 8 --sizes 100MB --tier message --set network.transport=plain \
  --set 'network.latency=5 us' --set 'network.nic-bandwidth=25 GB/s' --format csv | cut -d, -f 3
try collective all-reduce --machine generic-1gpu --nodes 2 --sizes 6MB --algorithm ring --chunks 3 --steps \
  --set network.transport=plain --set 'network.latency=5 us' --set 'network.nic-bandwidth=10 GB/s'
try collective all-reduce --machine generic-1gpu --nodes 4 --sizes 1MB --algorithm gloo --tier message
try collective all-to-all --machine generic-1gpu --nodes 4 --sizes 1MB --tier max-plus
try collective all-reduce --machine generic-1gpu --nodes 4 --sizes 1MB --tier massage
try collective all-reduce --machine generic-1gpu --nodes 4 --sizes 1MB --chunks 2
try collective all-reduce --machine generic-1gpu --nodes 4 --sizes 1MB --tier message --chunks 0
try collective all-reduce --machine generic-1gpu --nodes 4 --steps
try collective all-reduce --machine generic-1gpu --nodes 100000 --sizes 1GB --algorithm tree --tier message
# ranks that jump from leaf to leaf, in both tiers; what each rail carries
for tier in flow message; do
  try collective all-reduce --machine generic-1gpu --nodes 16 --sizes 100MB --algorithm ring --tier $tier --set network.transport=plain \
    --set 'network.latency=5 us' --set 'network.nic-bandwidth=25 GB/s' --set network.topology=fat-tree --set network.nodes-per-leaf=4 \
    --set network.oversubscription=4 --set 'network.ecmp-share=100 %' --set cluster.placement=scattered
done
try collective all-reduce --machine generic-1gpu --nodes 4 --sizes 1MB --set network.topology=fat-tree --set cluster.placement=0,1,1,2
try collective all-reduce --machine generic-1gpu --nodes 4 --sizes 1MB --set cluster.placement=0,1,2
try collective all-reduce --machine generic-1gpu --nodes 300 --sizes 1MB --set network.topology=dragonfly --set network.groups=2
try collective all-reduce --machine generic-1gpu --nodes 4 --sizes 1MB --set network.topology=torus
# The order of ranks: what a tree makes of it; all-to-all has none.
for what in 'all-reduce --algorithm tree' all-to-all; do
  try collective $what --machine generic-1gpu --nodes 16 --sizes 100MB --set network.topology=fat-tree --set network.nodes-per-leaf=4 \
    --set cluster.placement=scattered | tail -n +4
done
# A table that was asked for by an algorithm's name shows no other one.
try collective all-reduce --machine dgx-a100 --nodes 2 --sizes 1MiB --algorithm reduction-server
# A fitted installation by its file is the same as by its name; beside a scenario in another folder too.
mkdir lab
cp "$LOCKSTEP_MODELS/system/dgx-a100-2x8-ib-ring.ini" lab/mine.ini
for system in dgx-a100-2x8-ib-ring lab/mine.ini; do
  lockstep collective all-reduce --machine dgx-a100 --nodes 2 --sizes 1MiB,1GiB --set calibration.system=$system > $(basename $system).txt
done
cmp dgx-a100-2x8-ib-ring.txt mine.ini.txt && echo same
try collective all-reduce --machine dgx-a100 --nodes 2 --sizes 1MiB --set calibration.system=none.ini
{ sed 's/^machine.*/machine = dgx-a100/' one.ini; printf '[calibration]\nsystem = mine.ini\n'; } > lab/job.ini
lockstep show lab/job.ini | grep -c dgx-a100-2x8-ib-ring
