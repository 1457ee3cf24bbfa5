# SPDX-License-Identifier: GPL-3.0-or-later
# The forms of `compare`.
try compare good.ini strong.ini > table.txt
tail -1 table.txt
try compare good.ini one.ini
try compare good.ini one.ini --allow-unequal-batch > table.txt
tail -1 table.txt
lockstep compare good.ini strong.ini --format json | python3 -c 'import json, sys; print (len (json.load (sys.stdin)["points"]))'
lockstep compare good.ini strong.ini --format csv | wc -l
