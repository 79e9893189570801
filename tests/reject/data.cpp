// SPDX-License-Identifier: Apache-2.0
#include "sinter/batching/padded.hpp"
#include "sinter/data/array_files.hpp"
#include "sinter/data/bytes.hpp"
#include "sinter/data/chat.hpp"
#include "sinter/data/data_view.hpp"
#include "sinter/data/dialogue.hpp"
#include "sinter/data/dialogue_pairs.hpp"
#include "sinter/data/json_lines.hpp"
#include "sinter/data/labelled_text.hpp"
#include "sinter/data/labelled_words.hpp"
#include "sinter/layer/attention.hpp"
#include "sinter/model/bert.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/objective/masked_lm.hpp"
#include "sinter/recipe/plan.hpp"
#include "support/axes_models.hpp"
#include "support/pooled_model.hpp"
#include "support/reply_model.hpp"
using namespace sinter;

using SmallGpt2 = Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 258}>;
/// Learns one of two labels.
template <bool Pairs = false, int Types = 2, LabelKind Kind = LabelKind::one_class>
using Labeller = Bert<{.layers = 1,
                       .heads = 2,
                       .width = 16,
                       .hidden = 16,
                       .vocabulary = 258,
                       .positions = 16,
                       .types = Types,
                       .pairs = Pairs,
                       .labels = 2,
                       .label_kind = Kind}>;
/// Rows of numbers, without a member that the binary uses.
struct Numbers {
  using slot = sinter::slot::data;
  static constexpr int context = 1, vocabulary = 0;
};

// Must not compile, has_examples_type: Sinter: a member of a policy has the name of a hook, but another form
// and: the member has_examples of Policy and: constexpr bool has_examples
struct Table : Numbers {
  static constexpr std::string_view has_examples = "yes";
};
struct mine : Recipe<Mlp<>, Table> {};

// Must not compile (quick), ids_for_numbers: Sinter: the data gives ids, and the model takes none
// and: Mlp< and: Bytes<
struct mine : Recipe<Mlp<>, Bytes<>> {};

// Must not compile, chat_format: Chat: the type before its options is no format of conversations
namespace acme {
struct Play {
  void write(std::span<const ChatMessage> chat, ChatText& text) const;  // is not static
};
}  // namespace acme
struct mine : Recipe<SmallGpt2, Chat<acme::Play>> {};

// Must not compile, chat_no_format: Chat: the type before its options is no format of conversations
struct mine : Recipe<SmallGpt2, Chat<int>> {};

// Must not compile, chat_problem: Chat: the type before its options is no format of conversations
namespace acme {
struct Play : PlainChat {
  static bool problem(std::span<const ChatMessage> chat);
};
}  // namespace acme
struct mine : Recipe<SmallGpt2, Chat<acme::Play>> {};

// Must not compile, chat_second_axis: The model has an input on axis 1, and these data have one sequence at a time
struct mine : Recipe<detail::testing::Replier<258>, Chat<PlainChat, {.context = 8}>> {};

// Must not compile, classes_for_numbers: Sinter: the data gives ids, and the model takes none
// and: Mlp<{.classifier = true}> and: ArrayFiles<
struct mine : Recipe<Mlp<{.in = 4, .out = 3}>, ArrayFiles<{.in = 4, .out = 3, .classes = true}>> {};

// Must not compile, json_lines_label: JsonLines: the second name, that of the field to learn, is empty
struct mine : Recipe<SmallGpt2, JsonLines<"text", "", {.text = 8, .label = 8}>> {};

// Must not compile, labelled_class_names: LabelledText: the names of the classes are not as many as its .classes
struct mine
    : Recipe<Labeller<>, LabelledText<"label", "a", "", {.context = 16}, "good, bad, so so">> {};

// Must not compile, labelled_few_classes: LabelledText: the model has fewer classes than the data
struct mine : Recipe<Labeller<>, LabelledText<"label", "a", "", {.context = 16, .classes = 3}>> {};

// Must not compile, labelled_few_types: LabelledText: the model has fewer types of tokens than a pair
struct mine
    : Recipe<Labeller<true, 1>, LabelledText<"label", "a", "b", {.context = 16, .types = true}>> {};

