// SPDX-License-Identifier: Apache-2.0
// Names of the standard library that a program uses for itself, beside all of Sinter's.
#include <sinter/sinter.hpp>

int data = 1, vector = 2, size = 3, array = 4, span = 5, string = 6, function = 7;

using namespace sinter;

int sum() { return data + vector + size + array + span + string + function; }

struct small : Recipe<Mlp<{.in = 1, .hidden = 8, .out = 1}>, AdamW<{.lr = 1e-2}>,
                      Batch<{.global = 4, .micro = 4}>> {};
static_assert(ready<small>());
