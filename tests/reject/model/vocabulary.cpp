// SPDX-License-Identifier: Apache-2.0
// Must not compile: the model's vocabulary is smaller than the data's
#include "sinter/data/bytes.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Gpt2<{.layers = 2, .vocabulary = 255}>, Bytes<>> {};
constexpr bool checked = ready<mine>();
