# SPDX-License-Identifier: Apache-2.0
# Runs one case of tests/reject on one compiler:
#   cmake -DFILE=case.cpp -DCOMMAND="g++|-std=c++20|-fsyntax-only|…" -P cmake/reject.cmake
# The case passes if compiling fails with exactly one error, whose text holds the fragment that the
# file's first line below the licence's names, and those of the lines "// and: <fragment>" below it. Notes are not
# counted; quoted source lines are switched off, so that a message cannot be found in them.
file(READ "${FILE}" text)
string(REGEX REPLACE "^// SPDX-[^\n]*\n" "" text "${text}")
string(REGEX REPLACE "\n.*" "" first_line "${text}")
if(NOT first_line MATCHES "^// Must not compile: (.+)$")
  message(FATAL_ERROR "The first line of ${FILE} below the licence's is '${first_line}'. Expected: "
    "// Must not compile: <a fragment of the message that must come>")
endif()
set(fragments "${CMAKE_MATCH_1}")
string(REGEX MATCHALL "\n// and: [^\n]+" more "${text}")
list(TRANSFORM more REPLACE "\n// and: " "")
list(APPEND fragments ${more})

set(ENV{LC_ALL} C)
string(REPLACE "|" ";" COMMAND "${COMMAND}")
execute_process(COMMAND ${COMMAND} "${FILE}"
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)

string(REGEX REPLACE "[][;]" "," plain "\n${output}") # so that it can become a list
string(REGEX MATCHALL "\n[^\n]*: (fatal )?error: " errors "${plain}")
list(LENGTH errors errors)

set(missed "")
if(status EQUAL 0)
  set(missed "it compiles")
else()
  foreach(fragment IN LISTS fragments)
    string(FIND "${output}" "${fragment}" position)
    if(position EQUAL -1)
      list(APPEND missed "no message holds '${fragment}'")
    endif()
  endforeach()
  if(NOT errors EQUAL 1)
    list(APPEND missed "${errors} errors come, expected exactly one")
  endif()
endif()
if(missed)
  list(GET COMMAND 0 compiler)
  list(JOIN missed "; " missed)
  message("${output}")
  message(FATAL_ERROR "${FILE} on ${compiler}: ${missed}. The compiler's output is above.")
endif()
