# SPDX-License-Identifier: GPL-3.0-or-later
# Odd scenarios: an error at the line that is at fault, or an answer with a warning; never a wrong number.
with_sweep ()
{
  cp good.ini swept.ini
  printf '[sweep]\n%s\n' "$1" >> swept.ini
}

# A value of [sweep] that its key does not take.
with_sweep 'network.latency = 1 us, 2'
wrong scale swept.ini
with_sweep 'collective.algorithm = ring, rnig'
wrong scale swept.ini
with_sweep 'cluster.nodes = 1, 1.5'
wrong scale swept.ini
with_sweep 'cluster.nodes = 0, 1'
wrong scale swept.ini
with_sweep 'cluster.gpus-per-node = 1, 2 GPUs'
wrong scale swept.ini
# A step of more than 106 days: no ticks are left.
try run good.ini --set 'input.rate=1e-9 samples/s'
try run good.ini --set cluster.nodes=10000000 --set 'network.latency=10 s' --set collective.algorithm=ring
try run good.ini --set 'network.nic-bandwidth=1 bit/s'
# Servers on the workers: the GPU alone, which the efficiency is measured against, needs none.
try run good.ini --format csv --set collective.algorithm=parameter-server --set parameter-server.colocated=true \
  --set parameter-server.count=2 > run.csv
tail -1 run.csv
try scale good.ini --nodes 2 --format csv --quiet --set collective.algorithm=parameter-server --set parameter-server.colocated=true \
  --set parameter-server.count=2 > scale.csv
tail -1 scale.csv
# Servers that nothing uses: a warning, and not that they are too few.
try run good.ini --format csv --set reduction-server.count=1 --set parameter-server.count=1 > run.csv
tail -1 run.csv
# A word of FSDP 2 is checked under FSDP 1 too; a table that is none leaves no part.
try run good.ini --set strategy.kind=fsdp --set strategy.reshard-after-forward=maybe
printf 'a,b\n1,2\n' > none.csv
try calibrate step none.csv -o none.ini
[ ! -e none.ini ] || echo 'none.ini was written'
