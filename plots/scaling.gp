# SPDX-License-Identifier: GPL-3.0-or-later
# gnuplot -c plots/scaling.gp IN.csv OUT.svg|OUT.png [MEASURED.csv] [TITLE.csv]
# IN.csv: of `lockstep scale` or `sweep`.  Throughput with the ideal line, below it the efficiency; a line per curve.
HEIGHT = 780
IN = ARG1; OUT = ARG2; POINTS = ARG3; NAMES = ARG4
load ARG0[1:strlen(ARG0)-strlen("scaling.gp")] . "common.gp"

# A curve for each set of values in the swept columns, whose rows may lie apart.
MAX_CURVES = 16
array LABEL[MAX_CURVES]
array FIRST[MAX_CURVES]
do for [i=1:MAX_CURVES] { LABEL[i] = "\n"; FIRST[i] = 0.0 }
N = 0
MIN = 1e300
MAX = 0.0
TOP = 0.0
TICS = " "
LONGEST = 22
longer(s) = LONGEST = strlen(s) > LONGEST ? strlen(s) : LONGEST
known(s, i) = i > N ? 0 : s eq LABEL[i] ? i : known(s, i + 1)
start(s) = known(s, 1) || N >= MAX_CURVES ? 0 : \
           (N = N + 1, LABEL[N] = s, FIRST[N] = column("throughput_per_gpu_samples_per_s"), longer(s), N)
tic(s) = strstrt(TICS, " " . s . " ") ? 0 : (TICS = TICS . s . " ", 1)
least(x) = MIN = x < MIN ? x : MIN
most(x) = MAX = x > MAX ? x : MAX
top(x) = TOP = x > TOP ? x : TOP
note(x) = (N_SWEPT = swept(1), start(label(1)), tic(strcol("gpus")), least(column("gpus")), most(column("gpus")), \
           top(column("throughput_samples_per_s")), 1)
stats IN using (note(0)) nooutput
if (N == 0) { printerr "no rows to draw"; exit status 1 }
of(i, y) = label(1) eq LABEL[i] ? y : NaN

MEASURED = strlen(POINTS) > 0
if (!MEASURED) { POINTS = IN }
title_of(i) = N == 1 ? "predicted" : LABEL[i]
ideal_title(i) = i > 1 ? "" : N == 1 ? "ideal: as the first point" : "ideal"
set multiplot

COLS = cols(LONGEST)
ROOM = top_margin(N + 1 + MEASURED, LONGEST)
set key maxcols COLS
set tmargin at screen ROOM
set bmargin at screen 0.43
set label 2 "samples/s" at screen 0.022, (ROOM + 0.43) / 2 rotate center
set format x ""
# a tick at each scale as long as they do not crowd
N_TICS = words(TICS)
if (N_TICS <= 12) {
  set xtics ()
  do for [i=1:N_TICS] { X = word(TICS, i) + 0; set xtics add ("" X) }
}
if (MAX > 16 * MIN) {
  set logscale xy
  set xrange [MIN / 1.15 : MAX * 1.15]
  set yrange [* : *]
  set format y "%.0s%c"
} else {
  SPAN = MAX > MIN ? MAX - MIN : MAX
  LEFT = MAX > MIN ? MIN - 0.04 * SPAN : 0
  RIGHT = MAX + 0.04 * SPAN
  ROOF = TOP
  do for [i=1:N] { ROOF = FIRST[i] * MAX > ROOF ? FIRST[i] * MAX : ROOF }
  set xrange [LEFT : RIGHT]
  set yrange [0 : ROOF * 1.05]
}
set samples 200
bound(s) = column(s) > 0 ? column("step_time_s") / column(s) * column("throughput_samples_per_s") : NaN
plot for [i=1:N] [x=MIN:MAX] FIRST[i] * x with lines dt (10, 8) lw 1.5 lc rgb (N == 1 ? "#777777" : colour(i)) title ideal_title(i), \
     for [i=1:N] IN using (column("step_time_lo_s") > 0 ? of(i, column("gpus")) : NaN):(column("throughput_samples_per_s")):(bound("step_time_hi_s")):(bound("step_time_lo_s")) \
       with yerrorbars pt 0 lw 1.5 lc rgb colour(i) notitle, \
     for [i=1:N] IN using (of(i, column("gpus"))):(column("throughput_samples_per_s")) \
       with linespoints lw 2.5 pt point(i) ps 1.0 lc rgb colour(i) title title_of(i), \
     POINTS using (MEASURED ? column("gpus") : NaN):(column("throughput_samples_per_s")) \
       with points pt 2 ps 1.5 lw 2.5 lc rgb "#000000" title (MEASURED ? "measured" : "")

unset label 1
unset logscale y
set format y "%g"
set tmargin at screen 0.39
set bmargin at screen 0.105
set xlabel "GPUs"
if (N_TICS <= 12) {
  do for [i=1:N_TICS] { X = word(TICS, i) + 0; set xtics add (sprintf("%g", X) X) }
} else {
  set format x "%g"
}
set label 2 "efficiency, %" at screen 0.022, 0.2475 rotate center
set yrange [0 : 105]
set ytics 25
unset key
plot 100 with lines dt (10, 8) lw 1.5 lc rgb "#777777" notitle, \
     for [i=1:N] IN using (of(i, column("gpus"))):(100 * column("scaling_efficiency")) \
       with linespoints lw 2.5 pt point(i) ps 1.0 lc rgb colour(i) notitle
unset multiplot
unset output
