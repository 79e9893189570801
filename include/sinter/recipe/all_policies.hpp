// SPDX-License-Identifier: Apache-2.0
// All policies that Sinter ships. A new one is included and listed here, or in techniques.hpp;
// sinter.hpp, tests and pages read these lists.
#pragma once
#include "sinter/batch/batch.hpp"
#include "sinter/batch/generation.hpp"
#include "sinter/batch/pad_rows.hpp"
#include "sinter/batch/sample.hpp"
#include "sinter/batch/scaled_rate.hpp"
#include "sinter/batching/dynamic_batch.hpp"
#include "sinter/batching/length_grouped.hpp"
#include "sinter/batching/packed.hpp"
#include "sinter/batching/padded.hpp"
#include "sinter/clipping/clip_norm.hpp"
#include "sinter/clipping/clip_value.hpp"
#include "sinter/clipping/no_clip.hpp"
#include "sinter/curriculum/batch_warmup.hpp"
#include "sinter/curriculum/length_warmup.hpp"
#include "sinter/data/array_files.hpp"
#include "sinter/data/bytes.hpp"
#include "sinter/data/chat.hpp"
#include "sinter/data/columns.hpp"
#include "sinter/data/dialogue.hpp"
#include "sinter/data/dialogue_pairs.hpp"
#include "sinter/data/json_lines.hpp"
#include "sinter/data/labelled_text.hpp"
#include "sinter/data/labelled_words.hpp"
#include "sinter/data/rows.hpp"
#include "sinter/data/tokens.hpp"
#include "sinter/device/cpu.hpp"
#include "sinter/device/cuda.hpp"
#include "sinter/evaluation/evaluate.hpp"
#include "sinter/evaluation/skip_generation.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/metric/accuracy.hpp"
#include "sinter/metric/bleu.hpp"
#include "sinter/metric/distinct.hpp"
#include "sinter/metric/exact_classes.hpp"
#include "sinter/metric/exact_match.hpp"
#include "sinter/metric/f1.hpp"
#include "sinter/metric/generated_length.hpp"
#include "sinter/metric/hits_at.hpp"
#include "sinter/metric/matthews.hpp"
#include "sinter/metric/metrics.hpp"
#include "sinter/metric/pearson.hpp"
#include "sinter/metric/precision.hpp"
#include "sinter/metric/recall.hpp"
#include "sinter/metric/rouge_l.hpp"
#include "sinter/metric/token_accuracy.hpp"
#include "sinter/metric/token_f1.hpp"
#include "sinter/model/bert.hpp"
#include "sinter/model/classifier.hpp"
#include "sinter/model/distilbert.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/model/roberta.hpp"
#include "sinter/model/seq2seq.hpp"
#include "sinter/objective/class_weights.hpp"
#include "sinter/objective/label_smoothing.hpp"
#include "sinter/objective/masked_lm.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/single.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/parameters/freeze.hpp"
#include "sinter/parameters/groups.hpp"
#include "sinter/parameters/lora.hpp"
#include "sinter/parameters/quantize.hpp"
#include "sinter/recipe/techniques.hpp"
#include "sinter/recovery/roll_back.hpp"
#include "sinter/recovery/skip_steps.hpp"
#include "sinter/recovery/spike_guard.hpp"
#include "sinter/schedule/constant.hpp"
#include "sinter/schedule/cosine_decay.hpp"
#include "sinter/schedule/cosine_restarts.hpp"
#include "sinter/schedule/inverse_sqrt.hpp"
#include "sinter/schedule/linear_decay.hpp"
#include "sinter/schedule/plateau.hpp"
#include "sinter/schedule/polynomial_decay.hpp"
#include "sinter/schedule/warmup_stable_decay.hpp"
#include "sinter/stopping/early_stop.hpp"

namespace sinter::detail::shipped {

using model = PolicyList<Bert<>, Classifier<Linear<2, 2>>, DistilBert<>, Gpt2<>, Llama<>, Mlp<>,
                         Roberta<>, Seq2Seq<>>;  ///< all models
using data = PolicyList<Bytes<>, Tokens<>, ArrayFiles<>, Rows, Dialogue<>, DialoguePairs<>,
                        JsonLines<"", "text">, Columns<"1", "2">, LabelledText<"1", "2">,
                        LabelledWords<"1", "2">, Chat<ChatMl>>;  ///< all data policies
using batching = PolicyList<Packed, Padded, LengthGrouped,
                            DynamicBatch<>>;  ///< all ways to put examples into batches
/// All objectives, and what changes the loss of classes and tokens.
using objective = PolicyList<MaskedLm<>, LabelSmoothing<>, ClassWeights<1, 1>>;
using parameters =  ///< all policies for some parameters
    PolicyList<Groups<Group<"*", {.learning_rate = 0.5}>>, Freeze<"wte">,
               Lora<{}, Targets<"*.c_attn">>, Average<>, ScaledRate<ScaledRateOptions{}>,
               Quantize<>>;
using clipping = PolicyList<ClipNorm<>, ClipValue<>, NoClip>;  ///< all clipping policies
using schedule =
    PolicyList<Constant, LinearDecay<>, CosineDecay<>, CosineRestarts<>, PolynomialDecay<>,
               InverseSqrt<>, WarmupStableDecay<>, Plateau<>>;  ///< all schedules
using batch =
    PolicyList<Batch<>, BatchWarmup<>, LengthWarmup<>, PadRows<>>;  ///< all for the size of a batch
using generation = PolicyList<Generation<>, Sample<>>;  ///< all policies for texts that are written
using parallel = PolicyList<Single, Ddp<>, SplitBatch<>, Zero<>>;  ///< all parallel policies
using device = PolicyList<Cpu, Cuda<>>;                            ///< all devices
using recovery =
    PolicyList<SkipSteps<>, RollBack<>, SpikeGuard<>>;  ///< all policies for steps that go wrong

using metric = PolicyList<Metrics<Accuracy, F1<>, Matthews>>;  ///< all metrics
using evaluation =
    PolicyList<Evaluate<>, SkipGeneration>;  ///< all choices of what evaluations write
using stopping = PolicyList<EarlyStop<>>;    ///< all policies that end a run early

/// All of them in one list.
using all =
    Joined<model, data, batching, objective, precision, optimizer, parameters, clipping, schedule,
           batch, generation, memory, parallel, device, recovery, metric, evaluation, stopping>;

}  // namespace sinter::detail::shipped
