# SPDX-License-Identifier: GPL-3.0-or-later
# Every strategy has a scenario to start from: it opens with its question, is right and runs.
for kind in $(lockstep list strategies --format csv | sed '1d; s/,.*//') reduction-server mwms dp ps; do
  lockstep new $kind --quiet -o $kind.ini || echo "no scenario for $kind"
  head -1 $kind.ini | grep -q '^# .*?$' || echo "$kind: no question"
  lockstep check $kind.ini --quiet
  lockstep run $kind.ini --quiet > $kind.txt || echo "$kind does not run"
  grep -q '[Dd]oes not fit' $kind.txt && echo "$kind does not fit"
  lockstep sweep $kind.ini --quiet --format csv | wc -l | grep -q '^[3-9]$\|^[1-9][0-9]$' || echo "$kind does not sweep"
  grep -n '.\{120\}' $kind.ini
done
cmp multi-worker-mirrored.ini mwms.ini
try new ddp
try new mwms -o mine.ini
try new mwms -o mine.ini
try new single -o mine.ini --force --quiet
grep kind mine.ini
wrong new ddp
try new dpd
try new
