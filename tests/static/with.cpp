// SPDX-License-Identifier: Apache-2.0
// A recipe with other policies in some slots is the recipe that one would have written.
#include "sinter/recipe/with.hpp"

#include "sinter/data/bytes.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/recipe/plan.hpp"
#include "sinter/recovery/skip_steps.hpp"

using namespace sinter;

using Net = Gpt2<{.layers = 2, .heads = 2, .width = 32, .vocabulary = 256, .positions = 16}>;
using Text = Bytes<{.context = 16}>;
using AtOnce = Batch<{.global = 8, .micro = 8}>;
using InParts = Batch<{.global = 8, .micro = 2}>;
template <class... Policies>
struct mine : Recipe<Net, Text, AtOnce, Policies...> {};

template <class R, class... Policies>
constexpr bool is_written = std::is_same_v<typename R::written, detail::PolicyList<Policies...>>;

// A written policy is replaced where it stands; one in a slot left to its default is added.
static_assert(is_written<With<mine<>, InParts>, Net, Text, InParts>);
static_assert(is_written<With<mine<>, Bf16, InParts>, Net, Text, InParts, Bf16>);
static_assert(is_written<With<mine<>>, Net, Text, AtOnce>);
static_assert(is_written<With<mine<Average<>, SkipSteps<>>, Average<{.decay = 0.5}>>, Net, Text,
                         AtOnce, Average<{.decay = 0.5}>, SkipSteps<>>);
static_assert(is_written<With<With<mine<>, Bf16>, Fp32, InParts>, Net, Text, InParts, Fp32>);

// It plans what it says, and its origin can be named.
static_assert(Plan<With<mine<>, InParts, Checkpoint<>, Bf16>>::bytes ==
              Plan<Recipe<Net, Text, InParts, Checkpoint<>, Bf16>>::bytes);
static_assert(Plan<With<mine<>, InParts>>::bytes < Plan<mine<>>::bytes);
struct faster : With<mine<>, InParts, Ddp<{.ranks = 2}>> {};
static_assert(ready<faster>());
static_assert(std::is_same_v<faster::original, mine<>>);
