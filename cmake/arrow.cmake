# SPDX-License-Identifier: Apache-2.0
# Sinter::parquet is Apache Arrow's reader of Parquet files, from the Python package pyarrow: its
# wheel has headers and libraries, but no configuration for CMake. It is not demanded: where there is
# none, data in Parquet are refused with a sentence that says how to build with it.
set(SINTER_ARROW "" CACHE STRING
  "Folder of the Python package pyarrow, or OFF; empty: that of the Python in SINTER_PYTHON, if any")

# Makes the target of a package's FOLDER and sets VERSION to Arrow's, or sets PROBLEM to what is
# wrong with the folder.
function(sinter_use_arrow folder version problem)
  set(config "")
  if(EXISTS "${folder}/include/arrow/util/config.h")
    file(READ "${folder}/include/arrow/util/config.h" config)
  endif()
  string(REGEX MATCH "ARROW_VERSION_STRING \"([0-9.]+)" match "${config}")
  set(its_version "${CMAKE_MATCH_1}")
  string(REGEX MATCH "ARROW_SO_VERSION \"([0-9]+)" match "${config}")
  set(so_version "${CMAKE_MATCH_1}")
  set(${version} "${its_version}" PARENT_SCOPE)
  set(${problem} "" PARENT_SCOPE)
  if(NOT its_version OR NOT EXISTS "${folder}/libparquet.so.${so_version}")
    set(${problem} "'${folder}' holds no headers and libraries of Apache Arrow" PARENT_SCOPE)
    return()
  elseif(its_version VERSION_LESS 26)
    set(${problem} "Arrow in '${folder}' is version ${its_version}, and 26 or newer is needed" PARENT_SCOPE)
    return()
  elseif(TARGET Sinter::parquet)
    return()
  endif()
  foreach(library arrow parquet)
    add_library(Sinter::${library} SHARED IMPORTED GLOBAL)
    set_target_properties(Sinter::${library} PROPERTIES
      IMPORTED_LOCATION "${folder}/lib${library}.so.${so_version}"
      IMPORTED_SONAME "lib${library}.so.${so_version}"
      INTERFACE_INCLUDE_DIRECTORIES "${folder}/include")
  endforeach()
  target_link_libraries(Sinter::parquet INTERFACE Sinter::arrow)
endfunction()

# Looks for the package, sets FOLDER and VERSION to its and makes the target, or sets FOLDER to
# nothing. One that is named and cannot be used is an error.
function(sinter_find_arrow folder version)
  set(${folder} "" PARENT_SCOPE)
  set(found "${SINTER_ARROW}")
  if(found STREQUAL "" AND NOT "$ENV{SINTER_PYTHON}" STREQUAL "")
    execute_process(OUTPUT_VARIABLE found ERROR_QUIET COMMAND "$ENV{SINTER_PYTHON}" -c
      "import importlib.util as u; p = u.find_spec('pyarrow'); print(p.submodule_search_locations[0] if p else '', end='')")
  endif()
  if(NOT found) # also OFF
    return()
  endif()
  sinter_use_arrow("${found}" its_version problem)
  if(NOT problem)
    message(STATUS "Arrow ${its_version}: ${found}")
    set(${version} "${its_version}" PARENT_SCOPE)
    set(${folder} "${found}" PARENT_SCOPE)
  elseif(SINTER_ARROW)
    message(FATAL_ERROR "SINTER_ARROW: ${problem}. Name the folder that this prints, where pip has "
      "installed pyarrow: python -c 'import pyarrow; print(pyarrow.__path__[0])'; or -DSINTER_ARROW=OFF")
  else()
    message(STATUS "Parquet is left out: ${problem}")
  endif()
endfunction()
