# SPDX-License-Identifier: GPL-3.0-or-later
# What the pictures share; each is called as `gnuplot -c plots/X.gp IN.csv OUT.svg|OUT.png [MEASURED.csv] [TITLE.csv]`.
# No text of a scenario is ever part of a command: titles and names are fields of the CSV files.
set encoding utf8

PNG = OUT[strlen(OUT)-3:] eq ".png"
if (PNG && strstrt(GPVAL_TERMINALS, "pngcairo") == 0) {
  printerr "this gnuplot has no pngcairo terminal; write an .svg instead"
  exit status 1
}

# The title is data: the second line of its file, whole.
TITLE = ""
set datafile separator "\t"
set datafile commentschars ""
if (strlen(NAMES)) { stats NAMES using (TITLE = strcol(1), 1) skip 1 nooutput }
if (strlen(TITLE) > 88) { TITLE = TITLE[1:85] . "..." }
set datafile separator comma
set datafile columnheaders
set datafile missing NaN

# Swept columns are those before `nodes`; the name of a row: "global-batch 64, nodes-per-leaf 4".  Keys that the
# GPUs already tell are no part of it (plot-pick.c counts the same): nodes, or GPUs of a node where nodes are not swept.
N_SWEPT = 0
swept(i) = (i > 16 || columnhead(i) eq "nodes") ? i - 1 : swept(i + 1)
short(s) = strstrt(s, ".") ? s[strstrt(s, ".")+1:] : s
nodes_swept(i) = i > N_SWEPT ? 0 : columnhead(i) eq "cluster.nodes" ? 1 : nodes_swept(i + 1)
size(i) = columnhead(i) eq "cluster.nodes" || (columnhead(i) eq "cluster.gpus-per-node" && !nodes_swept(1))
join(a, b) = a . (strlen(a) && strlen(b) ? ", " : "") . b
label(i) = i > N_SWEPT ? "" : join(size(i) ? "" : short(columnhead(i)) . " " . strcol(i), label(i + 1))

# Okabe and Ito's palette: told apart by colour-blind readers too.
array COLOUR[8] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D1F"]
colour(i) = COLOUR[(i - 1) % 8 + 1]
point(i) = word("7 5 9 13 11 15 6 4", (i - 1) % 8 + 1) + 0

WIDTH = 960
if (PNG) {
  set terminal pngcairo size WIDTH,HEIGHT font "Sans,12" noenhanced background "#ffffff"
} else {
  set terminal svg size WIDTH,HEIGHT font "Helvetica,Arial,sans-serif,15" noenhanced background "#ffffff" dynamic
}
set output OUT

set border 3 lc rgb "#444444"
set tics nomirror out
set grid back lc rgb "#dddddd" lw 1 lt 1
set lmargin at screen 0.125
set rmargin at screen 0.965
# The legend stands between title and panel: as many rows as its longest entry needs.  Heights are parts of the canvas.
LINE = 21.0 / HEIGHT
cols(longest) = longest > 30 ? 1 : floor(840.0 / (11 * longest + 90))
rows(n, longest) = ceil(1.0 * n / cols(longest))
top_margin(n, longest) = 1 - 2.4 * LINE - 1.3 * LINE * rows(n, longest)
set label 1 TITLE at screen 0.03, 1 - 1.2 * LINE font (PNG ? ",15" : ",18") noenhanced
set key at screen 0.115, 1 - 2 * LINE left top horizontal reverse Left samplen 2.5 spacing 1.2 width 1 noenhanced
