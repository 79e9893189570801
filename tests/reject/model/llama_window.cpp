// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: an option of a policy is outside its range
// and: {"window"}
// and: {"at least 0"}
#include "sinter/data/bytes.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Llama<{.layers = 2, .heads = 4, .width = 64, .window = -1}>, Bytes<>> {};
constexpr bool checked = ready<mine>();
