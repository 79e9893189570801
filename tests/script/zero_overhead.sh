# SPDX-License-Identifier: Apache-2.0
# The executor's own instructions in a step (bench/zero_overhead.cpp) have a ceiling: callgrind counts
# them exactly: 2116 with this compiler, and some 12 more where glibc has other copies for the processor.
# (Not for each kernel call: a program that calls fewer kernels would be over it.)
. "$root/tests/script/lib/check.bash"
ceiling=2150 compiler=g++-12

case $("$CXX" --version | head -n 1) in *clang*) used=clang++ ;; *) used=g++ ;; esac
used+=-$("$CXX" -dumpversion)
if [[ $used != "$compiler" ]]; then echo "skipped: the ceiling is of $compiler, this is $used"; exit; fi
if ! command -v valgrind >/dev/null; then
  [[ $SINTER_CI != ON ]] || fail 'valgrind is missing. apt-get install valgrind'
  echo 'skipped: valgrind is not installed (apt-get install valgrind)'
  exit
fi

expect 0 "$sinter" bench zero-overhead
counted=$(sed -nE 's/^\| difference \| (.*) \|$/\1/p' "$scratch/output")
[[ -n $counted ]] || fail 'the bench names no difference'
((counted <= ceiling)) || fail "$counted instructions in a step; the ceiling is $ceiling"
echo "$counted instructions in a step; the ceiling is $ceiling"
