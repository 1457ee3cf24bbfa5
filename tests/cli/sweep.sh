# SPDX-License-Identifier: GPL-3.0-or-later
# Every point of [sweep]: rows in key order, whole files or none.
try sweep good.ini --set sweep.cluster.nodes=1,2 --set 'sweep.network.nic-bandwidth=25..50 Gbit/s x2' --format csv --quiet | cut -d, -f1-5
lockstep sweep sweep.ini --quiet --jobs 1 --format csv > one.csv
lockstep sweep sweep.ini --quiet --jobs 4 --format csv -o four.csv
cmp one.csv four.csv && wc -l < one.csv
lockstep sweep sweep.ini --quiet --format json | tail -2
lockstep sweep sweep.ini --quiet | head -3 | cut -c1-59
# The last remark says how fast it went; no progress where there is no terminal.
lockstep sweep sweep.ini --format csv 2>&1 >/dev/null | sed 's/[0-9.][0-9.]*/N/g; s/threads/thread/'
# A bad point: named, and the file that is there stays.
wrong sweep sweep.ini --quiet --set sweep.cluster.nodes=1,99999999 --format csv
wrong sweep good.ini
wrong sweep sweep.ini --jobs 0
wrong sweep sweep.ini --jobs two
try sweep sweep.ini --shard 1/2
# Samples of different networks are not compared; the head says what all points share.
lockstep sweep good.ini --quiet --set sweep.workload.name=resnet50,alexnet | sed '2,6d'
