// SPDX-License-Identifier: Apache-2.0
#include "sinter/device/cuda.hpp"
#include "sinter/memory/offload.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/parameters/freeze.hpp"
#include "sinter/parameters/groups.hpp"
#include "sinter/parameters/lora.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

// Must not compile, freeze_all: Sinter: a policy of this recipe names parameters wrongly
struct mine : Recipe<Mlp<>, Freeze<"*">> {};

// Must not compile, freeze_nobody: Sinter: a policy of this recipe names parameters wrongly
struct mine : Recipe<Mlp<>, Freeze<"wte">> {};

// Must not compile, freeze_nothing: Freeze: no name is given
struct mine : Recipe<Mlp<>, Freeze<>> {};

// Must not compile (quick), freeze_part: Sinter: a policy of this recipe names parameters wrongly
// and: "a unit is frozen in part alone" and: "h.3.mlp"
struct mine : Recipe<Gpt2<>, Freeze<"h.3.mlp">> {};

// Must not compile, group_behind_another: Sinter: a policy of this recipe names parameters wrongly
struct mine : Recipe<Mlp<>, Groups<Group<"*", {.learning_rate = 2}>, Group<"*.bias">>> {};

// Must not compile, group_factor: Groups: the learning_rate of a group is below 0, or not finite
// and: GroupOptions{-2
struct mine : Recipe<Mlp<>, Groups<Group<"*.bias", {.learning_rate = -2}>>> {};

// Must not compile, group_of_nobody: Sinter: a policy of this recipe names parameters wrongly
struct mine : Recipe<Mlp<>, Groups<Group<"*.biass", {.learning_rate = 2}>>> {};

// Must not compile, not_a_group: Groups: it is made of groups, and P, in this error, is none
struct mine : Recipe<Mlp<>, Groups<Freeze<"input">>> {};

// Must not compile (quick), lora_base_of_another_type: Lora: its base is in bf16, and layers read another type
struct mine : Recipe<Gpt2<>, Lora<{.base = LoraBase::bf16}, Targets<"*.c_attn">>> {};

// Must not compile, lora_base_divided: Lora: its base is in int8, and a policy divides state among ranks
struct mine : Recipe<Gpt2<>, Batch<{.global = 8, .micro = 4}>, Zero<{.stage = 1, .ranks = 2}>,
                     Lora<{.base = LoraBase::int8}, Targets<"*.c_attn">>> {};

// Must not compile, lora_base_in_odd_groups: Sinter: a policy of this recipe names parameters wrongly
// and: "no weight can be stored in int8"
struct mine : Recipe<Mlp<{.hidden = 40, .layers = 3}>,
                     Lora<{.base = LoraBase::int8}, Targets<"hidden.0">>> {};

// Must not compile, lora_base_on_a_card: Lora: its base is in int8, and the recipe's device is a card
struct mine : Recipe<Gpt2<>, Cuda<>, Lora<{.base = LoraBase::int8}, Targets<"*.c_attn">>> {};

// Must not compile, lora_beside_freeze: Lora: the recipe has Freeze, too
struct mine : Recipe<Gpt2<>, Freeze<"h.0">, Lora<{}, Targets<"*.c_attn">>> {};

// Must not compile (quick), lora_of_an_embedding: Sinter: a policy of this recipe names parameters wrongly
// and: "what is adapted is no linear layer" and: "wte"
struct mine : Recipe<Gpt2<>, Lora<{}, Targets<"*.c_attn", "wte">>> {};

// Must not compile, lora_of_nobody: Sinter: a policy of this recipe names parameters wrongly
// and: "what is to be adapted is not there" and: "*.q_proj"
struct mine : Recipe<Gpt2<>, Lora<{}, Targets<"*.c_attn", "*.q_proj">>> {};

// Must not compile, lora_of_nothing: Lora: no target is named
struct mine : Recipe<Gpt2<>, Lora<{}>> {};

// Must not compile, lora_of_other_types: Lora: it is made of options, targets and perhaps modules to save
struct mine : Recipe<Gpt2<>, Lora<{}, Freeze<"h.0">>> {};

// Must not compile, lora_saves_nobody: Sinter: a policy of this recipe names parameters wrongly
// and: "what is to be trained is not there" and: "score"
struct mine : Recipe<Gpt2<>, Lora<{}, Targets<"*.c_attn">, ModulesToSave<"score">>> {};

// Must not compile, lora_trains_part_of_a_tie: Sinter: a policy of this recipe names parameters wrongly
// and: "a tied unit is trained in part"
struct mine : Recipe<Gpt2<>, Lora<{}, Targets<"*.c_attn">, ModulesToSave<"wpe">>> {};

// Must not compile, lora_with_fetched_weights: Lora: a policy of the recipe fetches weights for each use
struct mine : Recipe<Gpt2<>, Batch<{.global = 8, .micro = 4}>, Zero<{.stage = 3, .ranks = 2}>,
                     Lora<{}, Targets<"*.c_attn">>> {};

// Must not compile, lora_with_offloaded_weights: Lora: a policy of the recipe fetches weights for each use
struct mine : Recipe<Gpt2<>, Offload<{.weights = true}>, Lora<{}, Targets<"*.c_attn">>> {};
