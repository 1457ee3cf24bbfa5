#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Holds src/ to its floors: a folder includes only itself and what its line
# below allows (those, and what they may).  Usage: check-floors.sh [SOURCE-ROOT]
set -eu
root=${1:-$(dirname -- "$0")/..}

# folder: what it may include directly.  `study` may be used by report for the structs it prints.
floors='
base:
engine: base
compute: base
workload: base
network: engine
cluster: compute network
collective: network
strategy: workload cluster collective engine
scenario: strategy
run: scenario
study: run
import: scenario
calibrate: run import
report: run study
serve: run report import
cli: report calibrate serve
'

# One line an include: FILE LINE INCLUDED
includes() {
  find "$root/src" -name '*.[ch]' | LC_ALL=C sort | while IFS= read -r file; do
    sed -n 's/^[[:blank:]]*#[[:blank:]]*include[[:blank:]]*\(["<][^">]*\)[">].*/\1/; t hit
      b
      : hit
      =
      p' "$file" | paste - - | sed "s|^|${file#"$root"/}	|"
  done
}

includes | LC_ALL=C awk -F '\t' -v floors="$floors" '
  BEGIN {
    n = split (floors, lines, "\n")
    for (i = 1; i <= n; i++)
      {
        if (split (lines[i], parts, ":") < 2)
          continue
        folder = parts[1]
        known[folder] = 1
        may[folder, folder] = 1
        m = split (parts[2], below, " ")
        for (k = 1; k <= m; k++)
          {
            if (!(below[k] in known))
              {
                print "check-floors: " folder " names " below[k] ", which stands below it in the table"
                bad++
              }
            may[folder, below[k]] = 1
            # what they may: the lines above are complete by now
            for (other in known)
              if ((below[k], other) in may)
                may[folder, other] = 1
          }
      }
  }
  {
    split ($1, path, "/")
    from = path[2]
    what = substr ($3, 2)
    if (!(from in known))
      {
        if (!told[from]++)
          print $1 ": src/" from "/ is on no floor; give it a line in tests/check-floors.sh"
        bad += told[from] == 1
        next
      }
    if (substr ($3, 1, 1) == "<")
      {
        # fitting lives in one place: see the table of folders in the style
        if (what ~ /^gsl\// && from != "calibrate" && $1 != "src/study/diagnose.c" && $1 != "src/cli/main.c")
          {
            print $1 ":" $2 ": includes <" what ">; GSL lives in src/calibrate/ and src/study/diagnose.c"
            bad++
          }
        next
      }
    split (what, target, "/")
    checked++
    if (index (what, "/") == 0)
      {
        print $1 ":" $2 ": includes \"" what "\"; write \"" from "/" what "\", always from src/"
        bad++
      }
    else if (!((from, target[1]) in may))
      {
        print $1 ":" $2 ": includes \"" what "\", which is upward: src/" from "/ may not know src/" target[1] "/"
        bad++
      }
  }
  END {
    if (!bad && !checked)
      {
        print "check-floors: no includes found under src/"
        bad++
      }
    exit bad > 0
  }
'
