# SPDX-License-Identifier: GPL-3.0-or-later
# The command line beats the file; a wrong value of it is named --set.
try show --format csv --set cluster.nodes=3 --set 'network.latency=12 us' good.ini | grep -E '^(cluster,nodes|network,latency|exit)'
try show --format csv --set training.global-batch=512 good.ini | grep -E '^(training,(batch-per-gpu|global-batch),|exit)'
wrong run --set cluster.nodes=1000000000000 good.ini
wrong run --set cluster.nodes=two good.ini
wrong run --set cluster.nodse=2 good.ini
wrong run --set clutser.nodes=2 good.ini
wrong run --set network.latency=12 good.ini
wrong run --set cluster.gpus-per-node=5 good.ini
wrong run --set training.batch-per-gpu=3 --set training.global-batch=512 good.ini
wrong run --set training.global-batch=513 good.ini
wrong run --set strategy.kind=dpd good.ini
wrong run --set cluster.machine=n1-standard-32-4xt5 good.ini
wrong run --set 'workload.file=none.csv' good.ini
