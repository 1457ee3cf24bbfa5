# SPDX-License-Identifier: GPL-3.0-or-later
# gnuplot -c plots/xy.gp IN.csv OUT.svg|OUT.png "" TITLE.csv LABELS.txt
# IN.csv: x,y,series,kind with kind point, then median; in series and x order.
# LABELS.txt: what, place, text between tabs; what is x, y, log, cloud once, and series, name, tick as often as needed.
HEIGHT = 560
IN = ARG1; OUT = ARG2; POINTS = ARG3; NAMES = ARG4; LABELS = ARG5
load ARG0[1:strlen(ARG0)-strlen("xy.gp")] . "common.gp"

MAX_SERIES = 16
MAX_TICKS = 40
array TITLE_OF[MAX_SERIES]
array TICK[MAX_TICKS]
array AT[MAX_TICKS]
do for [i=1:MAX_SERIES] { TITLE_OF[i] = "" }
X = ""; Y = ""; LOG = ""; CLOUD = ""
N = 0
M = 0
NAMED = 0
LONGEST = 1
WIDEST = 1
longer(s) = LONGEST = strlen(s) > LONGEST ? strlen(s) : LONGEST
wider(s) = WIDEST = strlen(s) > WIDEST ? strlen(s) : WIDEST
add_series(s) = N < MAX_SERIES ? (N = N + 1, TITLE_OF[N] = s, longer(s)) : 0
add_tick(p, s) = M < MAX_TICKS ? (M = M + 1, TICK[M] = s, AT[M] = p, wider(s)) : 0
note(w, p, s) = w eq "x" ? (X = s, 1) : w eq "y" ? (Y = s, 1) : w eq "log" ? (LOG = s, 1) : w eq "cloud" ? (CLOUD = s, 1) : \
                w eq "series" ? (add_series(s), 1) : w eq "name" ? (NAMED = 1, add_tick(p, s), 1) : (add_tick(p, s), 1)
set datafile separator "\t"
stats LABELS using (note(strcol(1), column(2), strcol(3)), 1) nooutput
set datafile separator comma

MIN = 1e300; MAX = -1e300; LOW = 1e300; TOP = -1e300
place(x, y) = (MIN = x < MIN ? x : MIN, MAX = x > MAX ? x : MAX, LOW = y < LOW ? y : LOW, TOP = y > TOP ? y : TOP, 1)
stats IN using (place(column("x"), column("y"))) nooutput
if (N == 0 || MAX < MIN) { printerr "no rows to draw"; exit status 1 }

LONGEST = LONGEST + (CLOUD eq "yes" ? strlen(", median") : 0)
COLS = cols(LONGEST)
ROOM = N > 1 || CLOUD eq "yes" ? top_margin(N, LONGEST) : top_margin(0, 1)
# names that do not stand side by side lean
LEAN = NAMED && WIDEST * 9 > 780.0 / M
BOTTOM = LEAN ? 0.15 + 0.007 * (WIDEST > 30 ? 30 : WIDEST) : 0.14
set key maxcols COLS
set tmargin at screen ROOM
set bmargin at screen BOTTOM
set xlabel X noenhanced
set label 2 Y at screen 0.022, (ROOM + BOTTOM) / 2 rotate center noenhanced
LOGX = LOG eq "x" || LOG eq "xy"
LOGY = LOG eq "y" || LOG eq "xy"
if (LOGX) { set logscale x }
if (LOGY) {
  set logscale y
  set format y "%g"
  set yrange [LOW / 1.15 : TOP * 1.15]
  # less than two decades: ticks between
  if (TOP / LOW < 100) {
    set ytics ()
    STEPS = TOP / LOW < 2 ? "1 1.1 1.2 1.3 1.4 1.5 1.6 1.8 2 2.5 3 3.5 4 4.5 5 5.5 6 6.5 7 8 9" : TOP / LOW < 10 ? "1 1.5 2 3 4 5 6 8" : "1 2 5"
    do for [k=floor(log10(LOW)):ceil(log10(TOP))] { do for [m in STEPS] { P = m * 10.0 ** k; set ytics add (sprintf("%g", P) P) } }
  }
} else {
  set yrange [*<0 : *]
}
if (M > 0) {
  set xtics ()
  do for [i=1:M] { set xtics add (strlen(TICK[i]) > 30 ? TICK[i][1:27] . "..." : TICK[i] AT[i]) }
  if (LEAN) { set xtics rotate by -30 }
}
SPAN = MAX > MIN ? MAX - MIN : abs(MAX) > 0 ? abs(MAX) : 1
if (NAMED) { set xrange [0.5 : M + 0.5] } else { if (LOGX) { set xrange [MIN / 1.15 : MAX * 1.15] } else { set xrange [MIN - 0.04 * SPAN : MAX + 0.04 * SPAN] } }

# Many points at one place: a line through their medians, the points pale behind it.
name(i) = CLOUD eq "yes" ? (N > 1 ? TITLE_OF[i] . ", median" : "median") : N > 1 ? TITLE_OF[i] : ""
mark(i) = point(i > 8 ? i + 3 : i)   # not the colour of before with its mark
of(i, kind) = column("series") == i && strcol("kind") eq kind ? column("x") : NaN
if (CLOUD eq "yes") {
  plot for [i=1:N] IN using (of(i, "point")):(column("y")) with points pt 7 ps 0.5 lc rgb "#a0" . colour(i)[2:7] notitle, \
       for [i=1:N] IN using (of(i, "median")):(column("y")) with linespoints lw (NAMED ? 0 : 2.5) pt mark(i) ps 1.0 lc rgb colour(i) title name(i)
} else {
  if (NAMED) {
    plot for [i=1:N] IN using (of(i, "point")):(column("y")) with points pt mark(i) ps 1.2 lc rgb colour(i) title name(i)
  } else {
    plot for [i=1:N] IN using (of(i, "point")):(column("y")) with linespoints lw 2.5 pt mark(i) ps 1.0 lc rgb colour(i) title name(i)
  }
}
unset output
