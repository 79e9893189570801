# SPDX-License-Identifier: Apache-2.0
# Tests of this compiler that ./sinter test --all leaves out, and ./sinter soak runs: products of modes, precisions and
# transports of which the second tier has a covering set, and faults at each place of which it has some. They take
# a third of the time to compile. All tests of a group of united.cmake are here, or it is compiled for the others.
# Behind each is what the tiers have of it.
set(soak
  unit/parallel/modes_fp16 unit/parallel/modes_fp64           # modes_fp32, modes_bf16
  unit/parallel/zero_owners unit/parallel/zero_owners_files   # zero_owners_plan; zero, zero_files
  unit/parallel/zero_processes unit/parallel/split_batch_processes # zero, split_batch; exchanges; comm/process_sums
  unit/parallel/shared_saves unit/parallel/split_batch        # zero_files, faults/ranks; modes_fp32
  unit/policy/ranges                                          # static/Clang/tests/static/ranges.cpp, tests/reject
  program/mutation program/owner_mutation                     # emulated/program/mutation, program/one_rank
  unit/memory/offload unit/memory/offload_files               # offload_limited, faults/offload, program/same_bits
  unit/proof/traffic unit/proof/uneven                        # proof/simulate
  unit/comm/process_trainers unit/comm/volume                 # comm/process_sums, trainer/read_parts
  unit/trainer/reply_ranks                                    # replies, cached_replies
  unit/trainer/loss_options                                   # evaluation, the reject cases and kernels/loss
  unit/parameters/average_modes                               # average
  unit/parameters/lora_drawn                                  # lora has two models
  faults/instructions faults/ranks_saving                     # faults/ranks, ranks_reading, hosts, loop
  faults/hosts_network faults/hosts_volume)                   # faults/hosts
foreach(name IN LISTS soak)
  if(NOT TEST ${name})
    message(FATAL_ERROR "tests/soak.cmake names ${name}, which is no test.")
  endif()
  set_property(TEST ${name} APPEND PROPERTY LABELS soak)
  set_tests_properties(${name} PROPERTIES TIMEOUT 3600)
endforeach()
