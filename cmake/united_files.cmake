# SPDX-License-Identifier: Apache-2.0
# Files of src/ that may be compiled as one: those of a folder. Most of a file's time goes into headers, so
# that a build from nothing takes half as long. clang-tidy reads them so, and SINTER_UNITE compiles them so. The
# linker takes such a file whole, with all libraries that it needs: what one of them needs that many programs do
# without stays alone, as do those that call it (data/examples is apart from data for Parquet's).
set(SINTER_UNITED_FOLDERS autograd batching cli comm comm/hosts comm/shared_memory data data/examples data/tokenizer files
  generate hugging_face forecast launch metric model plan report run trainer tune)

# These need libraries or options that other files of their folder do without. (Two files of a folder may not
# have the same name in an unnamed namespace.)
set(SINTER_ALONE comm/launched_world.cpp data/examples/parquet_examples.cpp
  data/examples/parquet_records.cpp data/tokenizer/sentencepiece.cpp)

# Sets FOLDER in the caller to that of a FILE, relative to src/, which is compiled with others of it, or to
# nothing.
function(sinter_united_folder folder file)
  cmake_path(GET file PARENT_PATH parent)
  if(file IN_LIST SINTER_ALONE OR NOT parent IN_LIST SINTER_UNITED_FOLDERS)
    set(parent "")
  endif()
  set(${folder} "${parent}" PARENT_SCOPE)
endfunction()

# Compiles a target's files so, where SINTER_UNITE says it.
function(sinter_unite target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    string(REGEX REPLACE "^(${PROJECT_SOURCE_DIR}/)?src/" "" file "${source}")
    sinter_united_folder(folder "${file}")
    if(SINTER_UNITE AND folder)
      string(REPLACE "/" "_" folder "${folder}")
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}")
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${SINTER_UNITE} UNITY_BUILD_MODE GROUP)
  if(SINTER_UNITE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU") # it takes a file that is included for a header
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()
