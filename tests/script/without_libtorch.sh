# SPDX-License-Identifier: Apache-2.0
# A build tree without LibTorch: it is not looked for, and what needs it is refused by name.
. "$root/tests/script/lib/check.bash"
unset Torch_DIR CMAKE_PREFIX_PATH
export SINTER_CACHE=$scratch/none
configure() {  # STATUS [cmake option…]
  local status=$1
  shift
  expect "$status" cmake -G Ninja -S "$root" -B "$scratch/build" -DCMAKE_CXX_COMPILER="$CXX" "$@"
  tr -s ' \n' ' ' <"$scratch/output" >"$scratch/line" # CMake breaks its messages over lines
  mv "$scratch/line" "$scratch/output"
}

configure 1 -DSINTER_BUILD_TESTS=OFF
says 'Or build without LibTorch: -DSINTER_WITH_LIBTORCH=OFF.'
configure 1 -DSINTER_WITH_LIBTORCH=OFF -DSINTER_BUILD_TESTS=ON
says 'The tests compare with LibTorch. Configure with -DSINTER_WITH_LIBTORCH=ON'
configure 0 -DSINTER_WITH_LIBTORCH=OFF -DSINTER_BUILD_TESTS=OFF
cut -f1 "$scratch/build/recipes.txt" >"$scratch/output"
says bytes_gpt2
is_silent_about mnist_cnn
ninja -C "$scratch/build" -t commands bytes_gpt2 >"$scratch/output"
is_silent_about torch_cpu
is_silent_about /autograd/
configure 1 -DSINTER_RECIPE_FILES="$root/recipes/mnist_cnn.cpp;$root/examples/skeletons/torch_module.cpp"
says 'torch_module.cpp has layers that LibTorch computes, and this Sinter is without LibTorch.'
