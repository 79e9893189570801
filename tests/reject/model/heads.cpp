// SPDX-License-Identifier: Apache-2.0
// Must not compile: Gpt2: heads does not divide width
#include "sinter/data/bytes.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Gpt2<{.layers = 2, .heads = 5, .width = 64}>, Bytes<>> {};
constexpr bool checked = ready<mine>();
