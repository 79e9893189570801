// SPDX-License-Identifier: Apache-2.0
// Adapters for the downloaded GPT-2 of 124M parameters, whose weights stay as they are:
//   train --weights GPT2 --tokenizer GPT2 --data TEXT --out runs/adapted
//   export --weights runs/adapted --as-adapter --out adapter
#include <sinter/sinter.hpp>
using namespace sinter;

struct lora_gpt2
    : Recipe<
          Gpt2<{.layers = 12, .heads = 12, .width = 768, .vocabulary = 50257, .positions = 1024}>,
          Tokens<{.context = 512, .vocabulary = 50257}>,
          Lora<{.rank = 8, .alpha = 16, .dropout = 0.05}, Targets<"*.c_attn">>, Bf16,
          AdamW<{.lr = 2e-4, .weight_decay = 0.01}>, LinearDecay<{.warmup = 100}>,
          Batch<{.global = 8, .micro = 2}>> {};

int main(int argc, char** argv) { return run<lora_gpt2>(argc, argv); }
