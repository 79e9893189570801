# SPDX-License-Identifier: Apache-2.0
# The first tier: what `./sinter test` builds and runs, by the label `quick`. It covers each room with few recipes, since
# compiling these takes most of the time. The budget from an empty clone is ten minutes on two cores. Beside it,
# tests/reject marks compile errors, and tests/static and tests/script name a few of theirs.
#
# Three rooms have no unit test here, whose recipes take longest to compile: an error of a budget stands for memory,
# the kernels of all optimizers for optimizer, and for batch an error of its own, and the recipe that trains.
file(GLOB quick RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" unit/kernels/*.cpp) # all kernels of this processor
list(TRANSFORM quick REPLACE "\\.cpp$" "")
foreach(name
  # The rooms, from the lowest floor.
  base/nearest
  hardware/available hardware/stream
  files/checkpoint files/decompress files/io files/run_folder files/safetensors
  layer/wiring
  comm/facts comm/sums
  policy/options
  proof/simulate
  data/example_files data/reader data/source data/tokenizer data/windows
  model/classifier
  schedule/schedules
  plan/pages
  batching/arrangements
  objective/masked_lm
  parameters/average
  precision/tf32
  recovery/skip_steps
  parallel/ddp_buckets
  trainer/snapshot
  forecast/offload
  report/run_log report/terminal
  generate/sample hugging_face/refusals
  cli/numbers cli/questions
  launch/labelled_lines)
  list(APPEND quick unit/${name})
endforeach()
list(APPEND quick program/verifier faults/files_damage binary/whole_run binary/command_line)
foreach(name IN LISTS quick)
  set_property(TEST ${name} APPEND PROPERTY LABELS quick)
endforeach()
