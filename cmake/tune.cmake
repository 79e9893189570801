# SPDX-License-Identifier: Apache-2.0
# The programs of ./sinter tune. SINTER_TUNE_FILE names the file of a recipe, SINTER_TUNE_SLOTS and SINTER_TUNE_RANKS
# what may change, SINTER_TUNE_ARMS numbers of combinations that train; ./sinter tune sets them.
#   sinter_tune_grid         the file, compiled to plan all combinations in place of running verbs
#   sinter_tune_arm_NUMBER   the file, compiled to run verbs of one combination
#   sinter_tune_lr_range     the file, compiled to train with a rate that rises
set(SINTER_TUNE_SLOTS "precision,memory,batch,batching,parallel" CACHE STRING "Slots that ./sinter tune may change.")
set(SINTER_TUNE_RANKS 2 CACHE STRING "The most ranks that ./sinter tune plans for.")
set(SINTER_TUNE_ARMS "" CACHE STRING "Combinations that ./sinter tune trains.")

# Compiles the recipe's file behind a header that brings another run().
function(sinter_add_tune_binary target entry)
  set(source "${PROJECT_BINARY_DIR}/tune/${target}.cpp") # and no -include, which would come before shared headers
  file(CONFIGURE OUTPUT "${source}" CONTENT "#include \"@entry@\"\n#include \"@SINTER_TUNE_FILE@\"\n" @ONLY)
  sinter_add_recipe(${target} "${source}")
  sinter_find_torch_code(torch_code "${SINTER_TUNE_FILE}")
  if(torch_code)
    target_link_libraries(${target} PRIVATE Sinter::autograd)
  endif()
  sinter_own_code(${target})
  target_link_libraries(${target} PRIVATE sinter_tune)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_compile_definitions(${target} PRIVATE
    "SINTER_TUNE_SLOTS=\"${SINTER_TUNE_SLOTS}\"" "SINTER_TUNE_RANKS=${SINTER_TUNE_RANKS}" ${ARGN})
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
endfunction()

if(EXISTS "${SINTER_TUNE_FILE}") # it may be gone since
  sinter_add_tune_binary(sinter_tune_grid tune/entry.hpp)
  # What takes time is to compile it: its plans are constants.
  target_compile_options(sinter_tune_grid PRIVATE -O0)
  sinter_add_tune_binary(sinter_tune_lr_range tune/lr_range_entry.hpp)
  sinter_share_headers(sinter_tune_lr_range "${SINTER_TUNE_FILE}")
  foreach(row IN LISTS SINTER_TUNE_ARMS)
    sinter_add_tune_binary(sinter_tune_arm_${row} tune/arm_entry.hpp SINTER_TUNE_ROW=${row})
    sinter_share_headers(sinter_tune_arm_${row} "${SINTER_TUNE_FILE}")
  endforeach()
endif()
