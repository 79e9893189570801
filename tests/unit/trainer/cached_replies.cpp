// SPDX-License-Identifier: Apache-2.0
// Replies that evaluations write through a key-value cache, beside those of whole texts and of generate().
#include "sinter/data/dialogue.hpp"
#include "sinter/data/example_source.hpp"
#include "sinter/data/paired_examples.hpp"
#include "sinter/evaluation/evaluate.hpp"
#include "sinter/generate/generator.hpp"
#include "sinter/metric/metrics.hpp"
#include "sinter/metric/text_sums.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/seq2seq.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/precision/fp64.hpp"
#include "sinter/trainer/evaluation.hpp"
#include "support/axes_models.hpp"
#include "support/letters.hpp"
#include "support/message_of.hpp"
#include "support/rank_processes.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::cached_replies_tests {

/// The replies of the last evaluation.
std::vector<std::string> written;
struct Written {
  static constexpr std::string_view name = "written";
  static constexpr bool greater_is_better = false;
  static constexpr int sums = 1;
  static void add(const WrittenReply& reply, TextSums& into) {
    written.push_back(std::string(reply.text) + "/" + std::to_string(reply.tokens));
    ++into.sums[0];
  }
  static double value(const TextSums& all) { return all.sums[0]; }
};

constexpr ExampleLimits limits{.context = 16, .label = 10};
template <class... Policies>
using OfGpt = Made<Gpt2<{.layers = 2, .heads = 2, .width = 16, .vocabulary = 258, .positions = 26}>,
                   Dialogue<{.text = 16, .label = 10}>, Batch<{.global = 4, .micro = 2}>, AdamW<>,
                   Metrics<Written>, Policies...>;
struct Letters : TwoContexts {
  static constexpr bool has_replies = true;
};
template <class... Policies>
using OfPairs =
    Made<Seq2Seq<{.encoder_layers = 1,
                  .decoder_layers = 2,
                  .heads = 2,
                  .width = 16,
                  .hidden = 20,
                  .vocabulary = axes_vocabulary,
                  .positions = 9,
                  .dropout = 0}>,
         Letters, Batch<{.global = 4, .micro = 2}>, AdamW<>, Metrics<Written>, Policies...>;

constexpr EvaluateOptions drawn{.generate = Generate::drawn, .tokens = 7, .temperature = 1.5};
constexpr EvaluateOptions by_beams{.tokens = 8,
                                   .rows = 7,
                                   .beams = 3,
                                   .early_stopping = BeamStopping::never,
                                   .length_penalty = LengthPenalty::wu,
                                   .length_exponent = 0.6};
constexpr EvaluateOptions at_once(EvaluateOptions options, int rows) {
  options.rows = rows;
  return options;
}

template <class Set>
void add_dialogues(Set& set) {
  const std::vector<std::int32_t> first{0, 3, 5}, second{1, 1, 7, 2, 8, 6, 4}, third{2};
  for (int k = 0; k < 3; ++k) {
    const std::vector<std::vector<std::int32_t>> turns{
        first, {third[0] + k}, second, first, {std::int32_t(k), 8}};
    set.add_turns(turns);
  }
}
std::shared_ptr<const ExampleList> dialogues() {
  auto set = std::make_shared<ExampleSet>(byte_tokenizer(), limits);
  add_dialogues(*set);
  return set;
}
std::shared_ptr<const ExampleList> pairs() {
  auto set =
      std::make_shared<PairedExamples>(letters(), PairedForm{.text = 9, .label = 5, .history = 1});
  add_dialogues(*set);
  return set;
}

std::vector<std::string> written_by(TrainerCore& trainer,
                                    const std::shared_ptr<const ExampleList>& set, int sequences) {
  written.clear();
  AnySource source(EvaluationExamples(*set, {0, set->size()}, sequences), set);
  REQUIRE(evaluate_all(trainer, source));
  return written;
}

