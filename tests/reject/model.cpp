// SPDX-License-Identifier: Apache-2.0
#include "sinter/batching/padded.hpp"
#include "sinter/data/bytes.hpp"
#include "sinter/data/columns.hpp"
#include "sinter/data/labelled_text.hpp"
#include "sinter/layer/add.hpp"
#include "sinter/layer/embedding.hpp"
#include "sinter/model/bert.hpp"
#include "sinter/model/classifier.hpp"
#include "sinter/model/distilbert.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/model/roberta.hpp"
#include "sinter/model/seq2seq.hpp"
#include "sinter/objective/masked_lm.hpp"
#include "sinter/recipe/plan.hpp"
#include "support/recipes.hpp"
using namespace sinter;

/// Options of small models, which are legal unless a case changes one.
struct Small {
  int heads = 2, width = 16, vocabulary = 257;
  bool pairs = false;
  int labels = 0, pad = -1;
  LabelKind kind = LabelKind::one_class;
  Positions position = Positions::learned;
  int position_offset = 0;
};
template <Small S = {}>
using SmallBert = Bert<{.layers = 1,
                        .heads = S.heads,
                        .width = S.width,
                        .hidden = 16,
                        .vocabulary = S.vocabulary,
                        .positions = 16,
                        .pairs = S.pairs,
                        .labels = S.labels,
                        .label_kind = S.kind}>;
template <Small S = {}>
using SmallRoberta = Roberta<{.layers = 1,
                              .heads = S.heads,
                              .width = S.width,
                              .hidden = 16,
                              .vocabulary = S.vocabulary,
                              .positions = 16,
                              .pad = S.pad < 0 ? 1 : S.pad,
                              .labels = S.labels,
                              .label_kind = S.kind}>;
template <Small S = {}>
using SmallSeq2Seq = Seq2Seq<{.encoder_layers = 1,
                              .decoder_layers = 1,
                              .heads = S.heads,
                              .width = S.width,
                              .hidden = 16,
                              .vocabulary = S.vocabulary,
                              .positions = 16,
                              .position = S.position,
                              .position_offset = S.position_offset,
                              .pad = S.pad}>;
/// The members of a whole layer, from one operand to one result of the same width.
struct Whole {
  static constexpr std::array in{8};
  static constexpr std::array out{8};
  static void forward(auto&) {}
  static void backward(auto&) {}
};

// Must not compile, bert_context: Bert, DistilBert: the data's context is beyond the model's positions
struct mine : Recipe<SmallBert<>, Bytes<{.context = 17}>, MaskedLm<{.mask = 256}>> {};

// Must not compile, bert_heads: Bert, DistilBert: heads does not divide width
struct mine : Recipe<SmallBert<{.heads = 3}>, Bytes<{.context = 16}>, MaskedLm<{.mask = 256}>> {};

// Must not compile, bert_kind: Bert, DistilBert: .label_kind without .labels
struct mine : Recipe<SmallBert<{.kind = LabelKind::numbers}>, Bytes<{.context = 16}>> {};

// Must not compile, bert_labels: Bert, DistilBert: there is one label
struct mine : Recipe<SmallBert<{.labels = 1}>, Bytes<{.context = 16}>> {};

// Must not compile, bert_objective: Bert, DistilBert: an objective with labels or pairs
struct mine : Recipe<SmallBert<{.pairs = true}>, Bytes<{.context = 16}>, MaskedLm<{.mask = 256}>> {
};

// Must not compile, bert_padded: Bert, DistilBert: the batching pads sequences
struct mine : Recipe<SmallBert<{.vocabulary = 258}>, Columns<"1", "2", {.text = 8, .label = 8}>,
                     Padded, MaskedLm<{.mask = 257}>> {};

// Must not compile, bert_vocabulary: Bert, DistilBert: the model's vocabulary is smaller than the data's
struct mine
    : Recipe<SmallBert<{.vocabulary = 100}>, Bytes<{.context = 16}>, MaskedLm<{.mask = 99}>> {};

// Must not compile, classifier_ids: Classifier: Layer, in this error, does not turn one operand of numbers into one
// and: Embedding<16, 4
struct mine : Recipe<Classifier<Embedding<16, 4>>> {};

// Must not compile, classifier_loss: Classifier: Layer, in this error, does not turn one operand of numbers into one
// and: acme::Losses
namespace acme {
/// The sum of a row's squares.
struct Losses : Whole {
  static constexpr std::array out{1};
  static constexpr bool loss = true;
};
}  // namespace acme
struct mine : Recipe<Classifier<acme::Losses>> {};

// Must not compile, classifier_member: Sinter: a member of a layer is missing, or not what it must be
// and: acme::Swish and: {"cheap"}
namespace acme {
struct Swish : Whole {
  static constexpr int cheap = 1;
};
}  // namespace acme
struct mine : Recipe<Classifier<acme::Swish>> {};

