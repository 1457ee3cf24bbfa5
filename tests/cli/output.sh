# SPDX-License-Identifier: GPL-3.0-or-later
# Files are written whole by rename; a full device or a closed pipe is an error and no crash.
try list strategies -o list.txt
lockstep list strategies | cmp - list.txt
try list strategies --output=list2.txt --format csv
lockstep list strategies --format csv | cmp - list2.txt
echo old > kept.txt
ln -s kept.txt link.txt
try list strategies -o link.txt
[ -L link.txt ] && cmp list.txt kept.txt
echo '$ lockstep list keys > /dev/full' >&2
lockstep list keys > /dev/full
echo "exit $?"
echo '$ lockstep --help > /dev/full' >&2
lockstep --help > /dev/full
echo "exit $?"
try list keys -o /dev/full
[ -c /dev/full ] || echo "/dev/full is no device any more"
try list keys -o none/list.txt
try list keys -o .
echo '$ lockstep list keys | true' >&2
mkfifo closed
(exec 3< closed; sleep 0.2) &
{ sleep 0.5; lockstep list keys; echo "exit $?" >&2; } > closed
echo '$ lockstep list keys >&-' >&2
lockstep list keys >&-
echo "exit $?"
# No temporary file is left.
ls -A | grep -v -E '\.(ini|bin|csv)$'
