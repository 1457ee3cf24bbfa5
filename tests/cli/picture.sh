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
