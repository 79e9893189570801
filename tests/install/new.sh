# SPDX-License-Identifier: Apache-2.0
# A project made by ./sinter new, in an empty account, from Sinter's source tree: what is refused, what it holds, and
# that it is configured and its recipe compiled against the tree. The library is not compiled again: new_whole.sh, a
# soak, builds and runs all. That the same project links and passes its tests, package.sh says in ./sinter test --all.
. "$root/tests/install/project.bash"

for bad in 3x class test sinter 'a b' my+project; do
  expect 1 "$root/sinter" new "$scratch/$bad"
  says "'$bad' cannot be a project's name"
  [[ ! -e $scratch/$bad ]] || fail "$bad was made"
done
expect 1 "$root/sinter" new "$root/examples/mine"
says "inside Sinter's own source tree"
mkdir "$scratch/full" && touch "$scratch/full/thesis"
expect 1 "$root/sinter" new "$scratch/full"
says 'exists already, and is no empty folder'
[[ $(ls -A "$scratch/full") == thesis ]] || fail 'a folder that was in use has changed'
expect 1 "$root/sinter" new
expect 1 "$root/sinter" new --force

expect 0 "$root/sinter" new "$scratch/my-robot"
says 'its binary and its C++ namespace are called my_robot.'
says 'its first build compiles Sinter, too'
grep -q 'namespace my_robot' "$scratch"/my-robot/src/*.hpp || fail 'the namespace is not my_robot'
grep -q 'sinter_add_recipe(my_robot src/my_robot.cpp)' "$scratch/my-robot/CMakeLists.txt" || fail 'nor is the target'

# An installed Sinter of this version is used, one of another is not.
package=$scratch/pre\ fix/lib/cmake/Sinter
mkdir -p "$package"
touch "$package/SinterLibrary.cmake"
for installed in 0.1.9 "$(sed -nE 's/^project\(Sinter VERSION ([0-9.]+).*/\1/p' "$root/CMakeLists.txt")"; do
  echo "set(PACKAGE_VERSION \"$installed\")" >"$package/SinterConfigVersion.cmake"
  rm -rf "$scratch/with"
  CMAKE_PREFIX_PATH=/nowhere:$scratch/pre\ fix expect 0 "$root/sinter" new "$scratch/with"
  if [[ $installed == 0.1.9 ]]; then says 'its first build compiles Sinter, too'; continue; fi
  says "it uses the Sinter that is installed in $scratch/pre fix"
  grep -qF "\"CMAKE_PREFIX_PATH\": \"$scratch/pre fix\"," "$scratch/with/CMakePresets.json" ||
    fail 'the presets do not name the installed Sinter'
done

new_project my_reader
cd "$scratch/my_reader"
! grep -rnE 'my_project|MyProject|SPDX|@SINTER' . || fail 'something of the pattern is left'
cmp profiles/debian12 "$root/packaging/conan/profiles/debian12"
version=$(sed -nE 's/^project\(Sinter VERSION ([0-9]+\.[0-9]+).*/\1/p' "$root/CMakeLists.txt")
grep -q "find_package(Sinter $version " CMakeLists.txt || fail "the project does not ask for Sinter $version"
grep -q "find_package(Sinter $version " "$root/test_package/CMakeLists.txt" || fail 'nor does test_package'
grep -qF "sinter/[~$version]" conanfile.py || fail "nor does its conanfile.py"

expect 1 cmake --preset release -DSINTER_SOURCE="$scratch/moved"
one_line
says "there is no source tree of it in '$scratch/moved'"

expect 0 cmake --preset release -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="$cxx_flags"
expect 0 ninja -C build/release CMakeFiles/my_reader.dir/src/my_reader.cpp.o CMakeFiles/gradients.dir/tests/gradients.cpp.o \
  sinter/CMakeFiles/sinter.dir/src/version.cpp.o sinter/CMakeFiles/sinter_core.dir/src/precision/cast.cpp.o
expect 0 ninja -C build/release -t commands my_reader # whatever is left has a rule that makes it
says ' -o my_reader '
says 'libsinter.a '
