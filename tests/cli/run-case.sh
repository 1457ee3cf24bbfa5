#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# run-case.sh LOCKSTEP CASE.sh: runs a case in an empty folder with the fixtures
# in it and compares what it prints and its exit status with CASE.stdout,
# CASE.stderr and CASE.exit (missing: nothing, 0).  UPDATE=1 writes them anew.
# In a case: `lockstep` is the program; `try` shows the call, its output and its
# status on standard output, its messages on standard error; `wrong` is `try`
# for input that must be refused at once: within a second, without touching -o.
set -u

lockstep_program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
case_file=$2
here=$(cd "$(dirname "$case_file")" && pwd)
case_file=$here/$(basename "$case_file")
base=${case_file%.sh}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/run"
cp "$here"/fixtures/* "$work/run"
unset NO_COLOR
export LC_ALL=C.UTF-8

lockstep ()
{
  "$lockstep_program" "$@"
}

try ()
{
  echo "\$ lockstep $*"
  echo "\$ lockstep $*" >&2
  lockstep "$@"
  echo "exit $?"
}

wrong ()
{
  echo "\$ lockstep $*"
  echo "\$ lockstep $*" >&2
  echo untouched > kept.csv
  timeout "${LOCKSTEP_LIMIT:-1}" "$lockstep_program" "$@" -o kept.csv
  echo "exit $?"
  [ "$(cat kept.csv)" = untouched ] || echo "kept.csv was changed"
}

(
  cd "$work/run" || exit 99
  . "$case_file"
) > "$work/stdout" 2> "$work/stderr"
status=$?

[ $status -eq 77 ] && { cat "$work/stdout"; exit 77; }
echo $status > "$work/exit"
if [ "${UPDATE:-}" = 1 ]; then
  for what in stdout stderr exit; do cp "$work/$what" "$base.$what"; done
  [ -s "$base.stderr" ] || rm "$base.stderr"
  [ $status -ne 0 ] || rm "$base.exit"
  exit 0
fi
bad=0
for what in stdout stderr exit; do
  expected=$base.$what
  if [ ! -e "$expected" ]; then
    expected=$work/expected
    if [ $what = exit ]; then echo 0 > "$expected"; else : > "$expected"; fi
  fi
  diff -u "$expected" "$work/$what" || bad=1
done
exit $bad
