# SPDX-License-Identifier: Apache-2.0
# cmake -DMOST=N -DCOMMAND="g++|-std=c++20|…" -DHEADER=file.hpp -P lines.cmake: fails if the header has more than N lines
# once it is preprocessed. Each program that includes it parses them all.
string(REPLACE "|" ";" COMMAND "${COMMAND}")
execute_process(COMMAND ${COMMAND} -E -P -x c++ "${HEADER}" OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\n" lines "${text}")
list(LENGTH lines lines)
message("${HEADER}: ${lines} lines, preprocessed; the most are ${MOST}")
if(lines GREATER MOST)
  message(FATAL_ERROR "Include less, or move what few programs need into src/. If that cannot be, say why and raise the number.")
endif()
