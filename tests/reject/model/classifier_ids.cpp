// SPDX-License-Identifier: Apache-2.0
// Must not compile: Classifier: Layer, in this error, does not turn one operand of numbers into one
// and: Embedding<16, 4
#include "sinter/layer/embedding.hpp"
#include "sinter/model/classifier.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Classifier<Embedding<16, 4>>> {};
constexpr bool checked = ready<mine>();
