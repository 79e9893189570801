# SPDX-License-Identifier: Apache-2.0
# The lines of docs/packaging.md for Conan, in an empty account: Conan by pip, the local index, the
# package with its test of three steps, and a project made by ./sinter new on top.
. "$root/tests/install/project.bash"
python=$(type -P python3) || { echo 'skipped: no python3 is installed'; exit; }

install_conan() { "$python" -m venv V && V/bin/pip install --quiet --disable-pip-version-check conan; }
cd "$scratch"
if ! install_conan >"$scratch/output" 2>&1; then
  [[ $SINTER_CI != ON ]] || fail 'Conan could not be installed by pip'
  echo 'skipped: Conan could not be installed by pip (no venv, or no network)'
  exit
fi
export CONAN_HOME=$scratch/conan SINTER_CACHE=${Torch_DIR%/libtorch-*}
unset Torch_DIR
conan=$scratch/V/bin/conan
unoptimized=(-s build_type=Debug
  -c "tools.cmake.cmaketoolchain:extra_variables={'CMAKE_CXX_FLAGS_DEBUG': '$cxx_flags'}")

new_project my_reader

cd "$root"
expect 0 "$conan" remote add sinter packaging/conan --type local-recipes-index
expect 0 "$conan" create . -r sinter --profile:all packaging/conan/profiles/debian12 --build=missing \
  "${unoptimized[@]}"
says 'step 3, loss'
[[ ! -e $root/CMakeUserPresets.json ]] || fail 'Conan left CMakeUserPresets.json in the source tree'
expect 0 "$conan" cache path sinter/0.2.0:"$("$conan" list 'sinter/*:*' --format=compact 2>/dev/null |
  sed -nE 's/.*:([0-9a-f]{40}).*/\1/p' | head -n 1)"
package=$(tail -n 1 "$scratch/output")
[[ -x $package/bin/sinter-launch ]] || fail "the package in $package has no launcher"
[[ -s $package/licenses/LICENSE ]] || fail "the package in $package has no licence"

cd "$scratch/my_reader"
expect 0 "$conan" build . -r sinter --profile:all profiles/debian12 --build=missing "${unoptimized[@]}"
says '100% tests passed, 0 tests failed out of 2'
[[ ! -e build/Debug/sinter ]] || fail 'Sinter was built anew, not taken from its package'

# A compiler that is too old is refused before anything is built.
expect 6 "$conan" build . -r sinter --profile:all profiles/debian12 --build=missing -s compiler.version=11
says 'needs gcc 12 or clang 19'
