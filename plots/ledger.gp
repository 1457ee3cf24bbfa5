# SPDX-License-Identifier: GPL-3.0-or-later
# gnuplot -c plots/ledger.gp IN.csv OUT.svg|OUT.png "" [TITLE.csv]
# IN.csv: of `lockstep run`, `compare`, `scale` or `sweep`.  Where the step goes: a bar a row, ms stacked by cause.
IN = ARG1; OUT = ARG2; POINTS = ARG3; NAMES = ARG4
# room for the names of many bars
set datafile separator comma
stats IN using 0 skip 1 nooutput
HEIGHT = 560 + (STATS_records > 16 ? 18 * (STATS_records - 16) : 0)
load ARG0[1:strlen(ARG0)-strlen("ledger.gp")] . "common.gp"

CAUSES = "compute optimizer host exposed_comm bubble wait input other"
array NAME[8] = ["compute", "optimizer", "host", "exposed communication", "pipeline bubble", "wait for other ranks", "input", "other"]
array FILL[8] = ["#0072B2", "#56B4E9", "#E69F00", "#D55E00", "#CC79A7", "#8C6D1F", "#009E73", "#999999"]
array SUM[8] = [0, 0, 0, 0, 0, 0, 0, 0]
cause(k) = column(word(CAUSES, k) . "_s")
below(k) = k == 0 ? 0 : below(k - 1) + cause(k)

# The name under each bar: the scenario, else the swept values and, where they differ, the GPUs.
MAX_ROWS = 64
array BAR[MAX_ROWS]
N = 0
TOP = 0.0
LONGEST = 0
longer(s) = LONGEST = strlen(s) > LONGEST ? strlen(s) : LONGEST
stats IN using "gpus" name "GPUS" nooutput
gpus(x) = GPUS_min < GPUS_max || !strlen(label(1)) ? strcol("gpus") . (strcol("gpus") eq "1" ? " GPU" : " GPUs") : ""
name(x) = columnhead(1) eq "scenario" ? strcol(1) : join(label(1), gpus(0))
add(k) = k > 8 ? 0 : (SUM[k] = SUM[k] + cause(k), add(k + 1))
keep(s) = N < MAX_ROWS ? (N = N + 1, BAR[N] = s, longer(s)) : 0
top(x) = TOP = x > TOP ? x : TOP
note(x) = (N_SWEPT = swept(1), keep(name(0)), add(1), top(below(8)), 1)
stats IN using (note(0)) nooutput
if (N == 0) { printerr "no rows to draw"; exit status 1 }
USED = 0
do for [k=1:8] { USED = USED + (SUM[k] > 0 ? 1 : 0) }

# names that would run into each other stand in a column, the bars lie; gnuplot's legend is no wider than the bars
LYING = LONGEST * 9 > 780.0 / N
MOST = 60
LEFT = LYING ? 0.04 + (LONGEST > MOST ? MOST : LONGEST) * (PNG ? 8.0 : 8.6) / WIDTH : 0.125
LETTERS = LYING ? ceil(21 * 0.84 / (0.965 - LEFT)) : 21
COLS = cols(LETTERS)
ROOM = top_margin(USED, LETTERS)
set key maxcols COLS
set tmargin at screen ROOM
set style fill solid 1.0 noborder
FLOOR = 0.14 * 560 / HEIGHT
set bmargin at screen FLOOR
# so few digits that they stand side by side
UNIT = TOP < 10 ? "ms" : "s"
scaled(k) = (TOP < 10 ? 1e3 : 1) * below(k)
row(x) = $0 < MAX_ROWS ? $0 + 1 : NaN
HALF = N < 4 ? 0.2 : 0.35
if (LYING) {
  set lmargin at screen LEFT
  set xlabel "step time, " . UNIT
  set xrange [0 : *]
  set yrange [N + 0.6 : 0.4]
  set ytics ()
  set grid noytics
  do for [i=1:N] { set ytics add (strlen(BAR[i]) > MOST ? BAR[i][1:MOST-3] . "..." : BAR[i] i) }
  plot for [k=1:8] IN using (scaled(k)):(row(0)):(scaled(k - 1)):(scaled(k)):(row(0) - HALF):(row(0) + HALF) \
         with boxxyerror lc rgb FILL[k] title (SUM[k] > 0 ? NAME[k] : "")
} else {
  set label 2 "step time, " . UNIT at screen 0.022, (ROOM + FLOOR) / 2 rotate center
  set xrange [0.4 : N + 0.6]
  set yrange [0 : *]
  set xtics ()
  set grid noxtics
  do for [i=1:N] { set xtics add (BAR[i] i) }
  plot for [k=1:8] IN using (row(0)):(scaled(k)):(row(0) - HALF):(row(0) + HALF):(scaled(k - 1)):(scaled(k)) \
         with boxxyerror lc rgb FILL[k] title (SUM[k] > 0 ? NAME[k] : "")
}
unset output
