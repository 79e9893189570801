# SPDX-License-Identifier: Apache-2.0
# The first tier: what `./sinter test` builds and runs, by the label `quick`. It covers each room with few recipes, since
# compiling these takes most of the time. The budget from an empty clone is ten minutes on two cores. Beside it,
# tests/reject marks compile errors, and tests/static, tests/script and examples/ name a few of theirs.
set(quick
  # The rooms, from the lowest floor.
  base/nearest
  hardware/available hardware/stream
  files/checkpoint files/io files/safetensors
  kernels/attention kernels/elementwise kernels/embedding kernels/fastest kernels/layer_norm kernels/loss kernels/matmul
  kernels/narrow_matmul kernels/norm kernels/optimizer
  layer/gradients
  comm/facts comm/process_sums comm/sums
  policy/options
  proof/simulate
  data/example_files data/reader data/source data/token_file data/tokenizer data/windows
  schedule/schedules
  plan/evaluation
  parameters/groups
  optimizer/optimizers
  trainer/run_state trainer/refusals
  report/run_log report/terminal
  cli/numbers cli/questions
  launch/labelled_lines)
list(TRANSFORM quick PREPEND unit/)
list(APPEND quick faults/files_damage faults/loop program/verifier
  binary/command_line binary/describe binary/resume binary/training)
foreach(name IN LISTS quick)
  set_property(TEST ${name} APPEND PROPERTY LABELS quick)
endforeach()
