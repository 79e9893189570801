// SPDX-License-Identifier: Apache-2.0
// Must not compile: LabelledText: an objective with labels
#include "sinter/data/labelled_text.hpp"
#include "sinter/objective/masked_lm.hpp"
#include "sinter/recipe/plan.hpp"
#include "support/pooled_model.hpp"
using namespace sinter;

struct mine
    : Recipe<sinter::testing::Pooled<2>, LabelledText<"label", "text">, MaskedLm<{.mask = 257}>> {};
constexpr bool checked = ready<mine>();
