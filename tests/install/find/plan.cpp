// SPDX-License-Identifier: Apache-2.0
// What the headers alone are good for: a plan that is checked when this compiles.
#include <sinter/sinter.hpp>

struct curve : sinter::Recipe<sinter::Mlp<{.in = 1, .hidden = 8, .out = 1}>,
                              sinter::Batch<{.global = 8, .micro = 8}>> {};
static_assert(sinter::Plan<curve>::parameters == 8 + 8 + 8 + 1);
