# SPDX-License-Identifier: GPL-3.0-or-later
# Pictures, where there is gnuplot.
command -v gnuplot > /dev/null || { echo "no gnuplot"; exit 77; }
try scale good.ini > table.txt
tail -2 table.txt
head -c 5 good-scaling.svg
echo
try scale good.ini --format csv > curve.csv
try scale good.ini --plot curve.png > table.txt
tail -2 table.txt
file_start=$(head -c 4 curve.png | od -An -c | tr -d ' ')
echo "$file_start"
try scale good.ini -o table.txt
sed -i '/^[$e]/d' curve.csv
try plot curve.csv -o curve.svg
head -c 5 curve.svg
echo
echo old > kept.svg
try plot good.ini -o kept.svg
try plot none.csv -o kept.svg
try plot . -o kept.svg
cat kept.svg
try scale good.ini --plot none/curve.svg > table.txt
tail -1 table.txt
try scale --plot . good.ini
ls -A | grep -E '(svg|png)'
# Swept sizes are points of a curve, not curves; at one size a bar a point says where the step goes.
lockstep sweep good.ini --quiet --format csv --set sweep.network.nic-bandwidth='25 Gbit/s, 50 Gbit/s' --set sweep.cluster.nodes=1,2 -o sizes.csv
lockstep plot sizes.csv -o sizes.svg
grep -o 'nic-bandwidth [^<]*\|nodes [^<]*\|efficiency, %' sizes.svg
lockstep sweep good.ini --quiet --format csv --set sweep.network.nic-bandwidth='25 Gbit/s, 50 Gbit/s' -o one-size.csv
lockstep plot one-size.csv -o bars.svg
grep -o 'nic-bandwidth [^<]*\|step time, ms' bars.svg
# A scaled axis has scaled ticks: GiB, not bytes.
lockstep sweep good.ini --quiet --format csv --set sweep.training.batch-per-gpu=8,64 -o memory.csv
lockstep plot memory.csv -x memory_per_gpu_bytes -y step_time_s -o memory.svg
grep -o 'memory per GPU, GiB\|[0-9.]*e+[0-9]*' memory.svg
