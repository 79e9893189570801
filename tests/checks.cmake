# SPDX-License-Identifier: Apache-2.0
# What ./sinter checks asks of a sanitized build (presets asan and tsan): the target `checks` builds it,
# the CTest label `checks` runs it. Everything else there is a soak, by hand: build all, run ctest
# without a label.
add_custom_target(checks)

if(SINTER_SANITIZE MATCHES "address")
  set(chosen "^(unit|faults)/|^program/asan_arena$")
  # What these test, the compiler does, and they take a tenth of the time to compile; and sanitizers
  # are no processor to be measured.
  set(left_out "^unit/(recipe/.*|plan/.*|cli/matmul)$")
else()
  # What has threads of its own: streams, readers, ranks, saves.
  set(chosen "^unit/(kernels/stream|data/reader.*|comm/.*|batch/accumulation|cli/loop)$")
  set(left_out "^$")
endif()

foreach(source IN LISTS sources)
  string(REGEX REPLACE "\\.cpp$" "" name "${source}")
  if(name MATCHES "${chosen}" AND NOT name MATCHES "${left_out}")
    string(REPLACE "/" "_" target "test_${name}")
    add_dependencies(checks ${target})
    set_property(TEST ${prefix}${name} APPEND PROPERTY LABELS checks)
  endif()
endforeach()

if(SINTER_SANITIZE MATCHES "address")
  add_subdirectory(fuzz)

  # clang-tidy (.clang-tidy) over ring 2, but for kernels, which Highway compiles from macros.
  find_program(SINTER_CLANG_TIDY clang-tidy-19 REQUIRED)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/src"
    "${PROJECT_SOURCE_DIR}/src/*.cpp")
  list(FILTER files EXCLUDE REGEX "^kernels/")
  foreach(file IN LISTS files)
    add_test(NAME tidy/${file} COMMAND "${SINTER_CLANG_TIDY}" --quiet -p "${PROJECT_BINARY_DIR}"
      "${PROJECT_SOURCE_DIR}/src/${file}")
    set_tests_properties(tidy/${file} PROPERTIES LABELS "tidy;checks" TIMEOUT 600)
  endforeach()
endif()
