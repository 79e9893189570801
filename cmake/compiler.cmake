# SPDX-License-Identifier: Apache-2.0
# The compiler, the build type, and how Sinter's own code is compiled.

if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
    OR (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 19))
  message(FATAL_ERROR "${CMAKE_CXX_COMPILER} is ${CMAKE_CXX_COMPILER_ID} "
    "${CMAKE_CXX_COMPILER_VERSION}. Sinter needs g++ 12 or clang++ 19, or newer: recipes pass "
    "option aggregates as template arguments. Name one with -DCMAKE_CXX_COMPILER=…")
endif()

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo" FORCE)
  endif()
  set(CMAKE_CXX_EXTENSIONS OFF)
  find_program(SINTER_CCACHE ccache)
  if(SINTER_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${SINTER_CCACHE}")
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang") # else each clone precompiles, and so compiles, all anew
      add_compile_options("SHELL:$<$<COMPILE_LANGUAGE:CXX>:-Xclang -fno-pch-timestamp>")
    endif()
  endif()
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=mold SINTER_HAS_MOLD)
  if(SINTER_HAS_MOLD)
    add_link_options(-fuse-ld=mold)
  endif()
  if(SINTER_SANITIZE)
    set(sanitize -fsanitize=${SINTER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_compile_options(${sanitize})
    add_link_options(${sanitize})
    # The address sanitizer sees a null or foreign pointer, too, when it is used. To check each pointer also as such
    # takes a tenth of the time to compile, of kernels up to most of it: a soak does it.
    if(SINTER_SANITIZE MATCHES "undefined" AND NOT SINTER_SOAK)
      add_compile_options(-fno-sanitize=null,object-size,pointer-overflow,nonnull-attribute,returns-nonnull-attribute)
    endif()
  endif()
elseif(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  message(WARNING "Sinter is built without optimisation, and trains many times slower than it "
    "could: the project that it is a part of sets no build type. Configure it with "
    "-DCMAKE_BUILD_TYPE=Release.")
endif()

# Compiles our own code with warnings, and makes errors of them where the option says so.
function(sinter_own_code target)
  target_compile_options(${target} PRIVATE -Wall -Wextra $<$<BOOL:${SINTER_WERROR}>:-Werror>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict) # false alarms: GCC PR105329
  endif()
endfunction()

# Makes a target a library of ring 2, whose files may include others of src/ by their path below it.
# Each function is a section of its own, so that programs can leave out what they do not call.
function(sinter_library target)
  sinter_own_code(${target})
  sinter_compile_in_memory(${target})
  target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections)
  target_link_libraries(${target} PUBLIC sinter_headers)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
endfunction()

# Lets a build for tests (presets dev, ci) compile a recipe without optimisation: what it computes is in the library.
function(sinter_compile_soon target)
  target_compile_options(${target} PRIVATE $<$<BOOL:${SINTER_ASSERTIONS}>:-O0>)
endfunction()

# Lets the targets of recipes, one FILE each, share sinter/sinter.hpp precompiled: parsing it takes half of
# the time of a recipe, each time that it is compiled.
function(sinter_share_headers target file)
  sinter_compile_soon(${target})
  file(STRINGS "${file}" all REGEX "^#include <sinter/sinter.hpp>" LIMIT_COUNT 1)
  sinter_find_torch_code(torch_code "${file}")
  if(NOT SINTER_PRECOMPILE OR NOT all OR torch_code)
    return()
  endif()
  if(NOT TARGET sinter_shared_headers) # compiled as recipes are, or they could not use it
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/shared_headers.cpp" CONTENT "")
    add_library(sinter_shared_headers OBJECT "${PROJECT_BINARY_DIR}/shared_headers.cpp")
    target_link_libraries(sinter_shared_headers PRIVATE Sinter::sinter)
    set_target_properties(sinter_shared_headers PROPERTIES CXX_EXTENSIONS OFF
      JOB_POOL_COMPILE sinter_heavy)
    sinter_own_code(sinter_shared_headers)
    sinter_compile_in_memory(sinter_shared_headers)
    sinter_compile_soon(sinter_shared_headers)
    target_precompile_headers(sinter_shared_headers PRIVATE <sinter/sinter.hpp>)
  endif()
  target_precompile_headers(${target} REUSE_FROM sinter_shared_headers)
endfunction()
