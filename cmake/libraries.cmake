# SPDX-License-Identifier: Apache-2.0
# The libraries on which Sinter stands (docs/dependencies.md says why), as imported targets: for
# CMakeLists.txt, and for whoever finds the installed package.
#
# sinter_find_libraries(MISSING PURPOSE…) looks for those that each purpose needs:
#   headers  a program that includes Sinter's headers
#   sinter   a program that links the library
#   build    compiling the library
#   tests    compiling the tests
#   sentencepiece   both, where SentencePiece's models are read
# and sets MISSING to the Debian packages that hold what was not found. The global property
# SINTER_DEBIAN_PACKAGES lists those of what was looked for.
function(sinter_need package target debian)
  set_property(GLOBAL APPEND PROPERTY SINTER_DEBIAN_PACKAGES ${debian})
  if(NOT TARGET ${target})
    find_package(${package} QUIET GLOBAL)
  endif()
  if(NOT TARGET ${target})
    set(missing ${missing} ${debian} PARENT_SCOPE)
  endif()
endfunction()

# Makes Sinter::NAME of a HEADER, and of a LIBRARY if one is named, that come without a package.
function(sinter_need_header name header library debian)
  set_property(GLOBAL APPEND PROPERTY SINTER_DEBIAN_PACKAGES ${debian})
  if(TARGET Sinter::${name})
    return()
  endif()
  string(TOUPPER "SINTER_${name}" variable)
  find_path(${variable}_INCLUDE ${header})
  mark_as_advanced(${variable}_INCLUDE)
  set(link "")
  if(library)
    find_library(${variable}_LIBRARY ${library})
    mark_as_advanced(${variable}_LIBRARY)
    set(link "${${variable}_LIBRARY}")
  endif()
  if(NOT ${variable}_INCLUDE OR (library AND NOT link))
    set(missing ${missing} ${debian} PARENT_SCOPE)
    return()
  endif()
  add_library(Sinter::${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(Sinter::${name} INTERFACE "${${variable}_INCLUDE}")
  target_link_libraries(Sinter::${name} INTERFACE ${link})
endfunction()

function(sinter_find_libraries result)
  set(missing "")
  find_package(Threads REQUIRED)
  if("headers" IN_LIST ARGN)
    sinter_need_header(hana boost/hana.hpp "" libboost1.81-dev)
  endif()
  if("sinter" IN_LIST ARGN)
    sinter_need(fmt fmt::fmt libfmt-dev)
    sinter_need(hwy hwy::hwy libhwy-dev)
    sinter_need_header(xxhash xxhash.h xxhash libxxhash-dev)
    sinter_need_header(zlib zlib.h z zlib1g-dev)
    sinter_need_header(lzma lzma.h lzma liblzma-dev)
    sinter_need_header(zstd zstd.h zstd libzstd-dev)
  endif()
  if("build" IN_LIST ARGN)
    sinter_need(nlohmann_json nlohmann_json::nlohmann_json nlohmann-json3-dev)
    sinter_need(CLI11 CLI11::CLI11 libcli11-dev)
  endif()
  if("sentencepiece" IN_LIST ARGN)
    sinter_need_header(sentencepiece sentencepiece_processor.h sentencepiece libsentencepiece-dev)
    if(TARGET Sinter::sentencepiece) # loaded only by programs that load tokenizers
      set_target_properties(Sinter::sentencepiece PROPERTIES INTERFACE_LINK_LIBRARIES
        "-Wl,--push-state,--as-needed,${SINTER_SENTENCEPIECE_LIBRARY},--pop-state")
    endif()
  endif()
  if("tests" IN_LIST ARGN)
    sinter_need(doctest doctest::doctest doctest-dev)
  endif()
  set(${result} ${missing} PARENT_SCOPE)
endfunction()