// Must not compile, labelled_header: LabelledText: .header = false with JSON lines
struct mine
    : Recipe<Labeller<>,
             LabelledText<"label", "a", "",
                          {.context = 16, .format = TextFormat::json_lines, .header = false}>> {};

// Must not compile, labelled_kind: LabelledText: model and data do not agree on what a label is
struct mine
    : Recipe<Labeller<false, 2, LabelKind::several_classes>,
             LabelledText<"label", "a", "", {.context = 16, .label_kind = LabelKind::numbers}>> {};

// Must not compile, labelled_kind_of_tokens: LabelledText: .label_kind = class_of_token
struct mine
    : Recipe<Labeller<>, LabelledText<"label", "a", "",
                                      {.context = 16, .label_kind = LabelKind::class_of_token}>> {};

// Must not compile, labelled_lists: LabelledText: several classes of a text in a table
struct mine : Recipe<Labeller<false, 2, LabelKind::several_classes>,
                     LabelledText<"label", "a", "",
                                  {.context = 16, .label_kind = LabelKind::several_classes}>> {};

// Must not compile, labelled_number_names: LabelledText: names of classes, and labels that are numbers
struct mine
    : Recipe<Labeller<false, 2, LabelKind::numbers>,
             LabelledText<"label", "a", "", {.context = 16, .label_kind = LabelKind::numbers},
                          "one, other">> {};

// Must not compile, labelled_one_class: LabelledText: there is one class
struct mine : Recipe<Labeller<>, LabelledText<"label", "a", "", {.context = 16, .classes = 1}>> {};

// Must not compile, labelled_word_names: LabelledWords: the name of the labels or of the words is empty
struct mine : Recipe<Labeller<false, 2, LabelKind::class_of_token>,
                     LabelledWords<"tags", "", {.context = 16}>> {};

// Must not compile, labelled_word_class_names: LabelledWords: the names of the classes are not as many
struct mine : Recipe<Labeller<false, 2, LabelKind::class_of_token>,
                     LabelledWords<"tags", "tokens", {.context = 16}, "O, B, I">> {};

// Must not compile, labelled_words: LabelledWords: the model does not learn these classes of tokens
struct mine : Recipe<Labeller<>, LabelledWords<"tags", "tokens", {.context = 16}>> {};

// Must not compile, labelled_names: LabelledText: the name of the label or of the first text is empty
struct mine : Recipe<Labeller<>, LabelledText<"label", "", "b", {.context = 16}>> {};

// Must not compile, labelled_no_classes: LabelledText: the model does not learn a class of each sequence
struct mine : Recipe<SmallGpt2, LabelledText<"label", "sentence">> {};

// Must not compile, labelled_objective: LabelledText: an objective with labels
struct mine
    : Recipe<detail::testing::Pooled<2>, LabelledText<"label", "text">, MaskedLm<{.mask = 257}>> {};

// Must not compile, labelled_padded: LabelledText: the batching pads sequences
struct mine : Recipe<detail::testing::Pooled<2>, LabelledText<"label", "text">, Padded> {};

// Must not compile, labelled_types_given: LabelledText: data and model do not agree on types of tokens
struct mine : Recipe<Labeller<>, LabelledText<"label", "a", "b", {.context = 16, .types = true}>> {
};

// Must not compile, labelled_types_left_out: LabelledText: data and model do not agree on types of tokens
struct mine : Recipe<Labeller<true>, LabelledText<"label", "a", "b", {.context = 16}>> {};

// Must not compile, open_not_static: Sinter: a member of a policy has the name of a hook, but another form
// and: the member open of Policy and: make it static and public
struct Table : Numbers {
  OpenedData open(const DataRequest& request) const;
};
struct mine : Recipe<Mlp<>, Table> {};

// Must not compile (quick), open_signature: Sinter: a member of a policy has the name of a hook, but another form
// and: has_another_form and: acme::Table and: the member open of Policy
// and: OpenedData open(const DataRequest&)
namespace acme {
struct Table : Numbers {
  static OpenedData open(const std::vector<std::string>& paths);
};
}  // namespace acme
struct mine : Recipe<Mlp<>, acme::Table> {};

// Must not compile, pairs_not_taken: DialoguePairs: the model does not read a text and write its reply
struct mine : Recipe<SmallGpt2, DialoguePairs<{.text = 8, .label = 8}>> {};

