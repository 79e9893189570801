// SPDX-License-Identifier: Apache-2.0
// Must not compile: Classifier: Layer, in this error, does not turn one operand of numbers into one
// and: Add<8>
#include "sinter/layer/add.hpp"
#include "sinter/model/classifier.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Classifier<Add<8>>> {};
constexpr bool checked = ready<mine>();
