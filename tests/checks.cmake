# SPDX-License-Identifier: Apache-2.0
# The tests of a sanitized build (presets asan and tsan). Those that ./sinter checks runs have the CTest label `checks`
# and are built by the target of that name. They are a covering set: each source file that handles memory or threads
# is reached by one of them. All others have the label `soak`: ./sinter soak runs both, with all their cases.
add_custom_target(checks)
add_custom_target(soak)

if(SINTER_SANITIZE MATCHES "address")
  set(chosen
    # One for each file of src/kernels/cpu that has loops.
    "unit/kernels/(activation|adafactor|adamw8bit|amx|attention|attention_amx|bf16_attention|binary_cross_entropy)"
    "unit/kernels/(cached_attention|decision|dropout|elementwise|embedding|int8|layer_norm|logits|loss|matmul)"
    "unit/kernels/(narrow|norm|optimizer|random|rotary|rows_and_columns|swiglu)"
    # What is read from outside and has no fuzz target, caches and queues, and what maps files.
    "unit/data/(chat|columns|data_view|normalizer|npz|parquet_records|reader|reader_workers|sentencepiece|train_tokenizer)"
    "unit/data/(windows|wordpiece)"
    "unit/files/(checkpoint|event_file|io|load|shards)"
    "unit/hugging_face/(export_files|gguf)"
    unit/report/page
    "unit/(metric/texts|launch/labelled_lines|hardware/stream|base/nearest)"
    # What ranks share, command lines, a trainer's life, and generators.
    "unit/comm/(messages|process_sums|sums)"
    "unit/cli/(conversation|questions|sampling)"
    "unit/trainer/(run_state|snapshot)"
    "unit/generate/(beams|generator|quantized)"
    program/asan_arena
    "faults/(files_damage|files_shared|loop)")
else()
  # What has threads of its own: streams, readers, ranks, saves. Threads of a group are in sums and messages, the
  # network in faults/hosts.
  set(chosen unit/hardware/stream unit/data/reader_workers "unit/comm/(sums|messages)" unit/cli/loop faults/hosts)
endif()

foreach(source IN LISTS sources)
  string(REGEX REPLACE "\\.cpp$" "" name "${source}")
  set(label soak)
  foreach(pattern IN LISTS chosen)
    if(name MATCHES "^${pattern}$")
      set(label checks)
    endif()
  endforeach()
  if(SINTER_SOAK)
    set_tests_properties(${prefix}${name} PROPERTIES TIMEOUT 7200)
  endif()
  set_property(TEST ${prefix}${name} APPEND PROPERTY LABELS ${label})
  if(name MATCHES "^autograd/")
    set(target test_autograd)
  else()
    sinter_target_of_test(target ${name})
  endif()
  add_dependencies(${label} ${target})
endforeach()

if(SINTER_SANITIZE MATCHES "address")
  add_subdirectory(fuzz)

  # Benches are built when they are asked for; that they compile is a soak. (Five have so many recipes that they take
  # minutes. Of the standard library's stable_sort Clang says that it is deprecated.)
  include("${PROJECT_SOURCE_DIR}/bench/code.cmake")
  file(GLOB benches CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/*.cpp")
  list(FILTER benches EXCLUDE REGEX "/(combos|ladder|learn|optimizers|seeds)[.]cpp$")
  add_library(sinter_benches OBJECT EXCLUDE_FROM_ALL ${benches})
  sinter_own_code(sinter_benches)
  sinter_bench_code(sinter_benches)
  target_compile_options(sinter_benches PRIVATE -O0 -fno-sanitize=all -Wno-deprecated-declarations)
  set_target_properties(sinter_benches PROPERTIES CXX_EXTENSIONS OFF JOB_POOL_COMPILE sinter_heavy)
  add_test(NAME static/Clang/benches COMMAND "${CMAKE_COMMAND}" --build "${PROJECT_BINARY_DIR}" --target sinter_benches
    --parallel 2)
  set_tests_properties(static/Clang/benches PROPERTIES LABELS "static;soak" TIMEOUT 1800 PROCESSORS 2)

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
      sinter_test_needs(tidy/${file} sinter) # which precompiles its headers
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
