# SPDX-License-Identifier: Apache-2.0
# Finds LibTorch, for CMakeLists.txt and for the script ./sinter alike, which asks with
#   cmake [-DTorch_DIR=…] -P cmake/locate_libtorch.cmake
# and reads "FOLDER VERSION" or a blank line from standard output.
#
# It looks in this order: Torch_DIR, CMAKE_PREFIX_PATH (each as a variable, then in the
# environment), the one that an installed Sinter was built with (SINTER_BUILT_WITH_LIBTORCH), the
# user's cache (scripts/fetch_libtorch.py). Torch_DIR must name a LibTorch.

include("${CMAKE_CURRENT_LIST_DIR}/cache_folder.cmake")

set(SINTER_LIBTORCH_OLDEST 2.7) # the first whose wheels have the C++11 ABI

# Sets RESULT to the folder at or up to three levels above PATH that holds a LibTorch, or to "".
# (TorchConfig.cmake lies in FOLDER/share/cmake/Torch, torch.utils.cmake_prefix_path is two above.)
function(sinter_libtorch_around path result)
  cmake_path(ABSOLUTE_PATH path NORMALIZE)
  set(${result} "" PARENT_SCOPE)
  foreach(level RANGE 3)
    if(EXISTS "${path}/lib/libtorch_cpu.so" AND EXISTS "${path}/include/ATen/core/Tensor.h")
      set(${result} "${path}" PARENT_SCOPE)
      return()
    endif()
    cmake_path(GET path PARENT_PATH path)
  endforeach()
endfunction()

function(sinter_libtorch_version root result)
  set(${result} "" PARENT_SCOPE)
  foreach(header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
    if(EXISTS "${root}/include/${header}")
      file(READ "${root}/include/${header}" text)
      if(text MATCHES "TORCH_VERSION[ \\\n]*\"([0-9.]+)")
        set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
endfunction()

function(sinter_libtorch_cache result)
  file(STRINGS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/libtorch.txt" pin REGEX "^torch==")
  string(REGEX MATCH "==([0-9.]+)" pin "${pin}")
  sinter_cache_folder(cache)
  set(${result} "${cache}/libtorch-${CMAKE_MATCH_1}/torch" PARENT_SCOPE)
endfunction()

# Sets ROOT to LibTorch's folder ("" where there is none) and VERSION to its version.
function(sinter_locate_libtorch root version)
  set(found "")
  foreach(named "${Torch_DIR}" "$ENV{Torch_DIR}")
    if(named AND NOT found AND NOT named MATCHES "-NOTFOUND$")
      sinter_libtorch_around("${named}" found)
      if(NOT found)
        message(FATAL_ERROR "Torch_DIR names ${named}, but there is no LibTorch there. Expected "
          "lib/libtorch_cpu.so and include/ATen/core/Tensor.h in that folder or up to three above "
          "it. Correct Torch_DIR, or unset it: Sinter then uses its own pinned LibTorch.")
      endif()
    endif()
  endforeach()
  string(REPLACE ":" ";" from_environment "$ENV{CMAKE_PREFIX_PATH}")
  foreach(prefix IN LISTS CMAKE_PREFIX_PATH from_environment)
    if(NOT found)
      sinter_libtorch_around("${prefix}" found)
    endif()
  endforeach()
  if(NOT found AND SINTER_BUILT_WITH_LIBTORCH)
    sinter_libtorch_around("${SINTER_BUILT_WITH_LIBTORCH}" found)
  endif()
  if(NOT found)
    sinter_libtorch_cache(cache)
    sinter_libtorch_around("${cache}" found)
  endif()
  if(found)
    sinter_libtorch_version("${found}" its_version)
    if(its_version VERSION_LESS SINTER_LIBTORCH_OLDEST)
      message(FATAL_ERROR "The LibTorch in ${found} is version '${its_version}'. Sinter needs "
        "${SINTER_LIBTORCH_OLDEST} or newer. Name a newer one with Torch_DIR, or unset Torch_DIR "
        "and CMAKE_PREFIX_PATH: Sinter then uses its own pinned LibTorch.")
    endif()
    set(${version} "${its_version}" PARENT_SCOPE)
  endif()
  set(${root} "${found}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  sinter_locate_libtorch(root version)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E echo "${root} ${version}")
endif()
