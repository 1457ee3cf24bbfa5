#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# same-bytes.sh SOURCE PROGRAM OTHER...: TAP.  Each command of a fixed list, and `run` and `scale` of each shipped
# scenario, must print the same bytes in every build, to standard output and to standard error.
set -u
source=$1
first=$2
shift 2
others=$*
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
n=0

# outputs FOLDER PROGRAM ARGUMENTS: what it prints and writes there, and how it ends, to FOLDER.out.
outputs ()
{
  folder=$1
  shift
  mkdir -p "$folder"
  (
    cd "$folder" || exit 1
    "$@" 2>&1 < /dev/null
    status=$?
    if [ -e rows.csv ]; then
      cat rows.csv
      rm rows.csv
    fi
    echo "exit $status"
  ) > "$folder.out"
}

# same ARGUMENTS: @NAME stands for a shipped scenario.
same ()
{
  n=$((n + 1))
  label="lockstep $*"
  for argument; do
    shift
    case $argument in
      @*) set -- "$@" "$source/scenarios/${argument#@}.ini" ;;
      *) set -- "$@" "$argument" ;;
    esac
  done
  k=0
  for other in $others; do
    k=$((k + 1))
    outputs $k "$other" "$@" &
  done
  outputs first "$first" "$@"
  wait
  if [ "$(tail -n 1 first.out)" != 'exit 0' ]; then
    tail -n 5 first.out | sed 's/^/# /'
    echo "not ok $n - $label"
    return
  fi
  k=0
  for other in $others; do
    k=$((k + 1))
    cmp -s first.out $k.out && continue
    echo "# other bytes in $other:"
    diff first.out $k.out | head -n 5 | sed 's/^/# /'
    echo "not ok $n - $label"
    return
  done
  echo "ok $n - $label"
}

same run --verbose @ddp-5x8
same run --tier message --format json @ddp-5x8
same run --runs 50 --seed 7 --format csv @noise-1024 @stragglers-ddp
same run --unfold --runs 5 --format csv --set noise.kernel-cv=2% @fat-tree-scattered
same sweep --intervals --jobs 2 --format csv --quiet @ddp-5x8-reduction-server
same compare @ddp-5x8 @ddp-5x8-reduction-server
same show --format json @gpt3-175b-mlperf
for tier in flow message max-plus; do
  same collective all-reduce --machine n1-highmem-96-8xv100 --nodes 3 --sizes '8,1KiB..64MiB x8' --algorithm ring --tier $tier --format csv
done
same collective all-reduce --machine dgx-a100 --nodes 5 --sizes '8..64MiB x64' --algorithm tree --tier message --chunks 7
same collective all-reduce --machine dgx-a100 --nodes 3 --sizes 1MiB --steps
same collective all-to-all --machine dgx-h100 --nodes 4 --sizes 1MiB,100MB --format json
same validate training --format csv "$source/calibration/training/dlperf_v100.csv"
same validate training --anchor none --rows rows.csv "$source/calibration/training-llm/megatron_sp_2022.csv"
for scenario in "$source"/scenarios/*.ini; do
  name=$(basename "$scenario" .ini)
  same run --format json "@$name"
  same scale --format csv "@$name"
done
echo "1..$n"
