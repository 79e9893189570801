# SPDX-License-Identifier: Apache-2.0
# How Sinter is configured as a part of another project:
#   cmake -DPROJECT=folder -DBUILD=folder "-DOPTIONS=-DSINTER_SOURCE=…|…" -P settings.cmake
# Nothing is built; what the compiler would be called with stands in compile_commands.json.
string(REPLACE "|" ";" options "${OPTIONS}")
function(configure)
  file(REMOVE_RECURSE "${BUILD}")
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${PROJECT}" -B "${BUILD}" -G Ninja
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON ${options} ${ARGN}
    OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "Configuring failed:\n${said}")
  endif()
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  set(said "${said}" PARENT_SCOPE)
  file(READ "${BUILD}/compile_commands.json" commands)
  string(REGEX MATCH "\"command\": \"[^\n]*my_project.cpp" command "${commands}")
  set(command "${command}" PARENT_SCOPE)
endfunction()
function(expect text pattern what)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "${what}\nExpected '${pattern}' in:\n${text}")
  endif()
endfunction()

configure()
file(STRINGS "${BUILD}/build.ninja" own REGEX "bytes_gpt2|sinter_test_main")
if(own)
  message(FATAL_ERROR "Sinter brought targets of its own into the project: ${own}")
endif()
expect("${said}" "Sinter is built without optimisation.*-DCMAKE_BUILD_TYPE=Release"
  "Without a build type nothing is said.")
expect("${command}" "-isystem [^ ]*/include" "Sinter's headers are not those of a system.")
if(command MATCHES "UNDEBUG|_GLIBCXX_ASSERTIONS")
  message(FATAL_ERROR "There are assertions that nobody asked for:\n${command}")
endif()

configure(-DCMAKE_BUILD_TYPE=Release -DSINTER_ASSERTIONS=ON)
if(said MATCHES "without optimisation")
  message(FATAL_ERROR "A build type is set, and is said to be missing:\n${said}")
endif()
expect("${command}" "-D_GLIBCXX_ASSERTIONS.* -DNDEBUG.* -UNDEBUG"
  "SINTER_ASSERTIONS does not reach the program that includes Sinter's headers.")
