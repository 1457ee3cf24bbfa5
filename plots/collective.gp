# SPDX-License-Identifier: GPL-3.0-or-later
# gnuplot -c plots/collective.gp IN.csv OUT.svg|OUT.png "" [TITLE.csv]
# IN.csv: of `lockstep collective`.  Bus bandwidth over the size of the message, the algorithm at each point.
HEIGHT = 560
IN = ARG1; OUT = ARG2; POINTS = ARG3; NAMES = ARG4
load ARG0[1:strlen(ARG0)-strlen("collective.gp")] . "common.gp"

MAX_KINDS = 12
array KIND[MAX_KINDS]
do for [i=1:MAX_KINDS] { KIND[i] = "\n" }
N = 0
LONGEST = 0
kind(x) = strcol("op") . ", " . strcol("algorithm") . " " . strcol("protocol")
known(s, i) = i > N ? 0 : s eq KIND[i] ? i : known(s, i + 1)
keep(s) = known(s, 1) || N >= MAX_KINDS ? 0 : (N = N + 1, KIND[N] = s, LONGEST = strlen(s) > LONGEST ? strlen(s) : LONGEST)
stats IN using (keep(kind(0)), 1) nooutput
if (N == 0) { printerr "no rows to draw"; exit status 1 }

COLS = cols(LONGEST)
ROOM = top_margin(N, LONGEST)
set key maxcols COLS
set tmargin at screen ROOM
set bmargin at screen 0.14
set xlabel "size of the message, bytes"
set label 2 "busbw, GB/s" at screen 0.022, (ROOM + 0.14) / 2 rotate center
set logscale x 2
size(b) = b < 1024 ? sprintf("%g B", b) : b < 1048576 ? sprintf("%g KiB", b / 1024) : b < 1073741824 ? sprintf("%g MiB", b / 1048576) : sprintf("%g GiB", b / 1073741824)
set xtics ()
do for [p=0:40:4] { X = 2.0 ** p; set xtics add (size(X) X) }
set yrange [0 : *]
bound(s) = column(s) > 0 ? column("time_s") / column(s) * column("busbw_Bps") / 1e9 : NaN
plot IN using (column("size_bytes")):(column("busbw_Bps") / 1e9) with lines lw 1.5 lc rgb "#bbbbbb" notitle, \
     IN using (column("time_lo_s") > 0 ? column("size_bytes") : NaN):(column("busbw_Bps") / 1e9):(bound("time_hi_s")):(bound("time_lo_s")) \
       with yerrorbars pt 0 lw 1.2 lc rgb "#888888" notitle, \
     for [i=1:N] IN using (kind(0) eq KIND[i] ? column("size_bytes") : NaN):(column("busbw_Bps") / 1e9) \
       with points pt point(i) ps 1.1 lc rgb colour(i) title KIND[i]
unset output
