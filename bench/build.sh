#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How long does one recipe take to compile, and how much memory, once the library is built?
#   ./sinter bench build [RECIPE]          default: bytes_gpt2; goal: at most 30 s and 2048 MiB
# Needs: python3
# Runs ninja's own commands three times without ccache; reports the median of the seconds and the
# peak of the memory.
set -euo pipefail
recipe=${1:-bytes_gpt2}
cmake --build "$build" --target "$recipe" >&2
cd "$build"
python3 - "$(ninja -t commands -s "CMakeFiles/$recipe.dir/recipes/$recipe.cpp.o")" \
  "$(ninja -t commands -s "bin/$recipe")" <<'PYTHON'
import os, resource, statistics, subprocess, sys, time

for name, command in zip(("compile", "link"), sys.argv[1:]):
    seconds = []
    for _ in range(3):
        begin = time.monotonic()
        subprocess.run(command, shell=True, check=True, env={**os.environ, "CCACHE_DISABLE": "1"})
        seconds.append(time.monotonic() - begin)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024  # so far, hence compile first
    print(f"{name:8}{statistics.median(seconds):7.2f} s  {peak:6.0f} MiB"
          + ("  (or less)" if name == "link" else ""))
PYTHON
