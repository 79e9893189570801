# SPDX-License-Identifier: Apache-2.0
# Sinter::libtorch is LibTorch's CPU half (libtorch_cpu and libc10), wherever it comes from.
#
# find_package(Torch) is not used: on a CUDA build it demands nvcc, and it links libtorch.so, which
# pulls in libtorch_cuda and 2 GB of packages. The libraries' own RPATH finds what they need.
include("${CMAKE_CURRENT_LIST_DIR}/locate_libtorch.cmake")

# Sets FOLDER and VERSION to LibTorch's and makes the target, or sets PROBLEM to what to do where
# there is none.
function(sinter_find_libtorch folder version problem)
  sinter_locate_libtorch(found its_version)
  set(${folder} "${found}" PARENT_SCOPE)
  set(${version} "${its_version}" PARENT_SCOPE)
  if(NOT found)
    sinter_libtorch_cache(cache)
    set(script "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/fetch_libtorch.py") # as it is installed
    if(NOT EXISTS "${script}")
      cmake_path(SET script NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../scripts/fetch_libtorch.py")
    endif()
    string(CONCAT text "LibTorch was not found: Torch_DIR is not set, CMAKE_PREFIX_PATH names "
      "none, and ${cache} does not exist. Run this once (it downloads 545 MB):\n"
      "  python3 ${script}\n"
      "or name one that you have: -DTorch_DIR=FOLDER, where FOLDER holds TorchConfig.cmake.")
    set(${problem} "${text}" PARENT_SCOPE)
    return()
  endif()
  set(${problem} "" PARENT_SCOPE)
  if(TARGET Sinter::libtorch)
    return()
  endif()
  foreach(library c10 torch_cpu)
    add_library(Sinter::${library} SHARED IMPORTED GLOBAL)
    set_target_properties(Sinter::${library} PROPERTIES
      IMPORTED_LOCATION "${found}/lib/lib${library}.so"
      IMPORTED_SONAME "lib${library}.so")
  endforeach()
  add_library(Sinter::libtorch INTERFACE IMPORTED GLOBAL)
  target_include_directories(Sinter::libtorch INTERFACE
    "${found}/include" "${found}/include/torch/csrc/api/include")
  target_link_libraries(Sinter::libtorch INTERFACE Sinter::torch_cpu Sinter::c10)
endfunction()
