# SPDX-License-Identifier: Apache-2.0
# What cmake --install installs, found by find_package after it was moved: its versions, components
# and errors; and a project made by ./sinter new against it.
. "$root/tests/install/project.bash"
libtorch=$Torch_DIR
unset Torch_DIR

find_sinter() {  # STATUS WANTED [cmake option…]
  local status=$1 wanted=$2
  shift 2
  rm -rf "$scratch/find"
  expect "$status" cmake -G Ninja -S "$root/tests/install/find" -B "$scratch/find" -DWANTED="$wanted" \
    -DCMAKE_PREFIX_PATH="$scratch/moved" "$@"
  one_line
}

# The headers alone, which need neither the library nor LibTorch.
cmake --install "$build" --prefix "$scratch/prefix" --component headers >/dev/null
mv "$scratch/prefix" "$scratch/moved"
grep -q 'The Sinter authors' "$scratch"/moved/share/doc/Sinter/LICENSE || fail 'no licence was installed'
find_sinter 0 '0.2;REQUIRED;COMPONENTS;headers'
is_silent_about 'LibTorch was looked for'
expect 0 cmake --build "$scratch/find"
find_sinter 1 '0.2;REQUIRED'
says 'Only the headers of Sinter are installed'
find_sinter 0 '0.2;QUIET'
says 'found: 0'

# All of it, also what has not been built yet.
rm -r "$scratch/moved"
rm "$build/libsinter_autograd.a"
expect 0 cmake --install "$build" --prefix "$scratch/prefix"
says 'Building sinter_autograd, which is to be installed'
mv "$scratch/prefix" "$scratch/moved"
for library in libboost1.81-dev libfmt-dev libhwy-dev libxxhash-dev zlib1g-dev liblzma-dev libzstd-dev libcli11-dev nlohmann-json3-dev libsentencepiece-dev; do
  [[ ! -e /usr/share/doc/$library/copyright || -s $scratch/moved/share/doc/Sinter/libraries/$library ]] ||
    fail "the licence of $library was not installed"
done
! grep -rlF "$root" "$scratch/moved" --include='*.cmake' --include='*.hpp' || fail 'files name the source tree'
find_sinter 0 '0.2;REQUIRED'
says 'LibTorch was looked for'
says 'there is a library'
expect 0 ctest --test-dir "$scratch/find" --verbose
says 'rank 0 of 2'
find_sinter 0 '0.2' -DFETCH="$scratch/none" # the package comes first
says 'there is a library'
find_sinter 0 '0.2' -DFETCH="$root" -DCMAKE_PREFIX_PATH= -DTorch_DIR="$libtorch"
says 'there is a library'
[[ -e $scratch/find/_deps/sinter-build ]] || fail 'FetchContent did not take the source tree'
find_sinter 0 '0.2.0;EXACT;REQUIRED;COMPONENTS;headers;sinter'
says 'there is a library'
is_silent_about 'LibTorch was looked for'
find_sinter 0 '0.2;REQUIRED;COMPONENTS;libtorch'
says 'there is a library'
says 'LibTorch was looked for'
find_sinter 1 '0.2;REQUIRED;COMPONENTS;sinter' -DTORCH_CODE=ON
says 'has layers that LibTorch computes, and'
autograd=$(find "$scratch/moved" -name SinterAutograd.cmake)
mv "$autograd" "$scratch"
find_sinter 0 '0.2;REQUIRED'
is_silent_about 'LibTorch was looked for'
find_sinter 1 '0.2;REQUIRED;COMPONENTS;libtorch'
says 'was built or installed without'
mv "$scratch/SinterAutograd.cmake" "$autograd"
for version in 0.1 0.3 1.0; do
  find_sinter 1 "$version;REQUIRED"
  says 'version: 0.2.0'
done
find_sinter 1 '0.2;REQUIRED;COMPONENTS;cuda'
says "Sinter has no component 'cuda'. It has headers, sinter and libtorch."
find_sinter 0 '0.2;REQUIRED;COMPONENTS;headers;OPTIONAL_COMPONENTS;cuda'

# Another LibTorch than it was built with.
other=$scratch/other
mkdir -p "$other"/{lib,include/ATen/core,include/torch/headeronly}
touch "$other/lib/libtorch_cpu.so" "$other/include/ATen/core/Tensor.h"
echo '#define TORCH_VERSION "2.9.1"' >"$other/include/torch/headeronly/version.h"
find_sinter 1 '0.2;REQUIRED' -DTorch_DIR="$other"
says "version 2.9.1, but this Sinter was built with"

# A project: the package comes before the source tree that it was made from.
new_project my_reader
build_project "$scratch/my_reader" -DCMAKE_PREFIX_PATH="$scratch/moved"
[[ ! -e build/release/sinter ]] || fail 'Sinter was built anew'

# What the project installs may be moved, and finds LibTorch beside itself alone.
expect 0 cmake --install build/release --prefix "$scratch/installed"
mv "$scratch/installed" "$scratch/elsewhere"
expect 0 env LD_TRACE_LOADED_OBJECTS=1 LD_PRELOAD=libtorch_cpu.so "$scratch/elsewhere/bin/my_reader"
says "$scratch/elsewhere/bin/../lib/libtorch_cpu.so"
is_silent_about 'not found'
is_silent_about "$libtorch"
expect 0 "$scratch/elsewhere/bin/my_reader" describe
ls "$scratch"/elsewhere/share/doc/torch-*/LICENSE >/dev/null || fail 'the licences of LibTorch are missing'
