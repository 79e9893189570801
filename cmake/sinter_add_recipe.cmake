# SPDX-License-Identifier: Apache-2.0
# sinter_add_recipe(NAME FILE) adds an executable NAME from one recipe file, which has the main().
#
#   add_subdirectory(sinter)
#   sinter_add_recipe(my_gpt my_gpt.cpp)
function(sinter_add_recipe name file)
  cmake_path(ABSOLUTE_PATH file NORMALIZE)
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "sinter_add_recipe(${name}): there is no file ${file}. Expected the C++ "
      "file of a recipe; a relative path starts at ${CMAKE_CURRENT_SOURCE_DIR}.")
  endif()
  add_executable(${name} "${file}")
  target_link_libraries(${name} PRIVATE Sinter::sinter)
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF JOB_POOL_COMPILE sinter_heavy)
endfunction()

# Adds Sinter's own recipes and SINTER_RECIPE_FILES, with their binaries in bin/. A file of the
# latter whose name is taken gets a longer one; recipes.txt in the build folder lists
# "target<tab>file".
function(sinter_add_recipe_files)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  file(GLOB own CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/recipes/*.cpp")
  set(listing "")
  foreach(file IN LISTS own SINTER_RECIPE_FILES)
    cmake_path(GET file STEM LAST_ONLY name)
    string(MAKE_C_IDENTIFIER "${name}" name)
    if(TARGET ${name})
      string(SHA1 hash "${file}")
      string(SUBSTRING ${hash} 0 8 hash)
      string(APPEND name "_${hash}")
    endif()
    sinter_add_recipe(${name} "${file}")
    sinter_own_code(${name})
    string(APPEND listing "${name}\t${file}\n")
  endforeach()
  file(WRITE "${PROJECT_BINARY_DIR}/recipes.txt" "${listing}")
endfunction()
