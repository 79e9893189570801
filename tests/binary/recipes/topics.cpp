// SPDX-License-Identifier: Apache-2.0
// A tiny DistilBERT that tells which of three topics a text has, if any.
#include <sinter/sinter.hpp>
using namespace sinter;

struct topics : Recipe<DistilBert<{.layers = 1,
                                   .heads = 2,
                                   .width = 16,
                                   .hidden = 16,
                                   .vocabulary = 258,
                                   .positions = 24,
                                   .labels = 3,
                                   .label_kind = LabelKind::several_classes}>,
                       LabelledText<"topics", "text", "",
                                    {.context = 24,
                                     .classes = 3,
                                     .label_kind = LabelKind::several_classes,
                                     .format = TextFormat::json_lines},
                                    "art, law, sport">,
                       AdamW<{.lr = 1e-2}>, Constant, Batch<{.global = 16, .micro = 4}>,
                       Metrics<ExactClasses, F1<>, F1<{.average = ClassAverage::samples}>,
                               Precision<{.average = ClassAverage::micro}>,
                               Recall<{.average = ClassAverage::micro}>>> {};

int main(int argc, char** argv) { return run<topics>(argc, argv); }
