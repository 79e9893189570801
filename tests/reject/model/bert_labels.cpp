// SPDX-License-Identifier: Apache-2.0
// Must not compile: Bert, DistilBert: there is one label
#include "sinter/data/bytes.hpp"
#include "sinter/model/bert.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Bert<{.layers = 1,
                           .heads = 2,
                           .width = 16,
                           .hidden = 16,
                           .vocabulary = 257,
                           .positions = 16,
                           .labels = 1}>,
                     Bytes<{.context = 16}>> {};
constexpr bool checked = ready<mine>();
