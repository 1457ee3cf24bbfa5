# SPDX-License-Identifier: GPL-3.0-or-later
# The forms of `scale` and its picture, with and without gnuplot.
echo '$ without gnuplot' >&2
PATH=/none lockstep scale good.ini > table.txt
echo "exit $?"
PATH=/none lockstep scale good.ini --plot curve.svg > table.txt
echo "exit $?"
PATH=/none lockstep scale good.ini --quiet > table.txt
echo "exit $?"
PATH=/none lockstep scale good.ini --format csv --quiet | head -1
PATH=/none lockstep scale good.ini --format csv --quiet | wc -l
PATH=/none lockstep scale good.ini --format csv --quiet --nodes '1..8 x2' | cut -d, -f 1,2,3
PATH=/none lockstep scale strong.ini --format csv --quiet --gpus 1,2,4,8 | cut -d, -f 1,2,3
PATH=/none lockstep scale good.ini --format csv --quiet --nodes 1,2 --mode strong | cut -d, -f 1,2,3
PATH=/none lockstep scale good.ini --format json --quiet | python3 -c 'import json, sys; print (len (json.load (sys.stdin)["points"]))'
# servers on the workers: as many as there are nodes, and the table says so
PATH=/none lockstep scale good.ini --quiet --nodes 1,2 --set strategy.kind=parameter-server --set parameter-server.count=2 --set parameter-server.colocated=true --format csv | cut -d, -f 1,2
PATH=/none lockstep scale good.ini --quiet --nodes 1,2 --set strategy.kind=parameter-server --set parameter-server.count=2 --set parameter-server.colocated=true | grep -A 1 Warning
try scale strong.ini --quiet --gpus 3
try scale strong.ini --quiet --gpus 6
try scale strong.ini --quiet --set training.global-batch=257
ls -A | grep -E '(svg|png)' || echo "no picture"