/// A trainer of a recipe, whose evaluations read each text anew if it has no cache.
template <class R>
struct Writer : Trainer<R> {
  explicit Writer(bool has_cache, int threads = 1)
      : Trainer<R>(view(has_cache), {.seed = 1, .threads = threads}) {
    randomise(*this, 3, .3);
  }
  static std::shared_ptr<RecipeView> view(bool has_cache) {
    std::shared_ptr<RecipeView> made = Trainer<R>::options();
    REQUIRE(bool(made->reply_generation));
    if (!has_cache) made->reply_generation = nullptr;
    return made;
  }
};

/// Checks that replies do not depend on caches, rows, batches and threads.
template <class Few, class Many>
void check_caches(const std::shared_ptr<const ExampleList>& set) {
  Writer<Many> many(true, 3), whole(false);
  Writer<Few> few(true);
  const std::vector<std::string> want = written_by(whole, set, 3);
  REQUIRE(std::ssize(want) == set->size());
  CHECK(std::ranges::any_of(want, [&](const std::string& text) { return text != want[0]; }));
  for (const int sequences : {1, 4, 100}) {
    CHECK(written_by(few, set, sequences) == want);
    CHECK(written_by(many, set, sequences) == want);
  }
}

TEST_CASE("replies by a cache are those of whole texts, however many are written at once") {
  check_caches<OfGpt<Fp64, Evaluate<{.rows = 1}>>, OfGpt<Fp64, Evaluate<>>>(dialogues());
  check_caches<OfPairs<Fp64, Evaluate<{.rows = 1}>>, OfPairs<Fp64, Evaluate<>>>(pairs());
}

TEST_CASE(
    "drawn replies by a cache are those of whole texts, as draws hang on the seed and the "
    "example") {
  check_caches<OfGpt<Fp64, Evaluate<at_once(drawn, 1)>>, OfGpt<Fp64, Evaluate<drawn>>>(dialogues());
  check_caches<OfPairs<Fp64, Evaluate<at_once(drawn, 1)>>, OfPairs<Fp64, Evaluate<drawn>>>(pairs());
}

TEST_CASE("beams by a cache are those of whole texts, however many are written at once") {
  check_caches<OfGpt<Fp64, Evaluate<at_once(by_beams, 3)>>, OfGpt<Fp64, Evaluate<by_beams>>>(
      dialogues());
  check_caches<OfPairs<Fp64, Evaluate<at_once(by_beams, 3)>>, OfPairs<Fp64, Evaluate<by_beams>>>(
      pairs());
}

TEST_CASE("beams of an evaluation are those of generate(), with its options") {
  using R = OfPairs<Fp64, Evaluate<by_beams>>;
  Trainer<R> trainer({.seed = 1, .threads = 1});
  randomise(trainer, 3, .3);
  Generator<R> generator({.threads = 1});
  trainer.give_weights(generator.weights());
  const std::shared_ptr<const ExampleList> set = pairs();
  HostBatch batch;
  AnySource source(EvaluationExamples(*set, {0, set->size()}, 100), set);
  REQUIRE(source.next(batch));
  const ReplyForm form = *source.replies();
  std::vector<std::string> want;
  for (int s = 0; s < batch.sequences(); ++s) {
    const auto row = [&](int at) {
      return batch.ids[0].begin() + batch.second_starts[std::size_t(at)];
    };
    const std::int32_t start = batch.ids[1][std::size_t(batch.starts[std::size_t(s)])];
    const GenerationRequest request{
        .prompt = {.tokens{row(s), row(s + 1)}, .decoder = {start}, .more_ends = form.ends},
        .tokens = std::min<std::int64_t>(8, form.most),
        .sampling = {.temperature = 0},
        .beams = {3, BeamStopping::never, LengthPenalty::wu, 0.6}};
    const GeneratedText best = generate(generator, {&request, 1}).front().front();
    const bool ended = best.end == GenerationEnd::end_of_text;
    want.push_back(form.text(best.tokens) + "/" + std::to_string(std::ssize(best.tokens) + ended));
  }
  CHECK(written_by(trainer, set, 4) == want);
}

