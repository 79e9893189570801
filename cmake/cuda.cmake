# SPDX-License-Identifier: Apache-2.0
# CUDA's compiler, and the libraries that binaries for NVIDIA GPUs load, as imported targets.
include("${CMAKE_CURRENT_LIST_DIR}/locate_cuda.cmake")

# Switches on CUDA's compiler of ROOT, with the same compiler behind it that compiles the rest.
macro(sinter_enable_cuda root)
  set(CMAKE_CUDA_COMPILER "${root}/bin/nvcc")
  set(CMAKE_CUDA_HOST_COMPILER "${CMAKE_CXX_COMPILER}")
  # Code for these, and code that drivers translate for any newer one.
  set(CMAKE_CUDA_ARCHITECTURES "80;90" CACHE STRING "Compute capabilities of the cards, times 10")
  set(CMAKE_CUDA_RUNTIME_LIBRARY None)
  if(SINTER_CCACHE)
    set(CMAKE_CUDA_COMPILER_LAUNCHER "${SINTER_CCACHE}")
  endif()
  enable_language(CUDA)
  foreach(library cublasLt cudart)
    sinter_cuda_library("${root}" "lib${library}.so.13" file)
    add_library(Sinter::${library} SHARED IMPORTED GLOBAL)
    set_target_properties(Sinter::${library} PROPERTIES IMPORTED_LOCATION "${file}"
      IMPORTED_SONAME "lib${library}.so.13")
  endforeach()
  sinter_locate_nccl("${root}" SINTER_NCCL_INCLUDE nccl)
  if(nccl)
    add_library(Sinter::nccl SHARED IMPORTED GLOBAL)
    set_target_properties(Sinter::nccl PROPERTIES IMPORTED_LOCATION "${nccl}" IMPORTED_SONAME libnccl.so.2)
  else()
    message(STATUS "NCCL was not found: recipes for GPUs with ranks (Ddp) will compile, but not start")
  endif()
endmacro()
