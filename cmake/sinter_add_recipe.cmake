# SPDX-License-Identifier: Apache-2.0
# What a project that uses Sinter calls, whether it has Sinter by find_package(Sinter 0.2), by
# FetchContent or by add_subdirectory.

# Files that hold a whole recipe or include torch/torch.h take 1 to 2 GB each to compile. As many
# are compiled at once as memory allows, whatever -j says (Ninja only).
get_property(sinter_pools GLOBAL PROPERTY JOB_POOLS)
if(NOT sinter_pools MATCHES "sinter_heavy=")
  cmake_host_system_information(RESULT sinter_memory QUERY TOTAL_PHYSICAL_MEMORY)
  math(EXPR sinter_jobs "${sinter_memory} / 2048")
  if(sinter_jobs LESS 1)
    set(sinter_jobs 1)
  endif()
  set_property(GLOBAL APPEND PROPERTY JOB_POOLS sinter_heavy=${sinter_jobs})
endif()

# Sets RESULT to the first of the files that has the code of layers that LibTorch computes, or to "".
function(sinter_find_torch_code result)
  set(${result} "" PARENT_SCOPE)
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source NORMALIZE)
    file(STRINGS "${source}" torch REGEX "^#include [<\"]sinter/autograd/" LIMIT_COUNT 1)
    if(torch)
      set(${result} "${source}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# Lets GCC collect garbage only beyond 1 GB. By default it begins at 128 MB, and spends a fourteenth of a recipe's
# time on it.
function(sinter_compile_in_memory target)
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1048576>")
endfunction()

# sinter_add_recipe(NAME FILE [MORE…]) adds an executable NAME from one recipe file, which has the
# main(), and from more files, such as those with the code of its Autograd layers.
#
#   find_package(Sinter 0.2 REQUIRED)
#   sinter_add_recipe(my_gpt my_gpt.cpp)
#
# Where one of them includes a header of sinter/autograd/, all see LibTorch's headers, and the binary
# is linked with it; otherwise none, and the binary begins without.
# With the word CUDA among the files, the binary is for NVIDIA GPUs.
# Where it is installed, it looks for its shared libraries in ../lib beside it.
function(sinter_add_recipe name file)
  cmake_path(ABSOLUTE_PATH file NORMALIZE)
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "sinter_add_recipe(${name}): there is no file ${file}. Expected the C++ "
      "file of a recipe; a relative path starts at ${CMAKE_CURRENT_SOURCE_DIR}.")
  endif()
  set(library sinter)
  if("CUDA" IN_LIST ARGN)
    list(REMOVE_ITEM ARGN CUDA)
    set(library cuda)
  endif()
  if(NOT TARGET Sinter::${library})
    message(FATAL_ERROR "sinter_add_recipe(${name}): this Sinter is built without CUDA. Build it with "
      "-DSINTER_CUDA=ON.")
  endif()
  add_executable(${name} "${file}" ${ARGN})
  target_link_libraries(${name} PRIVATE Sinter::${library})
  sinter_compile_in_memory(${name})
  sinter_find_torch_code(torch_code "${file}" ${ARGN})
  if(torch_code AND library STREQUAL cuda)
    message(FATAL_ERROR "sinter_add_recipe(${name}): ${torch_code} has layers that LibTorch computes, "
      "and a binary for a GPU is linked without LibTorch. Write them with Sinter's kernels, or build "
      "the recipe for the CPU: without CUDA.")
  endif()
  if(torch_code AND NOT TARGET Sinter::autograd)
    message(FATAL_ERROR "sinter_add_recipe(${name}): ${torch_code} has layers that LibTorch computes, "
      "and this Sinter is without LibTorch. Build Sinter with -DSINTER_WITH_LIBTORCH=ON, or ask its "
      "package for COMPONENTS libtorch.")
  elseif(torch_code)
    target_link_libraries(${name} PRIVATE Sinter::autograd)
  endif()
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF JOB_POOL_COMPILE sinter_heavy
    INSTALL_RPATH "$ORIGIN/../lib")
endfunction()

