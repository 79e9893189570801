// SPDX-License-Identifier: Apache-2.0
// Evaluations that write replies: what is asked and compared, over batches, ranks and processes, and without.
#include <bit>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sinter/data/chat.hpp"
#include "sinter/data/dialogue.hpp"
#include "sinter/data/example_source.hpp"
#include "sinter/data/paired_examples.hpp"
#include "sinter/data/windows.hpp"
#include "sinter/evaluation/evaluate.hpp"
#include "sinter/evaluation/skip_generation.hpp"
#include "sinter/files/run_folder.hpp"
#include "sinter/generate/generate.hpp"
#include "sinter/generate/texts.hpp"
#include "sinter/metric/bleu.hpp"
#include "sinter/metric/distinct.hpp"
#include "sinter/metric/exact_match.hpp"
#include "sinter/metric/metrics.hpp"
#include "sinter/metric/rouge_l.hpp"
#include "sinter/metric/text_sums.hpp"
#include "sinter/metric/token_accuracy.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/schedule/plateau.hpp"
#include "sinter/stopping/early_stop.hpp"
#include "sinter/trainer/evaluation.hpp"
#include "sinter/trainer/loop.hpp"
#include "support/axes_models.hpp"
#include "support/folder.hpp"
#include "support/json_rows.hpp"
#include "support/letters.hpp"
#include "support/message_of.hpp"
#include "support/rank_processes.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::replies_tests {

/// A reply as a metric sees it.
struct Seen {
  std::string text, reference;
  std::int64_t tokens;
  bool operator==(const Seen&) const = default;
};
std::vector<Seen> seen;
/// A metric of one's own, which keeps what it sees.
struct Recorded {
  static constexpr std::string_view name = "recorded";
  static constexpr bool greater_is_better = false;
  static constexpr int sums = 1;
  static void add(const WrittenReply& reply, TextSums& into) {
    CHECK(reply.references.size() == 1);
    seen.push_back({std::string(reply.text), reply.references[0], reply.tokens});
    ++into.sums[0];
  }
  static double value(const TextSums& all) { return all.sums[0]; }
};

constexpr ExampleLimits limits{.context = 16, .label = 10};
using Small = Gpt2<{.layers = 1, .heads = 2, .width = 32, .vocabulary = 258, .positions = 26}>;
template <class Writes, class... More>
using Answers = Made<Small, Dialogue<{.text = 16, .label = 10}>, Batch<{.global = 6, .micro = 3}>,
                     AdamW<{.lr = 1e-2}>, Writes, More...>;
using All = Answers<Evaluate<>, Metrics<TokenAccuracy, Recorded>>;
using Scored = Answers<Evaluate<{.examples = 7}>, Metrics<Recorded, Bleu, RougeL, Distinct<1>>>;
using Drawn = Answers<Evaluate<{.generate = Generate::drawn, .tokens = 6, .top_k = 40, .seed = 3}>,
                      Metrics<Recorded>>;
using ByTwo =
    Answers<Evaluate<{.examples = 7}>, Metrics<RougeL, Distinct<1>, Bleu>, Ddp<{.ranks = 2}>>;
using Divided = Answers<Evaluate<{.examples = 7}>, Metrics<RougeL, Distinct<1>, Bleu>,
                        Zero<{.stage = 3, .ranks = 2}>>;
/// Data of letters for a model with an encoder, whose replies have up to 5 of them.
struct Letters : TwoContexts {
  static constexpr bool has_replies = true;
};
using Pairs = Made<TinySeq2Seq, Letters, Batch<{.global = 6, .micro = 3}>, AdamW<{.lr = 1e-2}>,
                   Evaluate<>, Metrics<Recorded>>;
using Talks = Made<Small, Chat<PlainChat, {.context = 26}>, Batch<{.global = 6, .micro = 3}>,
                   AdamW<{.lr = 1e-2}>, Evaluate<>, Metrics<Recorded>>;

const std::vector<std::int32_t> windows(20, 1);
const std::vector<std::vector<std::string>> dialogues{{"one", "uno"},
                                                      {"two", "dos!", "and three?"},
                                                      {"a long text to cut here", "tres"},
                                                      {"", "a long reply to cut"},
                                                      {"four", "cu at ro"},
                                                      {"five", ""},
                                                      {"six", "se is"},
                                                      {"seven", "si et e"},
                                                      {"eight", "ocho"}};

