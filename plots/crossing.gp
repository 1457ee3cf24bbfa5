# SPDX-License-Identifier: GPL-3.0-or-later
# gnuplot -c plots/crossing.gp IN.csv OUT.svg|OUT.png "" [TITLE.csv]
# IN.csv: of `lockstep scale` with one numeric swept key.  Speed-up of each scale over the first one, over that key:
# where a line crosses 1, more GPUs begin to help.  Below it the efficiency.
HEIGHT = 780
IN = ARG1; OUT = ARG2; POINTS = ARG3; NAMES = ARG4
load ARG0[1:strlen(ARG0)-strlen("crossing.gp")] . "common.gp"

# The scales (GPUs), and the throughput of the first scale at each value (the first row of a value is its base).
MAX_SCALES = 8
array SCALE[MAX_SCALES]
do for [i=1:MAX_SCALES] { SCALE[i] = 0 }
N = 0
KEY = ""
VALUES = " "
MIN = 1e300
MAX = 0.0
TOP = 1.0
BASE = 0.0
LAST = "\n"
known(g, i) = i > N ? 0 : g == SCALE[i] ? i : known(g, i + 1)
keep(g) = known(g, 1) || N >= MAX_SCALES ? 0 : (N = N + 1, SCALE[N] = g)
base(s, y) = s eq LAST ? BASE : (LAST = s, BASE = y)
gain(x) = column("throughput_samples_per_s") / base(strcol(1), column("throughput_samples_per_s"))
tic(s) = strstrt(VALUES, " " . s . " ") ? 0 : (VALUES = VALUES . s . " ", 1)
least(x) = MIN = x < MIN ? x : MIN
most(x) = MAX = x > MAX ? x : MAX
top(x) = TOP = x > TOP ? x : TOP
note(x) = (KEY = columnhead(1), keep(column("gpus")), tic(strcol(1)), least(column(1)), most(column(1)), top(gain(0)), 1)
stats IN using (note(0)) nooutput
if (N == 0) { printerr "no rows to draw"; exit status 1 }
of(i, y) = column("gpus") == SCALE[i] ? y : NaN
set multiplot

COLS = cols(12)
ROOM = top_margin(N, 12)
set key maxcols COLS
set tmargin at screen ROOM
set bmargin at screen 0.43
set label 2 sprintf("speed-up over %g GPU%s", SCALE[1], SCALE[1] == 1 ? "" : "s") at screen 0.022, (ROOM + 0.43) / 2 rotate center
set format x ""
N_TICS = words(VALUES)
if (N_TICS <= 12) {
  set xtics ()
  do for [i=1:N_TICS] { X = word(VALUES, i) + 0; set xtics add ("" X) }
}
if (MAX > 16 * MIN) {
  set logscale x
  set xrange [MIN / 1.15 : MAX * 1.15]
} else {
  set xrange [MIN - 0.04 * (MAX - MIN) : MAX + 0.04 * (MAX - MIN)]
}
set yrange [0 : TOP * 1.1]
# every row passes `gain`, so that the base is always that of its own value
plot 1 with lines lw 2 lc rgb "#444444" notitle, \
     for [i=1:N] IN using (column(1)):(G = gain(0), of(i, G)) with linespoints lw 2.5 pt point(i) ps 1.0 lc rgb colour(i) \
       title sprintf("%g GPU%s", SCALE[i], SCALE[i] == 1 ? "" : "s")

unset label 1
set tmargin at screen 0.39
set bmargin at screen 0.105
set xlabel short(KEY) noenhanced
if (N_TICS <= 12) {
  do for [i=1:N_TICS] { X = word(VALUES, i) + 0; set xtics add (sprintf("%g", X) X) }
} else {
  set format x "%g"
}
set label 2 "efficiency, %" at screen 0.022, 0.2475 rotate center
set yrange [0 : 105]
set ytics 25
unset key
plot 100 with lines dt (10, 8) lw 1.5 lc rgb "#777777" notitle, \
     for [i=1:N] IN using (column(1)):(of(i, 100 * column("scaling_efficiency"))) \
       with linespoints lw 2.5 pt point(i) ps 1.0 lc rgb colour(i) notitle
unset multiplot
unset output
