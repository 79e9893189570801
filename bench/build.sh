#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How much processor time does one recipe take to compile and link, and how much memory, once the library is built?
#   ./sinter bench build [RECIPE]          default: bytes_gpt2; goal: at most 6 s together, 2048 MiB
# Needs: python3
# Runs ninja's own commands five times without ccache. Reports the medians of user and system time, for linking the
# elapsed time, as mold works in a process of its own, and the peak of the memory. What recipes share precompiled is
# built with the library, and shown apart.
set -euo pipefail
recipe=${1:-bytes_gpt2}
cmake --build "$build" --target "$recipe" >&2
cd "$build"
shared=CMakeFiles/sinter_shared_headers.dir/cmake_pch.hxx.gch
python3 - "$(ninja -t commands -s "CMakeFiles/$recipe.dir/recipes/$recipe.cpp.o")" \
  "$(ninja -t commands -s "bin/$recipe")" "$(ninja -t commands -s "$shared" 2>/dev/null || true)" <<'PYTHON'
import os, resource, statistics, subprocess, sys, time

def used():
    times = resource.getrusage(resource.RUSAGE_CHILDREN)
    return times.ru_utime + times.ru_stime

together = 0
for name, command in zip(("compile", "link", "shared headers, once"), sys.argv[1:]):
    if not command:
        continue
    seconds = []
    for _ in range(5):
        begin, wall = used(), time.monotonic()
        subprocess.run(command, shell=True, check=True, env={**os.environ, "CCACHE_DISABLE": "1"})
        seconds.append(time.monotonic() - wall if name == "link" else used() - begin)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024  # so far, hence compile first
    print(f"{name:21}{statistics.median(seconds):7.2f} s  {peak:6.0f} MiB"
          + ("" if name == "compile" else "  (or less)"))
    if name != "shared headers, once":
        together += statistics.median(seconds)
print(f"{'compile and link':21}{together:7.2f} s")
PYTHON