template <class Set>
std::shared_ptr<Set> filled(Set set) {
  for (const auto& turns : dialogues) set.add_dialogue(turns);
  return std::make_shared<Set>(std::move(set));
}
const std::shared_ptr<ExampleSet> examples = filled(ExampleSet(byte_tokenizer(), limits));

AnySource source_of(const std::shared_ptr<const ExampleList>& set, int at_once) {
  return {EvaluationExamples(*set, {0, set->size()}, at_once), set};
}

/// What the metric has seen of an evaluation.
std::vector<Seen> seen_by(TrainerCore& trainer, AnySource source, double* value = nullptr) {
  seen.clear();
  const Evaluation found = *evaluate_all(trainer, source);
  if (value) *value = found.metrics.back().value;
  return seen;
}

/// What generate() writes to a prompt, whose example has this reply.
Seen by_hand(TrainerCore& trainer, const Prompt& prompt, const std::string& reference,
             const Tokenizer& tokenizer = byte_tokenizer()) {
  Seen want{"", reference, 0};
  const GenerationEnd end =
      generate(trainer, prompt, prompt.reply, {.temperature = 0}, [&](std::int32_t token) {
        ++want.tokens;
        if (token < tokenizer.vocabulary) want.text += tokenizer.decode(token);
      });
  want.tokens += end == GenerationEnd::end_of_text;
  return want;
}

/// The replies to all turns but the first of the dialogues.
std::vector<Seen> all_by_hand(TrainerCore& trainer) {
  std::vector<Seen> all;
  for (const auto& turns : dialogues)
    for (std::size_t k = 1; k < turns.size(); ++k)
      all.push_back(by_hand(trainer,
                            reply_prompt(byte_tokenizer(), limits, std::span(turns).first(k)),
                            turns[k].substr(0, std::size_t(limits.label))));
  return all;
}

TEST_CASE("an evaluation writes what generate() does, whatever the sizes of batches") {
  Trainer<All> trainer({.seed = 1, .threads = 1});
  randomise(trainer, 3, .4);
  const std::vector<Seen> want = all_by_hand(trainer);
  REQUIRE(std::ssize(want) == examples->size());
  for (const int at_once : {1, 4, 100}) {
    CAPTURE(at_once);
    double count = 0;
    CHECK(seen_by(trainer, source_of(examples, at_once), &count) == want);
    CHECK(count == double(want.size()));
  }
}

TEST_CASE("only the first examples get a reply, and the metrics are those of their texts") {
  Trainer<Scored> trainer({.seed = 1, .threads = 2});
  randomise(trainer, 3, .4);
  std::vector<MetricValue> want;
  for (const int at_once : {100, 1, 3}) {
    CAPTURE(at_once);
    seen.clear();
    AnySource source = source_of(examples, at_once);
    const Evaluation found = *evaluate_all(trainer, source);
    REQUIRE(found.metrics.size() == 4);
    CHECK(seen.size() == 7);
    if (want.empty()) want = found.metrics;
    CHECK(found.metrics == want);
    TextSums bleu(Bleu::sums), rouge(RougeL::sums), distinct(Distinct<1>::sums);
    for (const Seen& reply : seen) {
      const WrittenReply written{reply.text, {&reply.reference, 1}, reply.tokens};
      Bleu::add(written, bleu);
      RougeL::add(written, rouge);
      Distinct<1>::add(written, distinct);
    }
    CHECK(found.metrics[1].value == Bleu::value(bleu));
    CHECK(found.metrics[2].value == RougeL::value(rouge));
    CHECK(found.metrics[3].value == Distinct<1>::value(distinct));
  }
}

