# SPDX-License-Identifier: Apache-2.0
# Includes sinter/sinter.hpp, which must compile without warnings and reach every public header:
#   cmake -DINCLUDE=folder "-DHEADERS=a.hpp|…" "-DCOMMAND=g++|-std=c++20|…" -P all_headers.cmake
string(REPLACE "|" ";" HEADERS "${HEADERS}")
string(REPLACE "|" ";" COMMAND "${COMMAND}")
set(all "${INCLUDE}/sinter/sinter.hpp")
execute_process(COMMAND ${COMMAND} -include "${all}" -x c++ /dev/null
  RESULT_VARIABLE status ERROR_VARIABLE said)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "sinter/sinter.hpp does not compile without warnings:\n${said}")
endif()
execute_process(COMMAND ${COMMAND} -w -MM -x c++ "${all}" OUTPUT_VARIABLE reached)
string(REGEX REPLACE "[ \\\n]+" ";" reached "${reached}")
set(missing ${HEADERS})
list(REMOVE_ITEM missing ${reached})
if(missing)
  list(JOIN missing "\n  " missing)
  message(FATAL_ERROR "sinter/sinter.hpp does not reach\n  ${missing}\nInclude them there.")
endif()
