// SPDX-License-Identifier: Apache-2.0
// Must not compile: CrossAttention: the number of heads does not divide the width
#include "sinter/layer/cross_attention.hpp"
using namespace sinter;

constexpr auto in = CrossAttention<8, 3>::in;
