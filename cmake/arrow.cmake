# SPDX-License-Identifier: Apache-2.0
# Sinter::parquet is Apache Arrow's reader of Parquet files, from the Python package pyarrow: its
# wheel has headers and libraries, but no configuration for CMake. It is not demanded: where there is
# none, data in Parquet are refused with a sentence that says how to build with it.
set(SINTER_ARROW "" CACHE STRING
  "Folder of the Python package pyarrow, or OFF; empty: that of the Python in SINTER_PYTHON, if any")

# Sets FOLDER to the package's and makes the target, or sets it to nothing; what is named and cannot
# be used is an error.
function(sinter_find_arrow folder)
  set(${folder} "" PARENT_SCOPE)
  if(NOT SINTER_ARROW STREQUAL "" AND NOT SINTER_ARROW)
    return()
  endif()
  set(found "${SINTER_ARROW}")
  if(NOT found AND NOT "$ENV{SINTER_PYTHON}" STREQUAL "")
    execute_process(OUTPUT_VARIABLE found ERROR_QUIET COMMAND "$ENV{SINTER_PYTHON}" -c
      "import importlib.util as u; p = u.find_spec('pyarrow'); print(p.submodule_search_locations[0] if p else '', end='')")
  endif()
  if(NOT found)
    return()
  endif()
  set(version "")
  set(so_version "")
  if(EXISTS "${found}/include/arrow/util/config.h")
    file(READ "${found}/include/arrow/util/config.h" config)
    string(REGEX MATCH "ARROW_VERSION_STRING \"([0-9.]+)" match "${config}")
    set(version "${CMAKE_MATCH_1}")
    string(REGEX MATCH "ARROW_SO_VERSION \"([0-9]+)" match "${config}")
    set(so_version "${CMAKE_MATCH_1}")
  endif()
  set(problem "")
  if(NOT version OR NOT EXISTS "${found}/libparquet.so.${so_version}"
      OR NOT EXISTS "${found}/include/parquet/file_reader.h")
    set(problem "'${found}' holds no headers and libraries of Apache Arrow")
  elseif(version VERSION_LESS 26)
    set(problem "Arrow in '${found}' is version ${version}, and 26 or newer is needed")
  endif()
  if(problem AND SINTER_ARROW)
    message(FATAL_ERROR "SINTER_ARROW: ${problem}. Name the folder that this prints, where `pip "
      "install pyarrow` was run: python -c 'import pyarrow; print(pyarrow.__path__[0])'; or "
      "-DSINTER_ARROW=OFF.")
  elseif(problem)
    message(STATUS "Parquet: ${problem}; it is left out")
    return()
  endif()
  set(${folder} "${found}" PARENT_SCOPE)
  message(STATUS "Arrow ${version}: ${found}")
  if(TARGET Sinter::parquet)
    return()
  endif()
  foreach(library arrow parquet)
    add_library(Sinter::${library} SHARED IMPORTED GLOBAL)
    set_target_properties(Sinter::${library} PROPERTIES
      IMPORTED_LOCATION "${found}/lib${library}.so.${so_version}"
      IMPORTED_SONAME "lib${library}.so.${so_version}"
      INTERFACE_INCLUDE_DIRECTORIES "${found}/include")
  endforeach()
  target_link_libraries(Sinter::parquet INTERFACE Sinter::arrow)
endfunction()
