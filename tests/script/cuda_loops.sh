# SPDX-License-Identifier: Apache-2.0
# No loop in the kernels for CUDA is the statement of an `if constexpr` without braces: where nvcc 13.0
# discards one that has an unrolled loop in it, it leaves out the next unrolled loop as well, and says
# nothing (docs/add_a_kernel.md).
. "$root/tests/script/lib/check.bash"
cd "$root"

loops_without_braces() {  # FILE…
  awk '
    held && /^ *(SINTER_UNROLL|for|while|do)/ { print FILENAME ":" FNR - 1 ": " held }
    { held = /if constexpr/ && !/[{;] *$/ ? $0 : "" }
  ' "$@"
}

printf '  if constexpr (X)\n    for (int i = 0; i < n; ++i) f(i);\n' >"$scratch/bad.cu"
printf '  if constexpr (X) {\n    for (int i = 0; i < n; ++i) f(i);\n  }\n' >"$scratch/good.cu"
[[ -n $(loops_without_braces "$scratch/bad.cu") ]] || fail 'a loop without braces is not found'
[[ -z $(loops_without_braces "$scratch/good.cu") ]] || fail 'a loop with braces is taken for one without'

found=$(loops_without_braces src/kernels/cuda/*.{cu,hpp} src/hardware/cuda/*.{cu,hpp} src/comm/nccl/*.cu)
[[ -z $found ]] || fail "give these loops braces:"$'\n'"$found"
