#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# bench.sh BUILD OUT: every benchmark of a release build, on a quiet machine: OUT/*.csv
# and OUT/cost.svg, cost against size.  SimGrid's rows too where it is installed.
set -eu
build=${1:?usage: bench.sh BUILD OUT}
out=${2:?usage: bench.sh BUILD OUT}
here=$(cd "$(dirname "$0")" && pwd)
: "${LOCKSTEP_MODELS:=$here/../../models}"
export LOCKSTEP_MODELS
mkdir -p "$out"

for name in hold maxmin collectives folded; do
  echo "bench.sh: $name" >&2
  "$build/tests/bench/bench-$name" > "$out/$name.csv"
done
echo "bench.sh: peers" >&2
"$here/peers.sh" "$build" > "$out/peers.csv" || [ $? -eq 77 ] || exit 1

# plots/xy.gp: x,y,series,kind, and what stands on it.
awk -F , -v OFS=, -v tabs="$out/cost.tsv" '
  function row(name, x, y) {
    if (!(name in number)) {
      number[name] = ++n
      names[n] = name
    }
    line[number[name], ++rows[number[name]]] = x OFS y OFS number[name] OFS "point"
  }
  FNR == 1 { file = FILENAME; sub(/.*\//, "", file); next }
  file == "collectives.csv" && ($1 == "ring" || $1 == "all-to-all") && !($1 == "ring" && $3 == "folded") {
    row($1 (index($3, "message") ? ", by messages" : ", " $3), $2, $4)
  }
  file == "peers.csv" && !done[$1, $2]++ { row($1 ", SimGrid", $2, $5) }
  file == "maxmin.csv" && ($3 == $2 || $3 == 1e6) { row("max-min, of flows", $3, $6) }
  file == "folded.csv" && $3 == "folded" { row("training step, folded", $2, $4) }
  END {
    print "x,y,series,kind"
    for (i = 1; i <= n; i++)
      for (j = 1; j <= rows[i]; j++)
        print line[i, j]
    printf "what\tplace\ttext\nx\t0\tranks, or flows\ny\t0\tCPU time, s\nlog\t0\txy\n" > tabs
    for (i = 1; i <= n; i++)
      printf "series\t%d\t%s\n", i, names[i] > tabs
  }' "$out/collectives.csv" "$out/peers.csv" "$out/maxmin.csv" "$out/folded.csv" > "$out/cost.csv"
printf 'title\nCost against size: CPU time on one core\n' > "$out/title.csv"
if command -v gnuplot > /dev/null; then
  gnuplot -c "$here/../../plots/xy.gp" "$out/cost.csv" "$out/cost.svg" "" "$out/title.csv" "$out/cost.tsv"
else
  echo "bench.sh: no gnuplot, no picture" >&2
fi
