// SPDX-License-Identifier: Apache-2.0
// The models that scripts/lora_reference.py has drawn: it has written this.
#pragma once
#include "sinter/model/gpt2.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/parameters/lora.hpp"

namespace sinter::detail::testing {

/// Models with adapters, as pairs, by their numbers.
template <template <class Model, class Adapter> class Made>
using DrawnLora = PolicyList<
    Made<Gpt2<{.layers = 1, .heads = 2, .width = 12, .vocabulary = 36, .positions = 8}>,
         Lora<{.rank = 3, .alpha = 9, .rslora = true}, Targets<"*.c_proj", "*.c_fc">>>,
    Made<Llama<{.layers = 2,
                .heads = 1,
                .kv_heads = 1,
                .width = 4,
                .hidden = 36,
                .vocabulary = 30,
                .positions = 8,
                .eps = 1e-6}>,
         Lora<{.rank = 4, .alpha = 8, .rslora = false},
              Targets<"*.k_proj", "*.q_proj", "*.o_proj", "*.up_proj", "*.down_proj", "*.v_proj",
                      "*.gate_proj">>>,
    Made<Gpt2<{.layers = 2, .heads = 1, .width = 4, .vocabulary = 14, .positions = 8}>,
         Lora<{.rank = 2, .alpha = 12, .rslora = false}, Targets<"*.c_proj", "*.c_attn">>>,
    Made<Llama<{.layers = 1,
                .heads = 1,
                .kv_heads = 1,
                .width = 8,
                .hidden = 35,
                .vocabulary = 30,
                .positions = 8,
                .eps = 1e-6}>,
         Lora<{.rank = 6, .alpha = 10, .rslora = true}, Targets<"*.down_proj">,
              ModulesToSave<"model.norm">>>,
    Made<Gpt2<{.layers = 3, .heads = 1, .width = 4, .vocabulary = 21, .positions = 8}>,
         Lora<{.rank = 4, .alpha = 8, .rslora = true}, Targets<"*.c_attn">, ModulesToSave<"ln_f">>>,
    Made<Llama<{.layers = 2,
                .heads = 4,
                .kv_heads = 4,
                .width = 32,
                .hidden = 38,
                .vocabulary = 20,
                .positions = 8,
                .eps = 1e-6}>,
         Lora<{.rank = 1, .alpha = 8, .rslora = false}, Targets<"*.up_proj", "*.q_proj">>>,
    Made<Gpt2<{.layers = 2, .heads = 4, .width = 16, .vocabulary = 38, .positions = 8}>,
         Lora<{.rank = 3, .alpha = 1, .rslora = true}, Targets<"*.c_fc", "*.c_proj", "*.c_attn">,
              ModulesToSave<"ln_f">>>,
    Made<Llama<{.layers = 3,
                .heads = 2,
                .kv_heads = 1,
                .width = 12,
                .hidden = 9,
                .vocabulary = 16,
                .positions = 8,
                .eps = 1e-6}>,
         Lora<{.rank = 5, .alpha = 2, .rslora = true}, Targets<"*.gate_proj">,
              ModulesToSave<"model.norm">>>>;

}  // namespace sinter::detail::testing
