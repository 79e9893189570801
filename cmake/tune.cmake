# SPDX-License-Identifier: Apache-2.0
# The program of ./sinter tune: the file of a recipe, compiled to plan all combinations in place of running verbs.
# SINTER_TUNE_FILE names it, SINTER_TUNE_SLOTS and SINTER_TUNE_RANKS what may change; ./sinter tune sets them.
set(SINTER_TUNE_SLOTS "precision,memory,batch,batching,parallel" CACHE STRING "Slots that ./sinter tune may change.")
set(SINTER_TUNE_RANKS 2 CACHE STRING "The most ranks that ./sinter tune plans for.")
if(EXISTS "${SINTER_TUNE_FILE}") # it may be gone since
  sinter_add_recipe(sinter_tune_grid "${SINTER_TUNE_FILE}")
  sinter_own_code(sinter_tune_grid)
  target_include_directories(sinter_tune_grid PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_compile_definitions(sinter_tune_grid PRIVATE
    "SINTER_TUNE_SLOTS=\"${SINTER_TUNE_SLOTS}\"" "SINTER_TUNE_RANKS=${SINTER_TUNE_RANKS}")
  # What takes time is to compile it: its plans are constants.
  target_compile_options(sinter_tune_grid PRIVATE -O0 "SHELL:-include tune/entry.hpp")
  set_target_properties(sinter_tune_grid PROPERTIES EXCLUDE_FROM_ALL ON
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
endif()
