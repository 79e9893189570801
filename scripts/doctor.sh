# SPDX-License-Identifier: Apache-2.0
# The verb doctor; sourced by ./sinter.

row() { printf '  %-9s %-16s %s\n' "$@"; }  # STATE NAME DETAIL

need() {  # NAME FOUND MEND: FOUND is what was found, or empty; MEND is what to do then
  if [[ -n $2 ]]; then row ok "$1" "$2"; else row missing "$1" "$3"; lacking+=("$1"); fi
}

wish() {  # the same for what the verb run can do without
  if [[ -n $2 ]]; then row ok "$1" "$2"; else row absent "$1" "$3"; fi
}

path_of() { command -v "$1" || true; }
apt() { printf 'apt-get install %s' "$1"; }

describe_libtorch() {  # FOLDER VERSION
  local library=$1/lib/libtorch_cpu.so unresolved gemm
  unresolved=$(ldd "$library" 2>/dev/null | awk '/not found/ { print $1 }')
  if [[ -n $unresolved ]]; then
    need LibTorch '' "$1 lacks $(tr '\n' ' ' <<<"$unresolved"): remove that folder; ./sinter run fetches it anew"
    return
  fi
  need LibTorch "$2 in $1" ''
  have nm || return 0
  gemm=$(nm -D --defined-only "$library" | awk '{ print $3 }' | grep -cxE 'sgemm_|dgemm_') || true
  wish 'matrix product' "$([[ $gemm == 2 ]] && echo 'sgemm_ and dgemm_ are exported by libtorch_cpu')" \
    "this LibTorch exports no sgemm_: Sinter's own matrix products multiply"
}

check_libtorch() {
  local found
  if ! have cmake; then need LibTorch '' 'cmake is needed to look for it'; return; fi
  if ! found=$(libtorch 2>&1); then
    need LibTorch '' "$(tr -s ' \n' ' ' <<<"$found" | sed 's/.*(message): //; s/ Call Stack .*//')"
  elif [[ -z ${found// /} ]]; then
    need LibTorch '' "./sinter run downloads it, or: python3 scripts/fetch_libtorch.py, or set Torch_DIR"
    need 'python3, pip' "$(find_python || true)" "$(apt python3-pip)"
  else
    describe_libtorch "${found% *}" "${found##* }"
  fi
}

instruction_set() {
  local flag
  for flag in amx_bf16 avx512_bf16 avx512f avx2 avx asimd sse4_2; do
    if grep -qwm 1 "$flag" /proc/cpuinfo; then echo "$flag"; return; fi
  done
  echo 'no vector instructions known to this script'
}

nvidia_driver() {
  local cache
  cache=$(ldconfig -p 2>/dev/null || /sbin/ldconfig -p 2>/dev/null) || return 0
  awk '$1 == "libcuda.so.1" { print $NF; exit }' <<<"$cache"
}

verb_doctor() {
  local lacking=() header memory name
  echo 'To run:'
  name=$(find_compiler 2>&1) || true
  if [[ $name == sinter:* ]]; then need compiler '' "${name#sinter: }"; else
    need compiler "${name:+$name $("$name" -dumpversion)}" "$(apt g++)   (g++ 12 or clang++ 19, or newer)"
  fi
  need cmake "$(cmake_fits && cmake --version | head -n 1 || true)" "$(apt cmake)   (3.25 or newer)"
  need ninja "$(path_of ninja)" "$(apt ninja-build)"
  need xz "$(path_of xz)" "$(apt xz-utils)"
  for header in "${headers[@]}"; do
    need "${header%:*}" "$(has_header "${header%:*}" && echo found || true)" "$(apt "${header#*:}")"
  done
  check_libtorch

  echo 'To test:'
  wish doctest "$(has_header doctest/doctest.h && echo found || true)" "$(apt doctest-dev)"
  wish clang-format-19 "$(path_of clang-format-19)" "$(apt clang-format-19)"

  echo 'For ./sinter checks:'
  wish clang++-19 "$(path_of clang++-19)" "$(apt clang-19)"
  wish clang-tidy-19 "$(path_of clang-tidy-19)" "$(apt clang-tidy-19)"
  wish llvm-symbolizer-19 "$(path_of llvm-symbolizer-19)" "$(apt llvm-19)"
  wish 'sanitizers of clang 19' "$(has_fuzzer && echo found || true)" "$(apt libclang-rt-19-dev)"

  echo "For SentencePiece's models:"
  wish sentencepiece "$(has_header sentencepiece_processor.h && echo found || true)" "$(apt libsentencepiece-dev)"

  echo 'For NVIDIA GPUs, ./sinter build --cuda:'
  name=$(have cmake && cmake -P "$root/cmake/locate_cuda.cmake" 2>/dev/null) || name=
  wish 'CUDA 13' "$name" './sinter build --cuda fetches it (740 MB), or: python3 scripts/fetch_cuda.py'
  wish driver "$(nvidia_driver)" 'no libcuda.so.1: binaries are built here, and run where there is one'

  echo 'For ./sinter pack:'
  wish patchelf "$(path_of patchelf)" "$(apt patchelf)"
  wish zstd "$(path_of zstd)" "$(apt zstd)"

  echo 'To build faster:'
  wish ccache "$(path_of ccache)" "$(apt ccache)"
  wish mold "$(path_of mold)" "$(apt mold)"

  memory=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
  echo 'This machine:'
  row "" cores "$(nproc)"
  row "" instructions "$(instruction_set)"
  if ((memory >= 2048)); then row ok memory "$memory MiB free"; else
    row low memory "$memory MiB free; compiling a recipe needs 2048: close other programs"
  fi

  echo
  if ((${#lacking[@]})); then
    printf 'Not ready, missing: %s.\n./sinter run installs what apt and pip have; with no right to, see the lines above.\n' \
      "$(printf '%s, ' "${lacking[@]}" | sed 's/, $//')"
    return 1
  fi
  echo 'Ready: ./sinter run'
}
