# SPDX-License-Identifier: GPL-3.0-or-later
# A wrong command line: one line and a hint, status 2.
try rnu good.ini
try frobnicate
try --frobnicate
try --versoin
try ''
try run
try run good.ini --frobnicate
try run good.ini --timelin
try run good.ini --timeline=yes
try run good.ini -x
try run good.ini -hx
try run --set
try run --set= good.ini
try run --runs 0 good.ini
try run --format
try run --format xml good.ini
try run --format=jsn good.ini
try run -o
try run -o a.csv -o b.csv good.ini
try run good.ini --trace out.json
try run --set nodes=3 good.ini
try run --set cluster.nodes good.ini
try run --set cluster=3 good.ini
try swep good.ini
try scale
try scale good.ini one.ini
try scale --nodes 1,x good.ini
try scale --nodes 0 good.ini
try scale --nodes '' good.ini
try scale --nodes 1,,2 good.ini
try scale --nodes 1..8 good.ini
try scale --nodes 1 --gpus 2 good.ini
try scale --mode medium good.ini
try scale --mode wek good.ini
try scale --plot picture.pdf good.ini
try compare good.ini
try collective
try collective all-reduce
try collective all-reduce all-gather --machine generic-1gpu
try collective all-reduce --machine generic-1gpu --sizes 0
try collective all-reduce --machine generic-1gpu --sizes 5Mb
try collective all-reduce --machine generic-1gpu --sizes 8..1GiB
try collective all-reduce --machine generic-1gpu --sizes 1,,2
try collective all-reduce --machine generic-1gpu --sizes '-8'
try collective all-reduce --machine generic-1gpu --sizes 1e30
try collective all-reduce --machine generic-1gpu --nodes two
try collective all-reduce --machine generic-1gpu --nodes 0
try collective all-reduce --machine generic-2gpu
try collective all-reduce --machine generic-1gpu --gpus-per-node 2
try collective all-reduce --machine generic-1gpu --algorithm rnig
try collective all-reduce --machine generic-1gpu --protocol ll12
try collective all-reduce --machine generic-1gpu --set workload.name=resnet50
try collective all-reduce --machine generic-1gpu --set network.latency=5
try collective all-redcue --machine generic-1gpu
try check
try show
try show good.ini one.ini
try list
try list machine
try list everything
try list machines more
try list keys netwrok
try list keys network more
try plot curve.csv
try plot curve.csv -o curve.pdf
try plot -o curve.svg
