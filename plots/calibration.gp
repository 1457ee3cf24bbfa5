# SPDX-License-Identifier: GPL-3.0-or-later
# gnuplot -c plots/calibration.gp IN.csv OUT.svg|OUT.png [MEASURED.csv] [TITLE.csv]
# IN.csv: fit,measured_s,fitted_s of `lockstep calibrate --plot`.  Points with the fit as the line, below it the residuals.
HEIGHT = 780
IN = ARG1; OUT = ARG2; NAMES = ARG4
load ARG0[1:strlen(ARG0)-strlen("calibration.gp")] . "common.gp"

MAX_FITS = 8
array LABEL[MAX_FITS]
do for [i=1:MAX_FITS] { LABEL[i] = "\n" }
N = 0
LONGEST = 22
LOW = 1e300
HIGH = 0.0
find(s, i) = i > N ? 0 : LABEL[i] eq s ? i : find(s, i + 1)
add(s) = (find(s, 1) || N >= MAX_FITS) ? 0 : (N = N + 1, LABEL[N] = s, LONGEST = strlen(s) > LONGEST ? strlen(s) : LONGEST, N)
least(x) = LOW = x < LOW ? x : LOW
most(x) = HIGH = x > HIGH ? x : HIGH
stats IN using (add(strcol("fit")), least(column("fitted_s")), most(column("fitted_s")), 1) nooutput
if (N == 0) { printerr "no rows to draw"; exit status 1 }
of(i, y) = strcol("fit") eq LABEL[i] ? y : NaN

set multiplot
ROOM = top_margin(N + 1, LONGEST)
set key maxcols cols(LONGEST)
set tmargin at screen ROOM
set bmargin at screen 0.43
set logscale xy
set format x ""
set format y "%.0s%cs"
set xrange [LOW / 1.2 : HIGH * 1.2]
set label 2 "measured" at screen 0.022, (ROOM + 0.43) / 2 rotate center
plot x with lines lw 1.5 lc rgb "#777777" title "the fit", \
     for [i=1:N] IN using (of(i, column("fitted_s"))):(column("measured_s")) with points pt point(i) ps 0.4 lc rgb colour(i) title LABEL[i]

unset label 1
unset logscale y
set tmargin at screen 0.39
set bmargin at screen 0.105
set format x "%.0s%cs"
set format y "%g"
set xlabel "fitted"
set yrange [-60 : 60]
set ytics 20
set label 2 "measured over fitted, %" at screen 0.022, 0.2475 rotate center
unset key
plot 0 with lines lw 1.5 lc rgb "#777777" notitle, \
     for [i=1:N] IN using (of(i, column("fitted_s"))):(100 * (column("measured_s") / column("fitted_s") - 1)) \
       with points pt point(i) ps 0.4 lc rgb colour(i) notitle
unset multiplot
unset output
