#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# docs.sh LOCKSTEP SOURCE: the man pages, the completion and README.md say what the program is and does.
# Speaks TAP; what is missing or wrong stands in the lines that start with '#', as it should stand in the page.
set -u
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
source=$(cd "$2" && pwd)
docs=$source/docs
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8 LOCKSTEP_MODELS="$source/models"
unset NO_COLOR
points=0

# point NAME FILE: holds if FILE, the complaints, is empty.
point ()
{
  points=$((points + 1))
  if [ -s "$2" ]; then
    sed 's/^/# /' "$2"
    printf 'not '
  fi
  echo "ok $points - $1"
}

skip ()
{
  points=$((points + 1))
  echo "ok $points - $1 # SKIP $2"
}

# compare WHAT PAGE PROGRAM: two sorted lists; complaints about each line that stands in one of them.
compare ()
{
  comm -13 "$2" "$3" | sed "s|^|$1 lacks: |"
  comm -23 "$2" "$3" | sed "s|^|$1 has, but the program has not: |"
}

# --- commands and options ---------------------------------------------------------------------------------------
# "run" for each command, "run --timeline" for each option.
"$program" --help | awk '/^$/ { table++ } table == 1 && /^  [a-z]/ { print $1 }' > "$work/commands"
while read -r command; do
  echo "$command"
  "$program" "$command" --help | awk -v command="$command" '
    /^  -/ { for (i = 1; $i ~ /^-/; i++) { sub (/,$/, "", $i); print command, $i } }'
done < "$work/commands" | sort > "$work/options.program"

# The same of the page; options that several commands share stand once, under "OPTIONS OF MOST COMMANDS".
awk '
  function options (of,    i) {
    for (i = 1; i < NF; i++)
      if ($i == "Fl")
        print of, "-" $(i + 1)
  }
  /^\.Sh / { command = ""; part = $0 }
  part == ".Sh COMMANDS" && /^\.Ss / { command = $2; print command }
  part == ".Sh COMMANDS" && command != "" && /^\.It Fl / { options (command) }
  part == ".Sh OPTIONS OF MOST COMMANDS" && /^\.It Fl / { options ("*") }' "$docs/lockstep.1" > "$work/options.page"
# A shared option counts for the commands that have it.
awk 'NR == FNR { if ($1 == "*") shared[$2] = 1; else print; next } $2 in shared' "$work/options.page" "$work/options.program" \
  | sort -u > "$work/options.shown"
compare 'lockstep.1' "$work/options.shown" "$work/options.program" > "$work/bad"
point 'every command and option stands in lockstep(1)' "$work/bad"

grep -ohE 'g_getenv \("[A-Z_]+"\)' "$source"/src/*/*.c | sed 's/.*"\(.*\)".*/\1/' | grep -E '^(LOCKSTEP_|NO_COLOR)' | sort -u \
  | while read -r name; do
      grep -q "^\.It Ev $name\$" "$docs/lockstep.1" || echo "lockstep.1 lacks: .It Ev $name"
    done > "$work/bad"
point 'every variable of the environment stands in lockstep(1)' "$work/bad"

# --- keys, strategies, algorithms -------------------------------------------------------------------------------
# "[group] .It Ic key Pq type , default value", as it must stand in the page.
"$program" list keys --format csv | awk -F, '
  NR > 1 {
    dot = index ($1, ".")
    group = substr ($1, 1, dot - 1)
    key = substr ($1, dot + 1)
    if (key == "*") { print "[" group "]"; next }
    print "[" group "] .It Ic " key " Pq " $2 ($3 == "" ? "" : $3 == "(required)" ? " , required" : " , default " $3)
  }' | sort > "$work/keys.program"
