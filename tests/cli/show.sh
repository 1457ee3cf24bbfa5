# SPDX-License-Identifier: GPL-3.0-or-later
# Every value with its origin.
try show good.ini > show.txt
tail -1 show.txt
lockstep show good.ini --format csv > show.csv
grep -E '^(scenario,question|cluster,machine|cluster,nodes|training,batch-per-gpu|strategy,kind),' show.csv
# Each group is there, and each resolved value has one of the four origins.
for group in scenario cluster network compute workload training strategy collective reduction-server parameter-server \
             input machine transport workload-table compute-model batch; do
  grep -q "^\\[$group\\]$" show.txt && grep -q "^$group," show.csv || echo "no $group"
done
awk '/^(machine|transport|node-transport|compute-model),/ && !/(measured|derived|assumed|user): /' show.csv
# No value without an origin; defaults that are numbers are assumptions, a key that is not given says so.
awk -F, '$NF == ""' show.csv
grep -E '^(compute,norm|strategy,no-sync|network,latency|workload-table,parameters|compute-model,memory),' show.csv
# The table says a long origin once, and breaks what is too long for its column; nothing is wider than 100.
grep -A 5 '^.node-transport.$' show.txt
wc -L < show.txt
try show good.ini --format csv | head -2
try show good.ini --format json | head -8
# A long text is broken in the table, so that the origins stay on the screen.
lockstep show --set "scenario.question=Would $(seq -s ' and ' 9) nodes help?" good.ini | grep -A 3 '^question'
lockstep show --set "scenario.question=Would $(seq -s ' and ' 40) nodes help?" good.ini --format csv | grep -c 'and 40 nodes help'
# Switches above the nodes, and how often the ring of the nodes goes from one to another.
lockstep show --set network.topology=fat-tree --set network.nodes-per-leaf=1 --set cluster.placement=scattered --set network.oversubscription=2 --format csv good.ini | grep '^topology'
