# SPDX-License-Identifier: Apache-2.0
# doctor: 0 where run would work, else 1 and how to mend it.
. "$root/tests/script/lib/check.bash"

expect 0 "$sinter" doctor
says 'Ready: ./sinter run'
says 'ok        LibTorch'

expect 1 env -u Torch_DIR -u CMAKE_PREFIX_PATH SINTER_CACHE="$scratch/empty" "$sinter" doctor
says 'Not ready, missing: LibTorch.'
says 'python3 scripts/fetch_libtorch.py'

expect 1 env Torch_DIR="$scratch" "$sinter" doctor
says "Torch_DIR names $scratch, but there is no LibTorch there"

expect 1 env CXX=no-such-compiler "$sinter" doctor
says "CXX names 'no-such-compiler'"

expect 1 env PATH="$(path_without ninja xz)" "$sinter" doctor
says 'apt-get install ninja-build'
says 'Not ready, missing: ninja, xz.'