# sinter_install_recipe(NAME…) installs executables of sinter_add_recipe() in bin, LibTorch's shared
# libraries in lib, and its licences: the prefix can then be moved. Where there is only the component
# sinter, no LibTorch comes along. Arrow, where Sinter has it, comes likewise. What it still needs of
# the system are the libraries of its packages; ./sinter pack takes those along, too.
function(sinter_install_recipe)
  install(TARGETS ${ARGN} RUNTIME DESTINATION bin)
  if(SINTER_ARROW_FOLDER)
    get_target_property(arrow Sinter::arrow IMPORTED_LOCATION)
    get_target_property(parquet Sinter::parquet IMPORTED_LOCATION)
    install(FILES "${arrow}" "${parquet}" DESTINATION lib)
  endif()
  set(wheels "")
  if(TARGET Sinter::libtorch)
    install(CODE "
    file(GET_RUNTIME_DEPENDENCIES LIBRARIES \"${SINTER_LIBTORCH}/lib/libtorch_cpu.so\"
      RESOLVED_DEPENDENCIES_VAR libraries UNRESOLVED_DEPENDENCIES_VAR missing
      POST_EXCLUDE_REGEXES ^/lib ^/usr/lib)
    if(missing)
      message(FATAL_ERROR \"LibTorch in ${SINTER_LIBTORCH} needs libraries that are not here: \${missing}\")
    endif()
    file(INSTALL \"${SINTER_LIBTORCH}/lib/libtorch_cpu.so\" \${libraries}
      DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib\" FOLLOW_SYMLINK_CHAIN)")
    file(GLOB wheels "${SINTER_LIBTORCH}/../*.dist-info" "${SINTER_LIBTORCH}/../licenses/*")
  endif()
  if(SINTER_ARROW_FOLDER)
    file(GLOB arrow "${SINTER_ARROW_FOLDER}/../pyarrow-*.dist-info")
    list(APPEND wheels ${arrow})
  endif()
  foreach(wheel IN LISTS wheels)
    cmake_path(GET wheel FILENAME name)
    string(REPLACE ".dist-info" "" name "${name}")
    if(EXISTS "${wheel}/licenses")
      cmake_path(APPEND wheel licenses)
    endif()
    install(DIRECTORY "${wheel}/" DESTINATION "share/doc/${name}")
  endforeach()
endfunction()

# Adds Sinter's own recipes, without LibTorch those that need none, and SINTER_RECIPE_FILES, with
# their binaries in bin/. A file of the latter whose name is taken, or CMake's own, gets a longer one; recipes.txt in
# the build folder lists "target<tab>file".
function(sinter_add_recipe_files)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  file(GLOB own CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/recipes/*.cpp")
  set(reserved all clean depend edit_cache help install list_install_components package package_source preinstall
    rebuild_cache test ALL_BUILD INSTALL PACKAGE RUN_TESTS ZERO_CHECK) # CMake's targets
  set(listing "")
  set(device "")
  if(SINTER_HAS_CUDA AND NOT SINTER_CUDA STREQUAL "AUTO")
    set(device CUDA)
  endif()
  foreach(file IN LISTS own SINTER_RECIPE_FILES)
    sinter_find_torch_code(torch_code "${file}")
    if(torch_code AND file IN_LIST own AND (device OR NOT TARGET Sinter::autograd))
      continue()
    endif()
    cmake_path(GET file STEM LAST_ONLY name)
    string(MAKE_C_IDENTIFIER "${name}" name)
    if(TARGET ${name} OR name IN_LIST reserved)
      string(SHA1 hash "${file}")
      string(SUBSTRING ${hash} 0 8 hash)
      string(APPEND name "_${hash}")
    endif()
    sinter_add_recipe(${name} "${file}" ${device})
    sinter_own_code(${name})
    if(NOT device)
      sinter_share_headers(${name} "${file}")
    endif()
    string(APPEND listing "${name}\t${file}\n")
  endforeach()
  file(WRITE "${PROJECT_BINARY_DIR}/recipes.txt" "${listing}")
endfunction()
