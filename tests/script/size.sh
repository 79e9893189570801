# SPDX-License-Identifier: Apache-2.0
# scripts/size.sh, on a small tree whose lines are known.
. "$root/tests/script/lib/check.bash"
tree=$scratch/tree
mkdir -p "$tree"/{scripts,docs,include/sinter/data,src/data/deep,tests/{unit/data,reject/data,binary}}
cp "$root/scripts/size.sh" "$tree/scripts"
cd "$tree"
git init -q .
commit() { git add -A && git -c user.name=A -c user.email=a@b -c commit.gpgsign=false commit -qm "$1"; }
size() { expect "$1" bash "$tree/scripts/size.sh" "${@:2}"; }
row() {
  sed 's/^ *//; s/  */ /g' "$scratch/output" | grep -x -- "$*" >/dev/null || fail "the output lacks the row: $*"
}

seq 3 >include/sinter/data/source.hpp
seq 10 >src/data/deep/source.cpp
seq 20 >tests/unit/data/source.cpp
seq 40 >tests/reject/data/source.cpp
seq 7 >tests/binary/data.cpp
seq 5 >'docs/ä page.md'
seq 2 >docs/gone.md
seq 9 >src/version.cpp
commit first

size 0
row 73 data
row 7 tests/binary/
row 7 docs/
row 9 src/
row "$(git ls-files -z | xargs -0 cat | wc -l) all"
is_silent_about change
is_silent_about seconds

# Since a commit, whether what has changed is committed or not; what git does not know is left out.
rm docs/gone.md
seq 6 >'docs/ä page.md'
seq 15 >src/data/deep/source.cpp
seq 1000 >docs/unknown.md
cd /
size 0 HEAD
row 78 +5 data
row 6 -1 docs/
row 9 +0 src/
cd "$tree"

# The seconds of a ctest, of which a real one wrote the lines.
temporary=build/Testing/Temporary
mkdir -p "$temporary"
printf '%s\n' 'unit/data/source 3 1.5' 'binary/data 2 20' --- unit/data/source >"$temporary/CTestCostData.txt"
size 0 --times build
row 78 1 1.5 data
row 7 1 20.0 tests/binary/
row '[0-9]* 2 21.5 all'
for name in unit/data/source unit/data/deep/source reject/GNU/data/source; do
  printf '%s\n' "1/3 Testing: $name" "1/3 Test: $name" 'Command: "x"' Output: 'Test time is money' '<end of output>' \
    'Test time =   0.50 sec' 'Test Passed.' ''
done >"$temporary/LastTest.log"
size 0 HEAD --times build
row 78 +5 3 1.5 data
row '[0-9]* +4 3 1.5 all'

size 0 --help
says 'usage: bash scripts/size.sh [COMMIT] [--times FOLDER]'
size 1 no-such-commit
says "'no-such-commit' is no commit of "
size 1 "HEAD:docs"
says "'HEAD:docs' is no commit"
size 1 --times no-such-folder
says "in 'no-such-folder' no ctest has run"
rm "$temporary"/*
size 1 --times build
says "no ctest in 'build' has ended: there is no $tree/$temporary"
size 2 --times
says '--times needs a build folder'
size 2 --time build
says "'--time' is no option and no commit"
size 2 HEAD main
says "'main' is another beside 'HEAD'"