// Must not compile, classifier_no_layer: Classifier: Layer, in this error, does not turn one operand of numbers into one
// and: acme::Widthless
namespace acme {
struct Widthless {};
}  // namespace acme
struct mine : Recipe<Classifier<acme::Widthless>> {};

// Must not compile, classifier_operands: Classifier: Layer, in this error, does not turn one operand of numbers into one
// and: Add<8>
struct mine : Recipe<Classifier<Add<8>>> {};

// Must not compile, classifier_results: Classifier: Layer, in this error, does not turn one operand of numbers into one
// and: acme::Halves
namespace acme {
/// Both halves of a row, each as a result.
struct Halves : Whole {
  static constexpr std::array out{4, 4};
};
}  // namespace acme
struct mine : Recipe<Classifier<acme::Halves>> {};

// Must not compile, context: the data's context is beyond the model's positions
struct mine : Recipe<Gpt2<{.layers = 2, .positions = 128}>, Bytes<{.context = 129}>> {};

// Must not compile, distilbert_heads: Bert, DistilBert: heads does not divide width
struct mine : Recipe<DistilBert<{.layers = 1,
                                 .heads = 3,
                                 .width = 16,
                                 .hidden = 16,
                                 .vocabulary = 257,
                                 .positions = 16}>,
                     Bytes<{.context = 16}>, MaskedLm<{.mask = 256}>> {};

// Must not compile, dropout: Sinter: an option of a policy is outside its range
// and: {"dropout"} and: {"at least 0 and below 1"}
struct mine : Recipe<Gpt2<{.layers = 2, .dropout = 1.0}>, Bytes<>> {};

// Must not compile (quick), heads: Gpt2: heads does not divide width
struct mine : Recipe<Gpt2<{.layers = 2, .heads = 5, .width = 64}>, Bytes<>> {};

// Must not compile, layers: Sinter: an option of a policy is outside its range
// and: {"layers"} and: {"at least 2"}
struct mine : Recipe<Mlp<{.layers = 1}>> {};

// Must not compile, llama_biases: Sinter: options of a policy contradict each other
// and: {"qkv_biases beside attention_biases"} and: {"choose one of them"}
struct mine
    : Recipe<
          Llama<{
              .layers = 2, .heads = 4, .width = 64, .qkv_biases = true, .attention_biases = true}>,
          Bytes<>> {};

// Must not compile, llama_context: Llama: the data's context is beyond the model's positions
struct mine : Recipe<Llama<{.layers = 2, .heads = 4, .width = 64, .positions = 128}>,
                     Bytes<{.context = 129}>> {};

// Must not compile, llama_dynamic: Sinter: options of a policy contradict each other
// and: {"dynamic scaling of heads 2 wide"} and: {"choose wider heads"}
struct mine
    : Recipe<Llama<{.layers = 2, .heads = 32, .width = 64, .scaling = RotaryScaling::dynamic}>,
             Bytes<>> {};

// Must not compile, llama_frequencies: Sinter: options of a policy contradict each other
// and: {"low_frequency is not the lower"} and: {"lower it, or raise the other"}
struct mine : Recipe<Llama<{.layers = 2,
                            .heads = 4,
                            .width = 64,
                            .scaling = RotaryScaling::llama3,
                            .low_frequency = 4}>,
                     Bytes<>> {};

// Must not compile, llama_head_width: Llama: head_width is odd
struct mine : Recipe<Llama<{.layers = 2, .heads = 4, .width = 64, .head_width = 15}>, Bytes<>> {};

// Must not compile, llama_heads: Llama: width is not an even multiple of heads
struct mine : Recipe<Llama<{.layers = 2, .heads = 4, .width = 100}>, Bytes<>> {};

// Must not compile, llama_kv_heads: Llama: kv_heads does not divide heads
struct mine : Recipe<Llama<{.layers = 2, .heads = 4, .kv_heads = 3, .width = 64}>, Bytes<>> {};

// Must not compile, llama_scaling: Sinter: options of a policy contradict each other
// and: {"scaling_factor without scaling"} and: {"choose linear or llama3"}
struct mine : Recipe<Llama<{.layers = 2, .heads = 4, .width = 64, .scaling_factor = 2}>, Bytes<>> {
};

// Must not compile, llama_vocabulary: Llama: the model's vocabulary is smaller than the data's
struct mine : Recipe<Llama<{.layers = 2, .heads = 4, .width = 64, .vocabulary = 255}>, Bytes<>> {};

// Must not compile, llama_window: Sinter: an option of a policy is outside its range
// and: {"window"} and: {"at least 0"}
struct mine : Recipe<Llama<{.layers = 2, .heads = 4, .width = 64, .window = -1}>, Bytes<>> {};

// Must not compile, llama_yarn: Sinter: options of a policy contradict each other
// and: {"beta_slow is not the lower"} and: {"lower it, or raise beta_fast"}
struct mine : Recipe<Llama<{.layers = 2,
                            .heads = 4,
                            .width = 64,
                            .scaling = RotaryScaling::yarn,
                            .beta_fast = 0.5}>,
                     Bytes<>> {};