TEST_CASE("draws hang on the example and the seed, and not on the batch") {
  Trainer<Drawn> trainer({.seed = 1, .threads = 1});
  randomise(trainer, 3, .4);
  const std::vector<Seen> first = seen_by(trainer, source_of(examples, 1));
  CHECK(seen_by(trainer, source_of(examples, 4)) == first);
  std::size_t same = 0;
  for (const Seen& reply : first) {
    CHECK(reply.tokens <= 6);
    same += reply.text == first[0].text;
  }
  CHECK(same < first.size());
  const auto other = Trainer<Drawn>::options();
  for (Option& option : other->options)
    if (option.dotted() == "evaluation.seed") *std::get<std::int64_t*>(option.value) = 4;
  Trainer<Drawn> drawn(other, {.seed = 1, .threads = 1});
  randomise(drawn, 3, .4);
  CHECK(seen_by(drawn, source_of(examples, 4)) != first);
}

constexpr SamplingSettings searched{.tokens = 6, .no_repeat_written_ngram = 1, .beams = 3};
constexpr ReplyWriting by(const EvaluateOptions& options, const SamplingSettings& recipe) {
  return Evaluate<>::writes(options).with(recipe);
}
static_assert(by({}, {}).sampling.temperature == 0. && by({}, {}).tokens == 0);
static_assert(by({}, searched).sampling.beams == 3 && by({}, searched).tokens == 6);
static_assert(by({.tokens = 4, .beams = 2}, searched).sampling.beams == 2);
static_assert(by({.tokens = 4, .beams = 2}, searched).tokens == 4);
static_assert(by({.generate = Generate::greedy}, searched).sampling.beam_options().beams == 1);
static_assert(!by({.generate = Generate::greedy}, searched).sampling.no_repeat_written_ngram);
static_assert(by({}, {.top_k = 5}).sampling.top_k == 5 &&
              !by({}, {.top_k = 5}).sampling.temperature);
static_assert(by({.generate = Generate::drawn, .top_k = 9}, {.top_k = 5}).sampling.top_k == 9);

TEST_CASE("evaluations obey the recipe's Sample") {
  Trainer<Answers<Evaluate<>, Metrics<Recorded>, Sample<searched>>> trainer(
      {.seed = 1, .threads = 1});
  randomise(trainer, 3, .4);
  std::vector<Seen> want;
  for (const auto& turns : dialogues)
    for (std::size_t k = 1; k < turns.size(); ++k) {
      const GenerationRequest request =
          request_by(searched, reply_prompt(byte_tokenizer(), limits, std::span(turns).first(k)));
      const GeneratedText text = generate(trainer, {&request, 1})[0][0];
      want.push_back({"", turns[k].substr(0, std::size_t(limits.label)),
                      std::ssize(text.tokens) + (text.end == GenerationEnd::end_of_text)});
      for (const std::int32_t token : text.tokens)
        if (token < byte_tokenizer().vocabulary) want.back().text += byte_tokenizer().decode(token);
    }
  CHECK(seen_by(trainer, source_of(examples, 4)) == want);
  CHECK(want != all_by_hand(trainer));
}

TEST_CASE("an encoder-decoder replies to what its encoder reads") {
  const PairedForm form{.text = 9, .label = 5};
  PairedExamples pairs(letters(), form);
  Trainer<Pairs> trainer({.seed = 1, .threads = 1});
  randomise(trainer, 3, 1);
  std::vector<Seen> want;
  for (const std::vector<std::string>& turns : std::vector<std::vector<std::string>>{
           {"abc", "def"}, {"ab", ""}, {"abcdefghiab", "ii"}, {"b", "abcdefg"}, {"hi", "ha"}}) {
    std::vector<std::vector<std::int32_t>> ids;
    for (const std::string& turn : turns) ids.push_back(letters().encode(turn));
    pairs.add_turns(ids);
    want.push_back(by_hand(trainer, paired_prompt(letters(), form, std::span(turns).first(1)),
                           turns[1].substr(0, 5), letters()));
  }
  const auto set = std::make_shared<PairedExamples>(std::move(pairs));
  for (const int at_once : {1, 4}) CHECK(seen_by(trainer, source_of(set, at_once)) == want);
}

