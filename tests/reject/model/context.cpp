// SPDX-License-Identifier: Apache-2.0
// Must not compile: the data's context is beyond the model's positions
#include "sinter/data/bytes.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Gpt2<{.layers = 2, .positions = 128}>, Bytes<{.context = 129}>> {};
constexpr bool checked = ready<mine>();
