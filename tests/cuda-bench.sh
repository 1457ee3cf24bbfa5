#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The CUDA and NCCL microbenchmarks compile where nvcc and nccl.h are; else skipped.
set -eu
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || { echo 'no nvcc: skipped'; exit 77; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
echo '#include <nccl.h>' >"$out/probe.cu"
"$nvcc" -c -o "$out/probe.o" "$out/probe.cu" 2>/dev/null || { echo 'no nccl.h: skipped'; exit 77; }
make -C "$1/calibration/bench" NVCC="$nvcc" OUT="$out"
for program in gemm memory launch beside collectives; do [ -x "$out/$program" ]; done
