# SPDX-License-Identifier: Apache-2.0
# Compiles one case of a room's file in tests/reject on one compiler:
#   cmake -DFILE=model.cpp -DCASE=heads -DALONE=heads.cpp -DCOMMAND="g++|-std=c++20|…" \
#     -DPRECOMPILED="-include|headers.hpp" -P cmake/reject.cmake
# It cuts out what stands above the file's first case, and the case, and writes both to ALONE, which is
# compiled. The case passes if that fails with exactly one error, whose text holds the message in the case's
# first line and all that the lines "// and: A and: B" below it name. Notes are not counted; quoted source
# lines are switched off, so that a message cannot be found in them. A case that declares mine and does
# not name <mine> is asked for ready<mine>(). One with a line "// Compiled with: FLAG" gets that flag
# instead of PRECOMPILED.
#
# With an empty CASE, what stands above the first case must compile.
file(READ "${FILE}" text)
set(begin "\n// Must not compile")
string(FIND "${text}" "${begin}" end)
string(SUBSTRING "${text}" 0 ${end} code)
if(NOT CASE STREQUAL "")
  if(NOT text MATCHES "${begin}( \\(quick\\))?, ${CASE}: ([^\n]+)((\n// and: [^\n]+)*)")
    message(FATAL_ERROR "${FILE} has no line '// Must not compile, ${CASE}: <the message that must come>'")
  endif()
  set(first_line "${CMAKE_MATCH_0}")
  string(REPLACE "\n//" "" wanted " and: ${CMAKE_MATCH_2}${CMAKE_MATCH_3}")
  string(FIND "${text}" "${first_line}" start)
  string(SUBSTRING "${text}" 0 ${start} above)
  string(REGEX MATCHALL "\n" lines "${above}")
  list(LENGTH lines line)
  math(EXPR line "${line} + 2")
  math(EXPR start "${start} + 1")
  string(SUBSTRING "${text}" ${start} -1 case)
  string(FIND "${case}" "${begin}" end)
  string(SUBSTRING "${case}" 0 ${end} case)
  if(case MATCHES "struct mine" AND NOT case MATCHES "<mine>")
    string(APPEND case "\nconstexpr bool checked = ready<mine>();")
  endif()
  if(case MATCHES "\n// Compiled with: ([^\n]+)")
    set(PRECOMPILED "${CMAKE_MATCH_1}")
  endif()
  string(APPEND code "\n#line ${line} \"${FILE}\"\n${case}")
endif()
file(WRITE "${ALONE}" "${code}\n")

set(ENV{LC_ALL} C)
string(REPLACE "|" ";" COMMAND "${COMMAND}|${PRECOMPILED}")
execute_process(COMMAND ${COMMAND} "${ALONE}"
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)

string(REGEX REPLACE "[][;]" "," plain "\n${output}") # so that it can become a list
string(REGEX MATCHALL "\n[^\n]*: (fatal )?error: " errors "${plain}")
list(LENGTH errors errors)

set(missed "")
if(CASE STREQUAL "")
  if(NOT status EQUAL 0)
    set(missed "what stands above the first case does not compile")
  endif()
elseif(status EQUAL 0)
  set(missed "it compiles")
else()
  while(wanted MATCHES "^(.*) and: (.+)$")
    set(wanted "${CMAKE_MATCH_1}")
    string(FIND "${output}" "${CMAKE_MATCH_2}" position)
    if(position EQUAL -1)
      string(APPEND missed "no message holds '${CMAKE_MATCH_2}'; ")
    endif()
  endwhile()
  if(NOT errors EQUAL 1)
    string(APPEND missed "${errors} errors come, expected exactly one")
  endif()
endif()
if(missed)
  list(GET COMMAND 0 compiler)
  message("${output}")
  message(FATAL_ERROR "${FILE} ${CASE} on ${compiler}: ${missed}. The compiler's output is above.")
endif()
