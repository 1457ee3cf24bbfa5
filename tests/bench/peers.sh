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

# WORK RANKS TIER GOAL [TIER GOAL]: a row a tier
compare ()
{
  what=$1 ranks=$2
  shift 2
  : > "$work/rows"
  for round in 1 2 3; do
    "$work/peer" "$what" "$ranks" 2> "$work/log" >> "$work/rows" || { cat "$work/log" >&2; exit 1; }
    "$bench" "$what" "$ranks" "$1" | sed 1d >> "$work/rows"
    [ $# -lt 4 ] || "$bench" "$what" "$ranks" "$3" | sed 1d >> "$work/rows"
  done
  while [ $# -ge 2 ]; do
    judge "$1" "$2"
    shift 2
  done
}

# TIER GOAL: the middle of three by CPU time, of each.
judge ()
{
  sort -t , -k 3,3 -k 4,4g "$work/rows" | awk -F , -v OFS=, -v tier="$1" -v goal="$2" '
    { cpu[$3, ++n[$3]] = $4; memory[$3] = $5; time[$3] = $6 }
    END {
      apart = time[tier] / time["simgrid"] - 1
      if (apart < 0)
        apart = -apart
      ratio = cpu["simgrid", 2] / cpu[tier, 2]
      print $1, $2, tier, cpu[tier, 2], cpu["simgrid", 2], sprintf ("%.0f", ratio), goal, memory[tier], memory["simgrid"],
            time[tier], time["simgrid"], (goal == 0 ? "" : ratio >= goal ? "met" : "MISSED")
      if (!(apart <= 1e-6)) {
        print "peers.sh: " $1 " of " $2 ": predicted times are " apart " apart" > "/dev/stderr"
        exit 1
      }
    }'
}

echo work,ranks,tier,cpu_s,simgrid_cpu_s,ratio,goal,memory_bytes,simgrid_memory_bytes,predicted_s,simgrid_predicted_s,goal_met
for ranks in 8 64 256; do
  compare ring $ranks message 0
done
compare ring 1024 message 100 max-plus 5000
for ranks in 8 64; do
  compare all-to-all $ranks folded 0
done
compare all-to-all 256 folded 1000 message 20
