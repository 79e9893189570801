# SPDX-License-Identifier: Apache-2.0
# Sinter::libtorch is LibTorch's CPU half (libtorch_cpu and libc10), wherever it comes from.
#
# find_package(Torch) is not used: on a CUDA build it demands nvcc, and it links libtorch.so, which
# pulls in libtorch_cuda and 2 GB of packages. The libraries' own RPATH finds what they need.
include("${CMAKE_CURRENT_LIST_DIR}/locate_libtorch.cmake")

sinter_locate_libtorch(SINTER_LIBTORCH SINTER_LIBTORCH_VERSION)
if(NOT SINTER_LIBTORCH)
  sinter_libtorch_cache(cache)
  message(FATAL_ERROR "LibTorch was not found: Torch_DIR is not set, CMAKE_PREFIX_PATH names none, "
    "and ${cache} does not exist. Run this once (it downloads 545 MB):\n"
    "  python3 ${PROJECT_SOURCE_DIR}/scripts/fetch_libtorch.py\n"
    "or name one that you have: -DTorch_DIR=FOLDER, where FOLDER holds TorchConfig.cmake.")
endif()
message(STATUS "LibTorch ${SINTER_LIBTORCH_VERSION}: ${SINTER_LIBTORCH}")

foreach(library c10 torch_cpu)
  add_library(Sinter::${library} SHARED IMPORTED GLOBAL)
  set_target_properties(Sinter::${library} PROPERTIES
    IMPORTED_LOCATION "${SINTER_LIBTORCH}/lib/lib${library}.so"
    IMPORTED_SONAME "lib${library}.so")
endforeach()
add_library(Sinter::libtorch INTERFACE IMPORTED GLOBAL)
target_include_directories(Sinter::libtorch INTERFACE
  "${SINTER_LIBTORCH}/include" "${SINTER_LIBTORCH}/include/torch/csrc/api/include")
target_link_libraries(Sinter::libtorch INTERFACE Sinter::torch_cpu Sinter::c10)

# The wheels export MKL's Fortran matrix product. That is undocumented, so it is looked for anew
# whenever another LibTorch is used. SINTER_HAS_SGEMM says whether it was found.
if(NOT SINTER_SGEMM_CHECKED_IN STREQUAL SINTER_LIBTORCH)
  unset(SINTER_HAS_SGEMM CACHE)
endif()
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES Sinter::libtorch)
check_cxx_source_compiles([[
  extern "C" void sgemm_();
  extern "C" void dgemm_();
  int main() { sgemm_(); dgemm_(); }]] SINTER_HAS_SGEMM)
unset(CMAKE_REQUIRED_LIBRARIES)
set(SINTER_SGEMM_CHECKED_IN "${SINTER_LIBTORCH}" CACHE INTERNAL "where SINTER_HAS_SGEMM was found")