TEST_CASE("weights are given as layers read them") {
  using R = OfGpt<Bf16, Evaluate<>>;
  Trainer<R> trainer({.seed = 1, .threads = 1});
  randomise(trainer, 3, .3);
  Generator<R> generator({.threads = 1});
  trainer.give_weights(generator.weights());
  for (const Parameter& p : trainer.parameters()) {
    std::vector<double> want = trainer.parameter(p.name);
    for (double& value : want) value = double(float(BFloat16(float(value))));
    CHECK(generator.weights().parameter(p.name) == want);
  }
}

/// Checks that ranks of each kind write what one rank does.
template <class Split, class R = OfGpt<Evaluate<>>>
void check_ranks() {
  Writer<R> one(true);
  const std::shared_ptr<const ExampleList> set = dialogues();
  std::vector<std::string> want = written_by(one, set, 4);
  const auto weights = [&](TrainerCore& trainer) {
    for (const Parameter& p : one.parameters())
      trainer.set_parameter(p.name, one.parameter(p.name));
  };
  Trainer<Split> threads({.seed = 1, .threads = 2});
  weights(threads);
  CHECK(written_by(threads, set, 4) == want);
  RankProcesses processes(2, [&](const World& world, const RankProcesses::Say&) {
    Trainer<Split> trainer({.seed = 1, .threads = 1, .world = world});
    weights(trainer);
    std::string all;
    for (const std::string& text : written_by(trainer, set, 4)) all += text + "\n";
    return all;
  });
  std::string joined = processes.result(0) + processes.result(1);
  for (const std::string& text : want) {
    const std::size_t at = joined.find(text + "\n");
    REQUIRE(at != std::string::npos);
    joined.erase(at, text.size() + 1);
  }
  CHECK(joined.empty());
}

TEST_CASE("ranks of all kinds share the examples and write the same replies") {
  check_ranks<OfGpt<Evaluate<>, Ddp<{.ranks = 2}>>>();
  check_ranks<OfGpt<Evaluate<>, Zero<{.stage = 3, .ranks = 2}>>>();
  check_ranks<OfGpt<Evaluate<>, SplitBatch<{.ranks = 2}>>>();
}
TEST_CASE("ranks draw what one rank draws") {
  using One = OfGpt<Evaluate<drawn>>;
  check_ranks<OfGpt<Evaluate<drawn>, Ddp<{.ranks = 2}>>, One>();
  check_ranks<OfGpt<Evaluate<drawn>, SplitBatch<{.ranks = 2}>>, One>();
}

TEST_CASE("what evaluations take beside the plan is planned, unless generation is skipped") {
  const std::shared_ptr<RecipeView> view = Trainer<OfGpt<Evaluate<{.rows = 5}>>>::options();
  REQUIRE(view->reply_plan() != nullptr);
  CHECK(view->reply_plan()->max_texts == 5);
  CHECK(view->reply_plan()->memory.total == GenerationPlan<OfGpt<Evaluate<>>, 5>::memory.total);
  CHECK(view->reply_plan()->memory.cache == 5 * GenerationPlan<OfGpt<>, 1>::memory.cache);
  view->skips_generation = true;
  CHECK(view->reply_plan() == nullptr);
  view->reply_generation = []() -> std::shared_ptr<RecipeView> { throw Error("it was made"); };
  Trainer<OfGpt<Evaluate<{.rows = 5}>>> trainer(view, {.seed = 1, .threads = 1});
  CHECK(written_by(trainer, dialogues(), 4).empty());
  CHECK(!bool(Trainer<OfGpt<Evaluate<>>>::options()->generation));
  CHECK(Trainer<OfGpt<Evaluate<>, Generation<{.rows = 3}>>>::options()->reply_plan()->max_texts ==
        3);
}

}  // namespace sinter::detail::testing::cached_replies_tests
