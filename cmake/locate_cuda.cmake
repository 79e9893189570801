# SPDX-License-Identifier: Apache-2.0
# Finds what binaries for NVIDIA GPUs are built with, for CMakeLists.txt and for the script ./sinter
# alike, which asks with
#   cmake -P cmake/locate_cuda.cmake
# and reads a folder or a blank line from standard output.
#
# It looks in this order: CUDAToolkit_ROOT (as a variable, then in the environment), CUDA_HOME, the
# folder of an nvcc on PATH, /usr/local/cuda, the user's cache (scripts/fetch_cuda.py).
include("${CMAKE_CURRENT_LIST_DIR}/cache_folder.cmake")

# Sets RESULT to the file of a library in ROOT, or to "".
function(sinter_cuda_library root name result)
  set(${result} "" PARENT_SCOPE)
  foreach(folder lib64 lib)
    if(EXISTS "${root}/${folder}/${name}")
      set(${result} "${root}/${folder}/${name}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# Sets RESULT to what ROOT lacks of CUDA 13, in words, or to "".
function(sinter_cuda_lacks root result)
  set(lacks "")
  foreach(file bin/nvcc include/cublasLt.h)
    if(NOT EXISTS "${root}/${file}")
      list(APPEND lacks "${file}")
    endif()
  endforeach()
  foreach(library cublasLt cudart)
    sinter_cuda_library("${root}" "lib${library}.so.13" file)
    if(NOT file)
      list(APPEND lacks "lib/lib${library}.so.13")
    endif()
  endforeach()
  list(JOIN lacks ", " lacks)
  set(${result} "${lacks}" PARENT_SCOPE)
endfunction()

# Sets INCLUDE to the folder of NCCL's header and LIBRARY to its file, or both to "": beside CUDA in ROOT,
# where PyPI's wheel puts it, or among the system's.
function(sinter_locate_nccl root include library)
  set(${include} "" PARENT_SCOPE)
  set(${library} "" PARENT_SCOPE)
  foreach(folder "${root}" "${root}/../nccl" /usr)
    set(file "")
    foreach(name lib64 lib lib/x86_64-linux-gnu lib/aarch64-linux-gnu)
      if(NOT file AND EXISTS "${folder}/${name}/libnccl.so.2")
        set(file "${folder}/${name}/libnccl.so.2")
      endif()
    endforeach()
    if(file AND EXISTS "${folder}/include/nccl.h")
      set(${include} "${folder}/include" PARENT_SCOPE)
      set(${library} "${file}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# Sets ROOT to CUDA's folder, or to "" where there is none. A folder that is named must be one.
function(sinter_locate_cuda root)
  set(${root} "" PARENT_SCOPE)
  foreach(named "${CUDAToolkit_ROOT}" "$ENV{CUDAToolkit_ROOT}" "$ENV{CUDA_HOME}")
    if(named)
      sinter_cuda_lacks("${named}" lacks)
      if(lacks)
        message(FATAL_ERROR "CUDAToolkit_ROOT or CUDA_HOME names ${named}, which is no CUDA 13 with all "
          "that Sinter needs: it lacks ${lacks}. Correct it, or unset it: CUDA is then looked for.")
      endif()
      set(${root} "${named}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(candidates "")
  find_program(nvcc nvcc NO_CACHE)
  if(nvcc)
    file(REAL_PATH "${nvcc}" nvcc)
    cmake_path(GET nvcc PARENT_PATH folder)
    cmake_path(GET folder PARENT_PATH folder)
    list(APPEND candidates "${folder}")
  endif()
  sinter_cache_folder(cache)
  list(APPEND candidates /usr/local/cuda "${cache}/cuda-13.0/nvidia/cu13")
  foreach(candidate IN LISTS candidates)
    sinter_cuda_lacks("${candidate}" lacks)
    if(NOT lacks)
      set(${root} "${candidate}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  sinter_locate_cuda(root)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E echo "${root}")
endif()
