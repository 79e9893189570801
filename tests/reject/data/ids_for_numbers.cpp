// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: the data gives ids, and the model takes none
// and: Mlp<
// and: Bytes<
#include "sinter/data/bytes.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, Bytes<>> {};
constexpr bool checked = ready<mine>();
