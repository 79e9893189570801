// SPDX-License-Identifier: Apache-2.0
// A plan of 96 layers with the longest of programs, whose evaluation must stay as cheap as it is: in
// this file the compilers' limits are lowered (../CMakeLists.txt).
#include "sinter/data/bytes.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/recipe/plan.hpp"

using namespace sinter;

struct Deep : Recipe<Gpt2<{.layers = 96}>, Bytes<{.context = 1024}>,
                     Batch<{.global = 512, .micro = 8}>, Checkpoint<{.policy = full}>, Ddp<>> {};
static_assert(ready<Deep>());
