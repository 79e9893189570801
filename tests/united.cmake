# SPDX-License-Identifier: Apache-2.0
# Tests of the second tier that are compiled as one file, into one binary, since most of their time goes into headers
# and into recipes that they share. Each stays a CTest test of its own. Tests of the first tier stay apart, so that it
# builds no others, and so do files that replace functions of the C library or measure memory. A group may take no more
# than 4 GB to compile (CMakeLists.txt), so heavy ones are pairs.

# sinter_unite_tests(FOLDER NAME…): the binary is named by the first.
function(sinter_unite_tests folder first)
  string(REPLACE "/" "_" target "test_${folder}_${first}")
  foreach(name ${first} ${ARGN})
    set_property(GLOBAL PROPERTY "SINTER_TEST_TARGET_${folder}/${name}" ${target})
  endforeach()
endfunction()

if(SINTER_UNITE AND NOT SINTER_SANITIZE) # sanitized builds choose single files (checks.cmake)
  sinter_unite_tests(unit/batching loss paired_loss paired_padding)
  sinter_unite_tests(unit/cli loop answers conversation eval_progress matmul progress sampling stop_texts)
  sinter_unite_tests(unit/comm messages card_world lost_rank mesh)
  sinter_unite_tests(unit/comm process_trainers volume)
  sinter_unite_tests(unit/comm launched_world launchers)
  sinter_unite_tests(unit/data array_files arrays columns labelled_set labelled_text parquet parquet_records)
  sinter_unite_tests(unit/data examples example_marks example_source paired_examples)
  sinter_unite_tests(unit/data tokens byte_corpus encode_records left_out normalizer permutation require_text
    split_steps token_view tokenizer_files tokenizer_folders train_tokenizer wordpiece)
  sinter_unite_tests(unit/data data_view batch_parts reader_workers)
  sinter_unite_tests(unit/files load choice_file event_file metrics_log run_folder_foreign run_folder_live shards weights)
  sinter_unite_tests(unit/generate text texts beams transformers whole_texts)
  sinter_unite_tests(unit/hugging_face architectures export_files generation_config gguf gguf_texts recipe)
  sinter_unite_tests(unit/layer gradients dropout fused)
  sinter_unite_tests(unit/layer running unplanned unwanted)
  sinter_unite_tests(unit/memory offload offload_files)
  sinter_unite_tests(unit/model bert memories roberta)
  sinter_unite_tests(unit/model llama seq2seq)
  sinter_unite_tests(unit/parallel zero zero_gradients zero_weights)
  sinter_unite_tests(unit/precision bf16 fp16 avx2)
  sinter_unite_tests(unit/proof traffic uneven)
  sinter_unite_tests(unit/recovery roll_back spike_guard)
  sinter_unite_tests(unit/report page chart headline series smoothing)
  sinter_unite_tests(unit/trainer axes initial_values read_parts row_prediction)
  sinter_unite_tests(unit/trainer refusals check_gradients decisive flat_buffers profile_summary versions)
  sinter_unite_tests(program same_bits arena one_rank)
  sinter_unite_tests(faults files_system_calls files_output files_shared)
  sinter_unite_tests(faults files_disk files_kill)
  sinter_unite_tests(faults hosts hosts_network hosts_volume)
  sinter_unite_tests(faults ranks ranks_reading)
  sinter_unite_tests(binary training validation launched length offload pin recovery resume signals world)
  sinter_unite_tests(binary describe config options profile report tensorboard)
  sinter_unite_tests(binary predict adversarial data_paths evaluation mnist own_data torch_layers)
  sinter_unite_tests(binary fine_tuning pairs export paired_replies replies tokenize tokens train_tokenizer worded_replies)
endif()

# Sets TARGET in the caller to the binary of a test FOLDER/NAME.
function(sinter_target_of_test target name)
  get_property(united GLOBAL PROPERTY "SINTER_TEST_TARGET_${name}")
  if(NOT united)
    string(REPLACE "/" "_" united "test_${name}")
  endif()
  set(${target} ${united} PARENT_SCOPE)
endfunction()
