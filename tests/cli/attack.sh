# SPDX-License-Identifier: GPL-3.0-or-later
# What an attack on the program found: said in one line, with a name, and nothing promised that was not done.
wrong run ''
{ cat good.ini; printf '[measured]\n2x4 = 1e300 s\n'; } > measured.ini
wrong scale measured.ini
{ cat good.ini; printf '[measured]\n2x4 = 1e-300 samples/s\n'; } > measured.ini
wrong run measured.ini
try new ddp -o nowhere/ddp.ini
try new ddp -o ddp.ini
try check ddp.ini
