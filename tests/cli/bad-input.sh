# SPDX-License-Identifier: GPL-3.0-or-later
# Wrong input: one clear line, status 2, within a second, the file of -o untouched.
truncate -s 1G line.ini
mkdir folder.ini
printf '[cluster]\nmachine = \001\n' > control.ini
printf '[cluster]\nmachine = \377\376\n' > bytes.ini
head -c 8192 /dev/zero | tr '\0' x > long-line.ini
printf '\n' > blank.ini
printf '# Only a comment.\n' > comment.ini
printf 'machine = x\n' > no-group.ini
printf '[cluster\n' > open-group.ini
printf '[cluster]\nmachine\n' > no-equals.ini
mkfifo pipe.ini

for file in missing unknown-key unknown-group twice group-twice no-unit negative negative-nodes absurd unknown-gpu \
            unknown-machine too-many-gpus reducers-with-gpus missing-column empty blank comment no-group open-group \
            no-equals folder control bytes long-line line pipe inline-comment unknown-strategy unknown-algorithm; do
  wrong run $file.ini
done
wrong run zero.bin
wrong run good.ini twice.ini
wrong scale absurd.ini
wrong compare good.ini unknown-key.ini
wrong show unknown-gpu.ini
wrong scale good.ini --nodes 1000000000000
wrong collective all-reduce --machine generic-1gpu --nodes 1000000000000
echo '$ lockstep run - < /dev/null' >&2
lockstep run - < /dev/null
echo "exit $?"
echo '$ lockstep run - < /dev/zero' >&2
timeout 2 "$lockstep_program" run - < /dev/zero
echo "exit $?"