TEST_CASE("of a conversation the last reply is written") {
  using Chats = std::vector<std::vector<ChatMessage>>;
  const Chats chats{{{ChatRole::user, "ab"}, {ChatRole::assistant, "c"}},
                    {{ChatRole::user, "x"}, {ChatRole::assistant, "y"}}};
  constexpr ChatWriter writer = chat_writer_of<PlainChat>();
  ChatSet set(byte_tokenizer(), 26);
  Trainer<Talks> trainer({.seed = 1, .threads = 1});
  randomise(trainer, 3, .4);
  std::vector<Seen> want;
  for (const auto& chat : chats) {
    ChatText text;
    writer.write(chat, text);
    set.add(chat_tokens(text.parts(), byte_tokenizer()));
    want.push_back(by_hand(trainer,
                           chat_prompt(byte_tokenizer(), writer, 26, std::span(chat).first(1)),
                           " " + chat[1].content));
  }
  const auto shared = std::make_shared<ChatSet>(std::move(set));
  CHECK(seen_by(trainer, source_of(shared, 2)) == want);
}

TEST_CASE("a model that has learnt its replies ends them, and writes them exactly") {
  using Learnt = Answers<Evaluate<>, Metrics<ExactMatch<>, Recorded>>;
  ExampleSet few(byte_tokenizer(), limits);
  few.add_pair("one", "uno");
  few.add_pair("two", "dos");
  few.add_pair("three", "tres si");
  const auto set = std::make_shared<ExampleSet>(std::move(few));
  Trainer<Learnt> trainer({.seed = 1, .threads = 1});
  AnySource source = source_of(set, 6);
  HostBatch batch;
  REQUIRE(source.next(batch));
  for (int step = 0; step < 300; ++step) (void)trainer.step(batch);
  const std::vector<Seen> found = seen_by(trainer, source_of(set, 2));
  CHECK(found ==
        std::vector<Seen>{{"uno", "uno", 4}, {"dos", "dos", 4}, {"tres si", "tres si", 8}});
}

template <class R>
void check_processes(bool divides) {
  struct Whole {  // as a source is that was written for one process
    EvaluationExamples rows;
    bool next(HostBatch& batch) { return rows.next(batch); }
    SamplerState state() const { return rows.state(); }
    void restore(const SamplerState& saved) { rows.restore(saved); }
    std::optional<ReplyForm> replies() const { return rows.replies(); }
  };
  const auto evaluated = [&](const World& world) {
    Trainer<R> trainer({.seed = 3, .threads = 1, .world = world});
    randomise(trainer, 3, .4);
    std::ostringstream out;
    for (const int at_once : {1, 4, 100}) {
      const EvaluationExamples rows(*examples, {0, examples->size()}, at_once);
      AnySource source = divides ? AnySource(rows) : AnySource(Whole{rows});
      const Evaluation found = *evaluate_all(trainer, source);
      for (const MetricValue& metric : found.metrics)
        out << metric.name << ' ' << std::bit_cast<std::uint64_t>(metric.value) << ' ';
    }
    return out.str();
  };
  const std::string want = evaluated({});
  CHECK(contains(want, "rouge_l "));
  RankProcesses processes(
      2, [&](const World& world, const RankProcesses::Say&) { return evaluated(world); });
  CHECK(processes.result(0) == want);
  CHECK(processes.result(1) == want);
}

TEST_CASE("processes write each reply once, and all have the figures of threads, to the bit") {
  check_processes<ByTwo>(true);
  check_processes<ByTwo>(false);
}
TEST_CASE("processes with shards of the weights write together, and count once") {
  check_processes<Divided>(true);
}

/// A trainer that skips the generation.
template <class R>
struct Skipping : Trainer<R> {
  Skipping() : Trainer<R>(view(), {.seed = 1, .threads = 1}) {}
  static auto view() {
    auto view = Trainer<R>::options();
    view->skips_generation = true;
    return view;
  }
};

ReadStage training() {
  return ReadStage(ExampleBatches(*examples, {0, examples->size()}, {.sequences = 6}));
}
/// Why a loop does not run; empty if it does.
std::string refusal_of(Loop& loop, const LoopOptions& options) try {
  loop.run(options);
  return "";
} catch (const ArgumentError& error) {
  return error.what();
}
EvaluateStage held_out() { return EvaluateStage(source_of(examples, 4)); }

