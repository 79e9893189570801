# SPDX-License-Identifier: Apache-2.0
# Where CUDA is looked for, and what ./sinter build --cuda refuses before it builds.
. "$root/tests/script/lib/check.bash"
unset CUDAToolkit_ROOT CUDA_HOME

locate() { cmake -P "$root/cmake/locate_cuda.cmake"; }
toolkit() {  # FOLDER: makes one that has all that is looked for
  mkdir -p "$1"/{bin,include,lib}
  touch "$1"/bin/nvcc "$1"/include/cublasLt.h "$1"/lib/lib{cublasLt,cudart}.so.13
}

# One that is named is used, and must be whole.
toolkit "$scratch/first"
toolkit "$scratch/second"
CUDA_HOME=$scratch/first expect 0 locate
says "$scratch/first"
CUDA_HOME=$scratch/first CUDAToolkit_ROOT=$scratch/second expect 0 locate
says "$scratch/second"
rm "$scratch/second/lib/libcublasLt.so.13"
CUDA_HOME=$scratch/first CUDAToolkit_ROOT=$scratch/second expect 1 locate
says 'it lacks lib/libcublasLt.so.13'
CUDAToolkit_ROOT=$scratch/second expect 1 "$sinter" build --cuda
says 'it lacks lib/libcublasLt.so.13'

# An nvcc on PATH is that of its toolkit.
chmod +x "$scratch/first/bin/nvcc"
PATH=$scratch/first/bin:$PATH expect 0 locate
says "$scratch/first"

expect 1 "$sinter" build --cuda --fast
says "no other options: '--fast'"

found=$(locate)
[[ -n $found ]] || { echo 'skipped: CUDA 13 was not found'; exit 0; }
expect 1 "$sinter" build --cuda "$root/recipes/dialogue_gru.cpp"
says 'has layers that LibTorch computes'
