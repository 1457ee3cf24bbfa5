# SPDX-License-Identifier: GPL-3.0-or-later
# A picture of any two columns: numbers, quantities or names along it.
command -v gnuplot > /dev/null || { echo "no gnuplot"; exit 77; }
lockstep sweep sweep.ini --quiet --format csv -o sweep.csv
try plot sweep.csv -x gpus -y throughput_samples_per_s -o lines.svg
try plot sweep.csv -x training.batch-per-gpu -y step_time_s --by cluster.nodes --log xy -o log.svg
try plot sweep.csv -x strategy.bucket-size -y mfu -o quantity.png
try plot sweep.csv -x fits -y step_time_s --by cluster.nodes -o names.svg
# The axes and the lines are what they should be.
grep -o -E 'throughput, samples/s|step time, ms|sweep: step time over batch-per-gpu|nodes 7, median' *.svg | sort -u
ls -A | grep -E '(svg|png)'
rm -f *.svg *.png
echo old > kept.svg
try plot sweep.csv -x gpu -y mfu -o kept.svg
try plot sweep.csv -x gpus -y efficiency_baseline -o kept.svg
try plot sweep.csv -x gpus -y step_time_lo_s -o kept.svg
try plot sweep.csv -x gpus -y bubble_s --log y -o kept.svg
try plot sweep.csv -x fits -y mfu --log x -o kept.svg
try plot sweep.csv -x gpus -y mfu --by step_time_s -o kept.svg
try plot sweep.csv -x gpus -o kept.svg
try plot sweep.csv --by gpus -o kept.svg
try plot sweep.csv -x gpus -y mfu --log z -o kept.svg
try plot sweep.csv -x gpus -y mfu
cat kept.svg
