#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# peers.sh BUILD: the same collectives in SimGrid S4U (Debian: libsimgrid-dev) and here,
# taking turns, medians of CPU time.  CSV on stdout; the times predicted must agree to
# 1e-6, else exit 1.  BUILD is a release build that has tests/bench/bench-collectives.
set -eu
build=${1:?usage: peers.sh BUILD}
source=$(dirname "$0")
bench=$build/tests/bench/bench-collectives
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

skip ()
{
  echo "peers.sh: skipped: $1" >&2
  exit 77
}

command -v "${CXX:-c++}" > /dev/null || skip "no C++ compiler (Debian: g++)"
[ -x "$bench" ] || skip "$bench is not built"
echo '#include <simgrid/s4u.hpp>' > "$work/probe.cpp"
"${CXX:-c++}" -std=c++17 -fsyntax-only "$work/probe.cpp" 2> /dev/null ||
  skip "no SimGrid headers (Debian: libsimgrid-dev, 3.32 or later)"
"${CXX:-c++}" -std=c++17 -O2 -o "$work/peer" "$source/peer-simgrid.cpp" -lsimgrid

# WORK RANKS TIER
compare ()
{
  : > "$work/rows"
  for round in 1 2 3; do
    "$work/peer" "$1" "$2" 2> "$work/log" >> "$work/rows" || { cat "$work/log" >&2; exit 1; }
    "$bench" "$1" "$2" "$3" | sed 1d >> "$work/rows"
  done
  # The middle of three by CPU time, of each.
  sort -t , -k 3,3 -k 4,4g "$work/rows" | awk -F , -v OFS=, -v goal="$4" '
    { cpu[$3, ++n[$3]] = $4; memory[$3] = $5; time[$3] = $6; work = $1; ranks = $2; if ($3 != "simgrid") tier = $3 }
    END {
      apart = time[tier] / time["simgrid"] - 1
      if (apart < 0)
        apart = -apart
      ratio = cpu["simgrid", 2] / cpu[tier, 2]
      print work, ranks, tier, cpu[tier, 2], cpu["simgrid", 2], sprintf ("%.0f", ratio), goal, memory[tier], memory["simgrid"],
            time[tier], time["simgrid"], (goal == 0 ? "" : ratio >= goal ? "met" : "MISSED")
      if (!(apart <= 1e-6)) {
        print "peers.sh: " work " of " ranks ": predicted times are " apart " apart" > "/dev/stderr"
        exit 1
      }
    }'
}

echo work,ranks,tier,cpu_s,simgrid_cpu_s,ratio,goal,memory_bytes,simgrid_memory_bytes,predicted_s,simgrid_predicted_s,goal_met
for ranks in 8 64 256; do
  compare ring $ranks message 0
done
compare ring 1024 message 100
compare ring 1024 max-plus 5000
for ranks in 8 64; do
  compare all-to-all $ranks folded 0
done
compare all-to-all 256 folded 1000
compare all-to-all 256 message 20
