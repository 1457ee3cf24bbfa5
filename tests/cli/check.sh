# SPDX-License-Identifier: GPL-3.0-or-later
# Every file is checked; one that is wrong does not hide the next.
try check good.ini
try check good.ini twice.ini one.ini unknown-gpu.ini strong.ini
try check --quiet good.ini
try check --set cluster.gpu=v100-sxm2-16gb good.ini
echo '$ lockstep check - < good.ini'
lockstep check - < good.ini
echo "exit $?"