awk '
  /^\.S[sh] / { group = "" }
  /^\.Ss \[/ { group = $2; if (group == "[measured]" || group == "[sweep]") { print group; group = "" } }
  /^\.It Ic / && group != "" { print group, $0 }' "$docs/lockstep-scenario.5" | sort > "$work/keys.page"
compare 'lockstep-scenario.5' "$work/keys.page" "$work/keys.program" > "$work/bad"
point 'every key stands in lockstep-scenario(5) with its type and default, and no other' "$work/bad"

# names LIST PAGE SECTION: '.It Cm NAME' for each.
names ()
{
  "$program" list "$1" --format csv | awk -F, 'NR > 1 { print ".It Cm " $1 }' | sort > "$work/names.program"
  awk -v section="$3" '/^\.Sh / { on = $0 == ".Sh " section } on && /^\.It Cm / { print $1, $2, $3 }' "$docs/$2" \
    | sort > "$work/names.page"
  compare "$2, $3," "$work/names.page" "$work/names.program" > "$work/bad"
  point "every one of 'list $1' stands in $2" "$work/bad"
}
names strategies lockstep-scenario.5 STRATEGIES
names algorithms lockstep-models.7 COLLECTIVES
names transports lockstep-models.7 TRANSPORTS

# --- examples ---------------------------------------------------------------------------------------------------
# In a folder with the scenarios and a few measured tables.
cat > "$work/runs" <<'RUNS'
page=$1
while IFS= read -r line; do
  case $line in
    *' scale '* | *' plot '* | *--plot*) command -v gnuplot > /dev/null || { echo "$line" >> ../left-out; continue; } ;;
  esac
  eval "$line" > ../out 2> ../err < /dev/null
  status=$?
  [ $status -eq 0 ] || echo "$page: exit $status: $line: $(head -n 1 ../err)"
done
RUNS
lines ()
{
  case $1 in
    README.md) sed -n 's|^    tools/lockstep |lockstep |p' "$source/README.md" ;;
    *) sed -n 's/^\.Dl \$ //p' "$docs/$1" | sed 's/\\e/\\/g; s/\\&//g' ;;
  esac
}
mkdir "$work/bin"
ln -s "$program" "$work/bin/lockstep"
for page in lockstep.1 lockstep-scenario.5 lockstep-models.7 README.md; do
  rm -rf "$work/run" "$work/left-out"
  mkdir "$work/run"
  ln -s "$source/scenarios" "$work/run/scenarios"
  cp "$source"/tests/data/compute/*.csv "$work/run"
  lines "$page" > "$work/lines"
  (cd "$work/run" && PATH=$work/bin:$PATH sh "$work/runs" "$page") < "$work/lines" > "$work/bad"
  [ -s "$work/lines" ] || echo "$page: no example" >> "$work/bad"
  if [ -s "$work/left-out" ] && [ ! -s "$work/bad" ]; then
    skip "the examples of $page run" 'no gnuplot; the others do'
  else
    point "the examples of $page run" "$work/bad"
  fi
done

# --- form -------------------------------------------------------------------------------------------------------
for page in lockstep.1 lockstep-scenario.5 lockstep-models.7; do
  if command -v mandoc > /dev/null; then
    (cd "$docs" && mandoc -T lint -W warning "$page") > "$work/bad" 2>&1
    point "mandoc finds nothing in $page" "$work/bad"
  else
    skip "mandoc finds nothing in $page" 'no mandoc'
  fi
done

# --- completion -------------------------------------------------------------------------------------------------
# complete WORDS...: what bash offers for the last word.
cat > "$work/complete" <<'COMPLETE'
. "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
_lockstep
printf '%s\n' "${COMPREPLY[@]}"
COMPLETE
# offers EXPECTED WORDS...
offers ()
{
  expected=$1
  shift
  (cd "$work/run" && PATH=$work/bin:$PATH bash "$work/complete" "$docs/lockstep.bash" "$@") > "$work/offered" 2>&1
  grep -qxF -e "$expected" "$work/offered" \
    || echo "'$*' does not offer '$expected' but: $(head -n 5 "$work/offered" | tr '\n' ' ')"
}
if command -v bash > /dev/null; then
  {
    while read -r command; do offers "$command" lockstep "$command"; done < "$work/commands"
    while read -r command option; do
      [ -z "$option" ] || offers "$option" lockstep "$command" "$option"
    done < "$work/options.program"
    offers scenarios/ddp-5x8.ini lockstep run scenarios/ddp-5x8.i
    offers cluster.nodes= lockstep run --set cluster.nod
    offers nccl lockstep run --set strategy.communication = n
    offers json lockstep run --format j
    offers machines lockstep list m
    offers network lockstep list keys netw
    offers all-gather lockstep collective --set network.latency = '1 us' all-g
    offers dgx-a100 lockstep collective all-reduce --machine dgx-a1
  } > "$work/bad"
  point 'the completion offers commands, options, keys, choices and files' "$work/bad"
else
  skip 'the completion offers commands, options, keys, choices and files' 'no bash'
fi
echo "1..$points"
