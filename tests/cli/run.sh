# SPDX-License-Identifier: GPL-3.0-or-later
# The forms of `run`; its numbers are tested elsewhere.
try run good.ini > table.txt
tail -1 table.txt
[ "$(wc -l < table.txt)" -gt 10 ] || echo "a short table"
try run good.ini one.ini --format csv > table.csv
tail -1 table.csv
sed -n 2p table.csv
grep -c '^[^$e]' table.csv
lockstep run good.ini --format json | python3 -c 'import json, sys; r = json.load (sys.stdin); print (r["schema"], r["command"])'
lockstep run good.ini --timeline | wc -l | awk '{ print ($1 > 10) }'
# Folded or not: the same bits.
lockstep run good.ini --format csv > folded.csv
lockstep run good.ini --format csv --unfold | cmp - folded.csv
# Message by message: the tier and why; words that are none; more than are played.
lockstep run good.ini --tier message --verbose --quiet | grep -o '^message tier, as asked: at most'
lockstep run good.ini --verbose --quiet | grep -A 1 ' tier, '
lockstep run good.ini --tier message --format json --quiet | python3 -c '
import json, sys
r = json.load (sys.stdin)["result"]
print (r["engine"]["tier"], r["engine"]["messages"] > 0, r["step_time_s"]["lo"])'
try run good.ini --tier massage
try run good.ini --tier message --set strategy.kind=megatron --set workload.name=gpt2_medium --set strategy.tensor-parallel=4 --set training.global-batch=65536
# The same scenario from standard input.
lockstep run - --format csv < good.ini | sed 1d | cut -d, -f 2- > stdin.csv
sed 1d folded.csv | cut -d, -f 2- | cmp - stdin.csv
# No colour where it is not a terminal, whatever the environment says.
lockstep run good.ini | grep -c "$(printf '\033')"
# 16 GB do not hold a batch of 5000 images.
try run --require-fit --quiet --set training.batch-per-gpu=5000 good.ini 2>&1 > big.txt | sed 's/[0-9.]* [kMGT]*i*B/SIZE/g'
tail -1 big.txt
lockstep run --quiet --set training.batch-per-gpu=5000 good.ini > big.txt
echo "exit $?"
# Drawn steps: the same seed, the same bytes; another one, others.  50 % of single steps lie below 95 %.
noisy="--quiet --runs 20 --format csv --set noise.step-cv=0.1"
lockstep run $noisy good.ini > once.csv
lockstep run $noisy good.ini | cmp - once.csv
lockstep run $noisy --seed 1 good.ini | cmp -s - once.csv || echo "other draws"
sed 1d once.csv | awk -F, '{ print ($8 < $9 && $9 <= $10 ? "ordered" : "out of order") }'
# Storage limits the step: reading fills it from end to end, is all that can be shortened, and nothing else gains.
lockstep run --timeline "$LOCKSTEP_SOURCE/scenarios/storage-resnet50.ini" > storage.txt
grep '^input' storage.txt | sed 's/^input *//; s/I//g' | od -An -c
grep -E 'ideal (GPU|input)|Critical path' storage.txt | sed 's/ [0-9.]* *26.6 %.*/ more/'
