// SPDX-License-Identifier: Apache-2.0
// Adapters for the downloaded TinyLlama of 1.1 billion parameters, whose weights stay as they are, in int8:
//   train --weights LLAMA --tokenizer LLAMA --data TEXT --out runs/adapted
//   export --weights runs/adapted --as-adapter --out adapter
// ./sinter recipe FOLDER FILE.cpp --lora writes such a recipe for another model.
#include <sinter/sinter.hpp>
using namespace sinter;

struct lora_llama : Recipe<Llama<{.layers = 22,
                                  .heads = 32,
                                  .kv_heads = 4,
                                  .width = 2048,
                                  .hidden = 5632,
                                  .vocabulary = 32000,
                                  .positions = 2048}>,
                           Tokens<{.context = 512, .vocabulary = 32000}>,
                           Lora<{.rank = 8, .alpha = 16, .dropout = 0.05, .base = LoraBase::int8},
                                Targets<"*.q_proj", "*.v_proj">>,
                           Bf16, AdamW<{.lr = 2e-4, .weight_decay = 0.01}>,
                           LinearDecay<{.warmup = 100}>, Batch<{.global = 8, .micro = 1}>> {};

int main(int argc, char** argv) { return run<lora_llama>(argc, argv); }
