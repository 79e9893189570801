// SPDX-License-Identifier: Apache-2.0
// Must not compile: Attention: the window is negative
#include "sinter/layer/attention.hpp"
using namespace sinter;

constexpr auto in = CausalSelfAttention<8, 2, 0.f, 2, -1>::in;
