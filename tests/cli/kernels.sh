# SPDX-License-Identifier: GPL-3.0-or-later
# calibrate and validate of kernels: what they refuse, what they say, that a fit comes back.
for k in 1 2 3 4 5 6 7 8 9; do
  echo "H100,bf16,4096,4096,$((k * 1024)),1,$((k * 51))"
done > rows
{ echo gpu,dtype,m,n,k,batch,time_us; cat rows; } > good_mine.csv
{ cat good_mine.csv; echo H100,bf16,4096,4096,4096,1,0; } > trimmed_mine.csv
{ cat good_mine.csv; echo A100,bf16,4096,4096,4096,1,603; } > mixed.csv
{ echo gpu,dtype,m,n,k,batch,time_us; sed 's/\([0-9]*\)$/0.\1/' rows; } > milliseconds.csv
{ echo gpu,dtype,m,n,k,time_us; sed 's/,1,\([0-9]*\)$/,\1/' rows; } > no-batch.csv

wrong calibrate compute mixed.csv
wrong calibrate compute milliseconds.csv
wrong calibrate compute no-batch.csv
wrong calibrate compute missing.csv
wrong validate compute missing.csv
wrong validate compute --hold-out sizes good_mine.csv
wrong validate compute --hold-out shapes --catalogue good_mine.csv
wrong validate compute --fit missing.csv good_mine.csv

echo '$ lockstep calibrate compute trimmed_mine.csv -o fit.ini' >&2
lockstep calibrate compute trimmed_mine.csv -o fit.ini | sed 's/median.*/.../'
sed -n 's/^\(\[.*\]\|gpu = .*\|memory-bandwidth = .*\|form = .*\|sources = .*\|rows = .*\)$/\1/p' fit.ini
lockstep calibrate compute trimmed_mine.csv --quiet | cmp - fit.ini

# No part of the catalogue was fitted to these rows; the trimmed one is skipped.
lockstep validate compute --catalogue trimmed_mine.csv --rows rows.csv | sed 's/ median [^|]*//; s/covers.*from/... from/'
head -1 rows.csv
cut -d, -f1-8,13,14 rows.csv | tail -2
lockstep validate compute --fit good_mine.csv --format json good_mine.csv | sed -n 's/.*\("rows": [0-9]*, "used": [0-9]*, "skipped": [0-9]*\).*by_source.*/\1/p'