TEST_CASE("skipped generation leaves the metrics of texts out, and they are refused by name") {
  Skipping<All> trainer;
  seen.clear();
  AnySource source = source_of(examples, 4);
  const Evaluation found = *evaluate_all(trainer, source);
  CHECK(seen.empty());
  REQUIRE(found.metrics.size() == 1);
  CHECK(found.metrics[0].name == "token_accuracy");
  AnySource without(EvaluationWindows(windows, {8, 2}));
  CHECK(evaluate_all(trainer, without));

  const auto refused = [](TrainerCore& t, const LoopOptions& options) {
    Loop loop(t, training(), held_out());
    return refusal_of(loop, options);
  };
  CHECK(contains(refused(trainer, {.steps = 2, .best_by = "recorded"}),
                 "best_by names 'recorded', a metric of replies, and generation is skipped"));
  CHECK(contains(refused(trainer, {.steps = 2, .early_stop = EarlyStopping{.metric = "recorded"}}),
                 "EarlyStop names 'recorded', a metric of replies"));
  Skipping<Answers<Evaluate<>, Metrics<Bleu>, Plateau<{}, "bleu">>> watching;
  CHECK(contains(refused(watching, {.steps = 2}), "the recipe's schedule names 'bleu'"));
  CHECK(refused(trainer, {.steps = 2, .best_by = "token_accuracy"}).empty());
}

TEST_CASE("SkipGeneration, as a policy, leaves evaluations as they are without replies") {
  Trainer<Answers<SkipGeneration, Metrics<TokenAccuracy>>> trainer({.seed = 1, .threads = 1});
  CHECK(trainer.recipe().reply_plan() == nullptr);
  Loop loop(trainer, training(), held_out());
  int evaluated = 0;
  loop.run({.steps = 4, .evaluate_every = 2, .on_step = [&](const StepRecord& step) {
              if (!step.validation_loss) return;
              ++evaluated;
              REQUIRE(step.metrics.size() == 1);
              CHECK(step.metrics[0].name == "token_accuracy");
            }});
  CHECK(evaluated == 2);
}

TEST_CASE("a source that does not say what replies are is refused") {
  Trainer<All> trainer({.seed = 1, .threads = 1});
  AnySource source(EvaluationWindows(windows, {8, 2}));
  CHECK(contains(message_of<ArgumentError>([&] { (void)evaluate_all(trainer, source); }),
                 "this source of data does not say what a reply is"));
}

TEST_CASE("a loop logs metrics of texts, and one of them chooses the best step and ends the run") {
  using Watched = Answers<Evaluate<{.examples = 4}>, Metrics<RougeL>>;
  TemporaryFolder folder;
  const auto run_to = [&](std::int64_t steps, bool skips, const std::string& by) {
    RunFolder run(folder / "run", steps == 6 ? RunFolder::Mode::fresh : RunFolder::Mode::resume);
    const auto view = Trainer<Watched>::options();
    view->skips_generation = skips;
    Trainer<Watched> trainer(view, {.seed = 2, .threads = 1});
    Loop loop(trainer, training(), held_out(), &run);
    LoopOptions options{.steps = steps, .evaluate_every = 2, .best_by = by};
    if (!by.empty()) options.early_stop = EarlyStopping{.patience = 50};
    const std::string refusal = refusal_of(loop, options);
    if (refusal.empty()) CHECK(loop.state().best_by == by);
    if (!by.empty() && refusal.empty()) CHECK(loop.state().patient_best == loop.state().best);
    return refusal;
  };
  const auto scored = [&] {
    int count = 0;
    for (const nlohmann::json& row : json_rows(folder / "run" / "metrics.jsonl"))
      count += row.contains("val_rouge_l");
    return count;
  };
  CHECK(run_to(6, false, "rouge_l").empty());
  CHECK(scored() == 3);
  // That generation is skipped is no part of the run: it goes on without, and with it again.
  CHECK(contains(run_to(8, true, "rouge_l"), "best_by names 'rouge_l', a metric of replies"));
  CHECK(run_to(8, true, "").empty());
  CHECK(scored() == 3);
  CHECK(run_to(10, false, "rouge_l").empty());
  CHECK(scored() == 4);
}

}  // namespace sinter::detail::testing::replies_tests
