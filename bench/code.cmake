# SPDX-License-Identifier: Apache-2.0
# sinter_bench_code(TARGET) gives a target of benches what all of them are compiled with but those without
# LibTorch.
function(sinter_bench_code target)
  target_link_libraries(${target} PRIVATE
    Sinter::autograd nlohmann_json::nlohmann_json CLI11::CLI11)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_compile_definitions(${target} PRIVATE SINTER_BENCH_DIR="${PROJECT_SOURCE_DIR}/bench")
endfunction()
