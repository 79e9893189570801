# SPDX-License-Identifier: Apache-2.0
# What the tests of a project of one's own share: it is made, built and tested as its README says,
# but for optimisation, and with kernels for few processors.
. "$root/tests/script/lib/check.bash"
if command -v ccache >/dev/null; then export CCACHE_DIR=${CCACHE_DIR:-$(ccache -k cache_dir)}; fi
export HOME=$scratch/home CMAKE_BUILD_PARALLEL_LEVEL=2 # an empty account
mkdir "$HOME"
unset CMAKE_PREFIX_PATH

one_line() {  # CMake breaks its messages over lines
  tr -s ' \n' ' ' <"$scratch/output" >"$scratch/line"
  mv "$scratch/line" "$scratch/output"
}

new_project() {  # NAME: in $scratch/NAME
  expect 0 "$root/sinter" new "$scratch/$1"
  says "$1"
}

cxx_flags=-DSINTER_FEW_TARGETS=1

build_project() {  # FOLDER [cmake option…]
  cd "$1"
  shift
  expect 0 cmake --preset release -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="$cxx_flags" "$@"
  expect 0 cmake --build --preset release
  expect 0 ctest --preset release
  says '100% tests passed, 0 tests failed out of 2'
  expect 0 ctest --preset release # a second time
}