// Must not compile, pairs_objective: DialoguePairs: an objective with replies
struct mine
    : Recipe<detail::testing::Replier<258>, DialoguePairs<{.text = 8, .label = 8}>, MaskedLm<>> {};

// Must not compile, pairs_other_order: g.tokens(1), g.tokens(0) and g.targets(0), in this order
struct mine : Recipe<detail::testing::TwoAxes<>, DialoguePairs<{.text = 8, .label = 8}>> {};

// Must not compile, pairs_seen: The model sees the token that it is to predict
constexpr int W = 8;
struct Embed {
  static constexpr Value<W> trace(auto& g, Ids tokens) {
    return g("table", Embedding<258, W>{}, tokens);
  }
};
struct Guess {
  static constexpr Value<1> trace(auto& g, Value<W> x, Value<W> source, Ids targets) {
    auto seen = g("see", SelfAttention<W, 2>{}, g("qkv", Linear<W, 3 * W>{}, x));
    auto mixed = g("mix", detail::testing::AddMeanOfRows<W>{}, seen, source);
    return g("head", LinearCrossEntropy<258, W>{}, mixed, targets);
  }
};
struct model {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto source = g.tokens(1), said = g.tokens(0), targets = g.targets(0);
    auto x = g.unit("decoder", Embed{}, said), y = g.unit("encoder", Embed{}, source);
    g.result(g.unit("guess", Guess{}, x, y, targets));
  }
};
struct mine : Recipe<model, DialoguePairs<{.text = 8, .label = 8}>> {};

// Must not compile, pairs_padding: DialoguePairs: the batching pads, and a layer of the model would see padding
constexpr int W = 8;
struct Mix : detail::testing::AddMeanOfRows<W> {
  static constexpr bool skips_padding = false;
};
struct Guess {
  static constexpr Value<1> trace(auto& g, Ids source, Ids said, Ids targets) {
    auto x = g("said", Embedding<258, W>{}, said), y = g("source", Embedding<258, W>{}, source);
    return g("head", LinearCrossEntropy<258, W>{}, g("mix", Mix{}, x, y), targets);
  }
};
struct model {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto source = g.tokens(1), said = g.tokens(0), targets = g.targets(0);
    g.result(g.unit("guess", Guess{}, source, said, targets));
  }
};
struct mine : Recipe<model, DialoguePairs<{.text = 8, .label = 8}>, Padded> {};

// Must not compile, pairs_start: DialoguePairs: .start is not in the vocabulary
struct mine : Recipe<detail::testing::Replier<258>, DialoguePairs<{.start = 258}>> {};

// Must not compile, prompt_signature: Sinter: a member of a policy has the name of a hook, but another form
// and: the member prompt of Policy and: Prompt prompt(const Tokenizer&
struct Lines : Numbers {
  static Prompt prompt(std::string_view text);
};
struct mine : Recipe<Mlp<>, Lines> {};

// Must not compile, second_axis: The model has an input on axis 1, and these data have one sequence at a time
struct mine : Recipe<detail::testing::Replier<258>, Dialogue<{.text = 8, .label = 8}>> {};

// Must not compile, takes_tokenizer_type: Sinter: a member of a policy has the name of a hook, but another form
// and: the member takes_tokenizer of Policy and: constexpr bool takes_tokenizer
struct Table : Numbers {
  static constexpr std::string_view takes_tokenizer = "yes";
};
struct mine : Recipe<Mlp<>, Table> {};

// Must not compile, tokenizer_signature: Sinter: a member of a policy has the name of a hook, but another form
// and: the member tokenizer of Policy and: Tokenizer tokenizer()
struct Words {
  using slot = sinter::slot::data;
  static constexpr int context = 8, vocabulary = 100;
  static OpenedData open(const DataRequest& request);
  static std::vector<std::int32_t> tokenizer(std::string_view text);
};
struct mine : Recipe<Mlp<>, Words> {};

// Must not compile, unit_type: Sinter: a member of a policy has the name of a hook, but another form
// and: the member unit of Policy and: constexpr DataUnit unit
struct Table : Numbers {
  static constexpr std::string_view unit = "row";
};
struct mine : Recipe<Mlp<>, Table> {};
