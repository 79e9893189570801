# SPDX-License-Identifier: Apache-2.0
# The two compilers on which compile-time checks run. SINTER_CHECKERS lists their names (GNU,
# Clang). SINTER_CHECKER_<name> is the program; where there is none, it is empty, and its checks are
# skipped and say so (with SINTER_CI that is an error).

function(sinter_find_checker id oldest)
  if(CMAKE_CXX_COMPILER_ID STREQUAL id)
    set(SINTER_CHECKER_${id} "${CMAKE_CXX_COMPILER}" PARENT_SCOPE)
    return()
  endif()
  foreach(name ${ARGN})
    find_program(SINTER_PROGRAM_${name} ${name})
    mark_as_advanced(SINTER_PROGRAM_${name})
    if(SINTER_PROGRAM_${name})
      execute_process(COMMAND "${SINTER_PROGRAM_${name}}" -dumpversion
        OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
      if(version VERSION_GREATER_EQUAL oldest)
        set(SINTER_CHECKER_${id} "${SINTER_PROGRAM_${name}}" PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
  if(SINTER_CI)
    message(FATAL_ERROR "No ${id} compiler of version ${oldest} or newer was found (looked for: "
      "${ARGN}). Install it, or configure without SINTER_CI: its checks are then skipped.")
  endif()
  set(SINTER_CHECKER_${id} "" PARENT_SCOPE)
endfunction()

set(SINTER_CHECKERS GNU Clang)
sinter_find_checker(GNU 12 g++-12 g++ g++-13 g++-14)
sinter_find_checker(Clang 19 clang++-19 clang++-20 clang++-21 clang++)

# Ring 1 may include our headers, and Hana's where they are not in the compiler's own folders.
set(SINTER_CHECKER_FLAGS -std=c++20 -fsyntax-only -fdiagnostics-color=never -Wall -Wextra
  "-I${PROJECT_SOURCE_DIR}/include" "-I${PROJECT_SOURCE_DIR}/tests")
if(NOT SINTER_HANA_INCLUDE STREQUAL "/usr/include")
  list(APPEND SINTER_CHECKER_FLAGS -isystem "${SINTER_HANA_INCLUDE}")
endif()

# sinter_add_check(NAME LABEL CHECKER COMMAND…) adds a CTest test that is skipped, with a message,
# where its checker is missing. Those of the compiler that does not build the tests, ./sinter checks runs.
function(sinter_add_check name label checker)
  if(SINTER_CHECKER_${checker})
    add_test(NAME "${name}" COMMAND ${ARGN})
  else()
    add_test(NAME "${name}" COMMAND "${CMAKE_COMMAND}" -E echo
      "skipped: no ${checker} compiler that is new enough is installed; ./sinter doctor says more")
    set_tests_properties("${name}" PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped: ")
  endif()
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL checker)
    list(APPEND label checks)
  endif()
  set_tests_properties("${name}" PROPERTIES LABELS "${label}" TIMEOUT 600)
endfunction()

# sinter_add_precompiled(CHECKER NAME LABEL HEADER USE FLAG…) adds the test NAME, which precompiles a public
# header, and sets USE to what a file is compiled with that shares it. Tests that do are to require
# the fixture NAME, so that ctest -R brings it along.
function(sinter_add_precompiled checker name label header use)
  string(MAKE_C_IDENTIFIER "${name}" file)
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${file}.hpp")
  file(CONFIGURE OUTPUT "${file}" CONTENT "#include <${header}>\n")
  if(checker STREQUAL "GNU") # looks for it beside the header
    set(precompiled "${file}.gch")
    set(${use} -include "${file}" PARENT_SCOPE)
  else()
    set(precompiled "${file}.pch")
    set(${use} -include-pch "${precompiled}" PARENT_SCOPE)
  endif()
  set(flags ${SINTER_CHECKER_FLAGS})
  list(REMOVE_ITEM flags -fsyntax-only)
  sinter_add_check("${name}" "${label}" ${checker} "${SINTER_CHECKER_${checker}}" ${flags} ${ARGN}
    -x c++-header "${file}" -o "${precompiled}")
  set_tests_properties("${name}" PROPERTIES FIXTURES_SETUP "${name}")
endfunction()
