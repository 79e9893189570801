# SPDX-License-Identifier: Apache-2.0
# What ./sinter checks asks of a sanitized build (presets asan and tsan): the target `checks` builds it,
# the CTest label `checks` runs it. Everything else there is a soak, by hand: build all, run ctest
# without a label.
add_custom_target(checks)

if(SINTER_SANITIZE MATCHES "address")
  set(chosen "^(unit|faults)/|^program/asan_arena$")
  # What these test, the compiler does, or kernels that unit/kernels tests here too, and they take most
  # of the time to compile; sanitizers are no processor to be measured; and what processes share is all
  # in comm/process_sums. Whole trainers are in unit/trainer, unit/generate and faults/loop, and the
  # places of a program's arena in program/asan_arena. There, while transfers of buffers that come and go are under
  # way, other instructions close what they do not touch: so modes that have such are not for this sanitizer.
  set(left_out "^unit/(policy|recipe|proof|plan|model|layer|forecast|batch|batching|precision|optimizer|clipping|parameters|recovery|memory|curriculum|objective|parallel)/"
    "|^unit/(cli/matmul|comm/process_trainers|trainer/(evaluation|axes|decisive|read_parts|check_gradients|initial_values))$"
    # Trainers of many recipes whose paths others here take: messages and sums have each transport, and loop,
    # run_state and snapshot a trainer's life. What is counted, versioned or refused is no memory.
    "|^unit/(comm/(volume|mesh|launchers)|trainer/(versions|row_prediction|refusals)|generate/text)$"
    # Which product is chosen; those that may be are in matmul, narrow and amx.
    "|^unit/kernels/(rounded|fastest|libtorch|without_libtorch)$"
    "|^faults/(instructions|hosts_volume|ranks_reading|ranks_saving)$")
  # All of these are in the soak of sanitized tests (CONTRIBUTING.md).
  list(JOIN left_out "" left_out)
else()
  # What has threads of its own: streams, readers, ranks, saves.
  set(chosen "^(unit/(hardware/stream|data/reader.*|comm/.*|batch/accumulation|cli/loop)|faults/hosts)$")
  # Threads of a group are in sums, messages, lost_rank; processes, which are left out, share nothing that it sees.
  set(left_out "^unit/comm/(process_trainers|process_sums|launchers|launched_world|card_world|volume|facts)$")
endif()

foreach(source IN LISTS sources)
  string(REGEX REPLACE "\\.cpp$" "" name "${source}")
  if(name MATCHES "${chosen}" AND NOT name MATCHES "${left_out}")
    string(REPLACE "/" "_" target "test_${name}")
    add_dependencies(checks ${target})
    set_property(TEST ${prefix}${name} APPEND PROPERTY LABELS checks)
  endif()
endforeach()

if(SINTER_SANITIZE MATCHES "address")
  add_subdirectory(fuzz)

  # Benches are built when they are asked for; that they compile is checked here. (Two have so many recipes
  # that they take minutes. Of the standard library's stable_sort Clang says that it is deprecated.)
  include("${PROJECT_SOURCE_DIR}/bench/code.cmake")
  file(GLOB benches CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/*.cpp")
  list(FILTER benches EXCLUDE REGEX "/(combos|optimizers)[.]cpp$")
  add_library(sinter_benches OBJECT EXCLUDE_FROM_ALL ${benches})
  sinter_own_code(sinter_benches)
  sinter_bench_code(sinter_benches)
  target_compile_options(sinter_benches PRIVATE -O0 -fno-sanitize=all -Wno-deprecated-declarations)
  set_target_properties(sinter_benches PROPERTIES CXX_EXTENSIONS OFF JOB_POOL_COMPILE sinter_heavy)
  add_dependencies(checks sinter_benches)

  # clang-tidy (.clang-tidy) over ring 2, but for kernels, which Highway compiles from macros. The files of a
  # folder are one translation unit, tidy/FOLDER (cmake/united_files.cmake), since most of the time goes into headers;
  # so are the others, tidy/others, but for those that are compiled with options of their own or for a card.
  find_program(SINTER_CLANG_TIDY clang-tidy-19 REQUIRED)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/src"
    "${PROJECT_SOURCE_DIR}/src/*.cpp")
  list(FILTER files EXCLUDE REGEX "^kernels/")
  add_library(sinter_tidy OBJECT EXCLUDE_FROM_ALL) # for compile_commands.json alone
  sinter_library(sinter_tidy)
  target_link_libraries(sinter_tidy PRIVATE sinter fmt::fmt Sinter::xxhash Sinter::zlib Sinter::lzma
    Sinter::zstd CLI11::CLI11 nlohmann_json::nlohmann_json $<TARGET_NAME_IF_EXISTS:Sinter::libtorch>)
  function(sinter_add_tidy name)
    set(includes "")
    foreach(file IN LISTS ARGN)
      string(APPEND includes "#include \"${PROJECT_SOURCE_DIR}/src/${file}\"\n")
    endforeach()
    set(unit "${CMAKE_CURRENT_BINARY_DIR}/tidy/${name}.cpp")
    file(CONFIGURE OUTPUT "${unit}" CONTENT "${includes}" @ONLY)
    target_sources(sinter_tidy PRIVATE "${unit}")
    add_test(NAME tidy/${name} COMMAND "${SINTER_CLANG_TIDY}" --quiet -p "${PROJECT_BINARY_DIR}" "${unit}")
    set_tests_properties(tidy/${name} PROPERTIES LABELS "tidy;checks" TIMEOUT 900 COST 100) # the longest first
  endfunction()
  foreach(file IN LISTS files)
    sinter_united_folder(folder "${file}")
    if(file IN_LIST SINTER_ALONE OR file MATCHES "^version|/(cuda|nccl)/")
      add_test(NAME tidy/${file} COMMAND "${SINTER_CLANG_TIDY}" --quiet -p "${PROJECT_BINARY_DIR}"
        "${PROJECT_SOURCE_DIR}/src/${file}")
      set_tests_properties(tidy/${file} PROPERTIES LABELS "tidy;checks" TIMEOUT 900)
    elseif(folder)
      list(APPEND folders ${folder})
      list(APPEND files_of_${folder} ${file})
    else()
      list(APPEND others ${file})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    sinter_add_tidy(${folder} ${files_of_${folder}})
  endforeach()
  sinter_add_tidy(others ${others})
endif()
