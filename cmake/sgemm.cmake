# SPDX-License-Identifier: Apache-2.0
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
