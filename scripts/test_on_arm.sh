#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles the kernels for ARM with Debian's cross compiler and runs their tests under qemu, without
# LibTorch. By hand and not in the suite, for it takes minutes:
#   bash scripts/test_on_arm.sh [NAME…]      NAME: tests/unit/kernels/NAME.cpp; without: all of them
# Highway for ARM is fetched from Debian's archive into build/arm; nothing of the system changes.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
build=$root/build/arm
compiler=(aarch64-linux-gnu-g++)
missing=()
command -v "${compiler[0]}" >/dev/null || missing+=(g++-aarch64-linux-gnu)
command -v qemu-aarch64 >/dev/null || missing+=(qemu-user)
((${#missing[@]} == 0)) || { echo "Install what is missing: apt-get install ${missing[*]}" >&2; exit 1; }
! command -v ccache >/dev/null || compiler=(ccache "${compiler[@]}")
mkdir -p "$build"/{include,objects,tests}

fetch_highway() {
  local apt=(apt-get -q -o "Dir::State=$build/apt" -o "Dir::State::status=$build/apt/status"
    -o "Dir::Cache=$build/apt" -o APT::Architecture=arm64 -o APT::Architectures=arm64
    -o APT::Sandbox::User=) package
  mkdir -p "$build"/apt/{lists,archives}/partial
  : >"$build/apt/status"
  "${apt[@]}" update >/dev/null
  (cd "$build/apt" && "${apt[@]}" download libhwy1 libhwy-dev >/dev/null)
  for package in "$build"/apt/libhwy*.deb; do dpkg-deb -x "$package" "$build/highway"; done
}
[[ -e $build/highway ]] || fetch_highway
library=$build/highway/usr/lib/aarch64-linux-gnu
ln -sfn "$build/highway/usr/include/hwy" "$build/include/hwy"
for header in boost doctest; do ln -sfn "/usr/include/$header" "$build/include/$header"; done

flags=(-std=c++20 -O2 -ffp-contract=off -Wall -Wextra -Werror "-I$root/include" "-I$root/src" "-I$root/tests"
  -isystem "$build/include" "-DSINTER_SOURCE_DIR=\"$root\"" '-DSINTER_TEST_DATA=""')
compile() {  # FILE…: its object in $build/objects, two at a time
  local file
  for file in "$@"; do
    printf '%s\0' "$file" "$build/objects/$(tr / _ <<<"${file#"$root"/}").o"
  done | xargs -0 -n 2 -P 2 bash -c '"${@:1:$#-2}" -c "${@: -2:1}" -o "${@: -1}"' _ "${compiler[@]}" "${flags[@]}"
}

kernels=("$root"/src/kernels/cpu/*.cpp)
tests=("${@/#/$root/tests/unit/kernels/}")
tests=("${tests[@]/%/.cpp}")
(($#)) || tests=("$root"/tests/unit/kernels/*.cpp)
compile "${kernels[@]}" "$root/tests/main.cpp" "${tests[@]}"
ar rcs "$build/libkernels.a" "$build"/objects/src_kernels_cpu_*.o

failed=()
for file in "${tests[@]}"; do
  name=$(basename "$file" .cpp)
  "${compiler[@]}" "$build/objects/tests_unit_kernels_$name.cpp.o" "$build/objects/tests_main.cpp.o" \
    "$build/libkernels.a" "-L$library" -lhwy -pthread -o "$build/tests/$name"
  echo "== $name"
  LD_LIBRARY_PATH=$library qemu-aarch64 -L /usr/aarch64-linux-gnu -E "LD_LIBRARY_PATH=$library" \
    "$build/tests/$name" --no-intro=1 || failed+=("$name")
done
((${#failed[@]} == 0)) || { echo "Failed: ${failed[*]}" >&2; exit 1; }
