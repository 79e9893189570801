# SPDX-License-Identifier: Apache-2.0
# The executor's own instructions for each kernel call (bench/zero_overhead.cpp) have a ceiling:
# callgrind counts them exactly: 17.5 with this compiler, and some 0.1 more where glibc has other copies
# for the processor.
. "$root/tests/script/lib/check.bash"
ceiling=17.8 compiler=g++-12

case $("$CXX" --version | head -n 1) in *clang*) used=clang++ ;; *) used=g++ ;; esac
used+=-$("$CXX" -dumpversion)
if [[ $used != "$compiler" ]]; then echo "skipped: the ceiling is of $compiler, this is $used"; exit; fi
if ! command -v valgrind >/dev/null; then
  [[ $SINTER_CI != ON ]] || fail 'valgrind is missing. apt-get install valgrind'
  echo 'skipped: valgrind is not installed (apt-get install valgrind)'
  exit
fi

expect 0 "$sinter" bench zero-overhead
counted=$(sed -nE 's/^\| difference for each of [0-9]+ kernel calls \| (.*) \|$/\1/p' "$scratch/output")
[[ -n $counted ]] || fail 'the bench names no difference for each kernel call'
awk -v counted="$counted" -v ceiling=$ceiling 'BEGIN { exit !(counted <= ceiling) }' ||
  fail "$counted instructions for each kernel call; the ceiling is $ceiling"
echo "$counted instructions for each kernel call; the ceiling is $ceiling"
