# SPDX-License-Identifier: GPL-3.0-or-later
# Help goes to standard output with status 0; alone, the short help is a usage error.
try -h
try --help
try --version | sed 's/^lockstep [0-9][0-9.]*$/lockstep VERSION/'
try
for command in run scale sweep compare collective new check show list plot; do
  try $command -h
done
try run --help
try scale --help
try collective --help
# The word that newcomers type.
lockstep help | head -1
lockstep help scale | head -2
try help nothing