// Must not compile, llama_yarn_theta: Sinter: options of a policy contradict each other
// and: {"yarn with a theta of 1 or less"} and: {"raise theta"}
struct mine
    : Recipe<
          Llama<{.layers = 2, .heads = 4, .width = 64, .theta = 1, .scaling = RotaryScaling::yarn}>,
          Bytes<>> {};

// Must not compile, llama_yarn_without: Sinter: options of a policy contradict each other
// and: {"options of yarn without yarn"} and: {"choose yarn as the scaling"}
struct mine : Recipe<Llama<{.layers = 2, .heads = 4, .width = 64, .mscale = 0.5}>, Bytes<>> {};

// Must not compile, roberta_context: Roberta: the data's context is beyond the model's positions
struct mine : Recipe<SmallRoberta<>, Bytes<{.context = 17}>, MaskedLm<{.mask = 256}>> {};

// Must not compile, roberta_heads: Roberta: heads does not divide width
struct mine : Recipe<SmallRoberta<{.heads = 3}>, Bytes<{.context = 16}>, MaskedLm<{.mask = 256}>> {
};

// Must not compile, roberta_kind: Roberta: .label_kind without .labels, or of tokens
struct mine : Recipe<SmallRoberta<{.labels = 2, .kind = LabelKind::class_of_token}>,
                     Bytes<{.context = 16}>> {};

// Must not compile, roberta_labels: Roberta: there is one label
struct mine : Recipe<SmallRoberta<{.labels = 1}>, Bytes<{.context = 16}>> {};

// Must not compile, roberta_marks: Roberta: the data put BERT's marks around texts
struct mine : Recipe<SmallRoberta<{.vocabulary = 258, .labels = 2}>,
                     LabelledText<"label", "sentence", "", {.context = 16}>> {};

// Must not compile, roberta_objective: Roberta: an objective with labels
struct mine : Recipe<SmallRoberta<{.labels = 2}>, Bytes<{.context = 16}>, MaskedLm<{.mask = 256}>> {
};

// Must not compile, roberta_pad: Roberta: pad is beyond the vocabulary
struct mine : Recipe<SmallRoberta<{.pad = 257}>, Bytes<{.context = 16}>, MaskedLm<{.mask = 256}>> {
};

// Must not compile, roberta_padded: Roberta: the batching pads sequences
struct mine : Recipe<SmallRoberta<{.vocabulary = 258}>, Columns<"1", "2", {.text = 8, .label = 8}>,
                     Padded, MaskedLm<{.mask = 257}>> {};

// Must not compile, roberta_vocabulary: Roberta: the model's vocabulary is smaller than the data's
struct mine
    : Recipe<SmallRoberta<{.vocabulary = 100}>, Bytes<{.context = 16}>, MaskedLm<{.mask = 99}>> {};

// Must not compile, seq2seq_context: Seq2Seq: the data's texts or replies are longer than the model's positions
struct mine : Recipe<SmallSeq2Seq<>, detail::testing::UpToBoth<16, 17, 257>> {};

// Must not compile, seq2seq_marks: Seq2Seq: start, end or pad is beyond the vocabulary
struct mine : Recipe<SmallSeq2Seq<{.pad = 257}>, detail::testing::UpToBoth<16, 16, 257>> {};

// Must not compile, seq2seq_odd_width: Seq2Seq: heads does not divide width, or width is odd
struct mine : Recipe<SmallSeq2Seq<{.heads = 3, .width = 15, .position = Positions::sinusoidal}>,
                     detail::testing::UpToBoth<16, 16, 257>> {};

// Must not compile, seq2seq_offset: Seq2Seq: position_offset with sinusoidal positions
struct mine : Recipe<SmallSeq2Seq<{.position = Positions::sinusoidal, .position_offset = 2}>,
                     detail::testing::UpToBoth<16, 16, 257>> {};

// Must not compile, seq2seq_vocabulary: Seq2Seq: the model's vocabulary is smaller than the data's
struct mine : Recipe<SmallSeq2Seq<{.vocabulary = 256}>, detail::testing::UpToBoth<16, 16, 257>> {};

// Must not compile, seq2seq_width: Seq2Seq: heads does not divide width, or width is odd
struct mine : Recipe<SmallSeq2Seq<{.width = 17}>, detail::testing::UpToBoth<16, 16, 257>> {};

// Must not compile, vocabulary: the model's vocabulary is smaller than the data's
struct mine : Recipe<Gpt2<{.layers = 2, .vocabulary = 255}>, Bytes<>> {};

// Must not compile, vocabulary_multiple: Sinter: an option of a policy is outside its range
// and: {"vocabulary_multiple"}
struct mine : Recipe<Gpt2<{.layers = 2, .vocabulary_multiple = 0}>, Bytes<>> {};
