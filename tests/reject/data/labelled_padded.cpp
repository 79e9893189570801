// SPDX-License-Identifier: Apache-2.0
// Must not compile: LabelledText: the batching pads sequences
#include "sinter/batching/padded.hpp"
#include "sinter/data/labelled_text.hpp"
#include "sinter/recipe/plan.hpp"
#include "support/pooled_model.hpp"
using namespace sinter;

struct mine : Recipe<sinter::testing::Pooled<2>, LabelledText<"label", "text">, Padded> {};
constexpr bool checked = ready<mine>();
