// SPDX-License-Identifier: Apache-2.0
// MaskedLm hides what BERT hides, as a function of seed, epoch, example and place alone.
#include "sinter/objective/masked_lm.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <utility>

#include "sinter/batching/length_grouped.hpp"
#include "sinter/batching/packed.hpp"
#include "sinter/batching/padded.hpp"
#include "sinter/data/bytes.hpp"
#include "sinter/data/example_source.hpp"
#include "sinter/data/examples.hpp"
#include "sinter/data/reader.hpp"
#include "sinter/data/windows.hpp"
#include "sinter/error.hpp"
#include "sinter/files/run_folder.hpp"
#include "sinter/layer/attention.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/recipe/plan.hpp"
#include "sinter/recipe/recipe.hpp"
#include "sinter/schedule/linear_decay.hpp"
#include "sinter/trainer/loop.hpp"
#include "sinter/trainer/trainer.hpp"
#include "support/batches.hpp"
#include "support/folder.hpp"
#include "support/message_of.hpp"
#include "support/rank_processes.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

using namespace sinter;
using namespace sinter::detail;

namespace {

constexpr int mask = 256, context = 64;

std::vector<unsigned char> random_bytes(int count) {
  std::mt19937_64 random(1);
  std::vector<unsigned char> bytes;
  for (int k = 0; k < count; ++k) bytes.push_back(static_cast<unsigned char>(random()));
  return bytes;
}

Objective bytes_objective(double share = 0.15) {
  return masked_lm({.share = share, .mask = mask}, {256, {}});
}

PreparedSource masked(AnySource source) { return {std::move(source), bytes_objective()}; }

AnySource shuffled(const std::vector<unsigned char>& text, int sequences, std::uint64_t seed = 1) {
  return AnySource(ShuffledWindows(text, {context, sequences}, seed));
}

struct Sequence {
  std::vector<std::int32_t> ids, targets;
  bool operator==(const Sequence&) const = default;
};

/// The sequences of a batch by their keys.
void add(std::map<std::uint64_t, Sequence>& all, const HostBatch& batch) {
  for (int s = 0; s < batch.sequences(); ++s) {
    const auto part = [&](const std::vector<std::int32_t>& of) {
      return std::vector(of.begin() + batch.starts[s], of.begin() + batch.starts[s + 1]);
    };
    Sequence sequence{part(batch.ids[0]), part(batch.ids[1])};
    REQUIRE(all.emplace(batch.keys[std::size_t(s)], std::move(sequence)).second);
  }
}

template <class Source>
std::map<std::uint64_t, Sequence> epoch_of(Source source) {
  std::map<std::uint64_t, Sequence> all;
  HostBatch batch;
  while (source.state().epoch == 0 && source.next(batch)) add(all, batch);
  return all;
}

/// Whether `count` of `all` is what a probability gives, within 5 deviations.
bool is_share(std::int64_t count, std::int64_t all, double probability) {
  const double mean = double(all) * probability;
  return std::abs(double(count) - mean) < 5 * std::sqrt(mean * (1 - probability));
}

}  // namespace

TEST_CASE("15 % are predicted, of which 80 % are hidden, 10 % are random and 10 % are kept") {
  const auto text = random_bytes(400'000);
  AnySource plain = shuffled(text, 10);
  PreparedSource source = masked(shuffled(text, 10));
  HostBatch before, batch;
  std::int64_t rows = 0, chosen = 0, hidden = 0, kept = 0;
  std::vector<std::int64_t> random_ids(256);
  for (int step = 0; step < 600; ++step) {
    REQUIRE((plain.next(before) && source.next(batch)));
    REQUIRE(batch.starts == before.starts);
    rows += batch.rows();
    for (std::size_t row = 0; row < before.ids[0].size(); ++row) {
      const std::int32_t id = before.ids[0][row], shown = batch.ids[0][row];
      if (batch.ids[1][row] < 0) {
        REQUIRE(batch.ids[1][row] == -1);
        REQUIRE(shown == id);
        continue;
      }
      REQUIRE(batch.ids[1][row] == id);
      ++chosen;
      hidden += shown == mask;
      kept += shown == id;
      if (shown != mask && shown != id) ++random_ids.at(std::size_t(shown));
    }
  }
  CHECK(rows == 600 * 10 * context);
  CHECK(is_share(chosen, rows, 0.15));
  CHECK(is_share(hidden, chosen, 0.8));
  CHECK(is_share(kept, chosen, 0.1 + 0.1 / 256));
  const std::int64_t random = chosen - hidden - kept;
  CHECK(is_share(random, chosen, 0.1 * 255 / 256));
  double chi_squared = 0;
  for (const std::int64_t count : random_ids) {
    const double mean = double(random) / 256;
    chi_squared += (double(count) - mean) * (double(count) - mean) / mean;
  }
  CHECK(std::abs(chi_squared - 255) < 5 * std::sqrt(2. * 255));  // any byte, equally often
}

TEST_CASE("neighbouring places and windows are chosen independently of each other") {
  const auto text = random_bytes(200'000);
  std::int64_t rows = 0, both = 0, windows = 0, above = 0;
  std::vector<std::int32_t> last;
  for (const auto& [key, sequence] : epoch_of(masked(shuffled(text, 10)))) {
    for (std::size_t row = 1; row < sequence.targets.size(); ++row) {
      ++rows;
      both += sequence.targets[row] >= 0 && sequence.targets[row - 1] >= 0;
    }
    for (std::size_t row = 0; row < last.size(); ++row) {
      ++windows;
      above += sequence.targets[row] >= 0 && last[row] >= 0;
    }
    last = sequence.targets;
  }
  CHECK(is_share(both, rows, 0.15 * 0.15));
  CHECK(is_share(above, windows, 0.15 * 0.15));
}

TEST_CASE("the choice of hidden tokens depends on seed, epoch and window, and not on the batch") {
  const auto text = random_bytes(64 * context + 200);
  const auto alone = epoch_of(masked(shuffled(text, 1)));
  std::map<std::uint64_t, Sequence> together;
  PreparedSource source = masked(shuffled(text, 7));
  HostBatch batch;
  while (source.state().epoch == 0) {
    source.next(batch);
    add(together, batch);  // the last one goes into the next epoch, which has other keys
  }
  for (const auto& [key, sequence] : alone) CHECK(together.at(key) == sequence);
  CHECK(epoch_of(masked(shuffled(text, 1, 2))).begin()->first != alone.begin()->first);

  // The same window in the next epoch. The order is that of the text, so that it comes again.
  PreparedSource again = masked(AnySource(SequentialWindows(text, {context, 8})));
  std::map<std::int64_t, HostBatch> first;
  for (int step = 0; step < 8; ++step) {
    again.next(first[step]);
    CHECK((first[step].ids[1] != first[0].ids[1]) == (step > 0));
  }
  HostBatch next;
  REQUIRE(again.state().epoch == 1);
  again.next(next);
  CHECK(next.ids[1] != first[0].ids[1]);
}

TEST_CASE("a restored source, and one that is read ahead, hide the same") {
  const auto text = random_bytes(20'000);
  PreparedSource straight = masked(shuffled(text, 5)), resumed = masked(shuffled(text, 5, 9));
  BackgroundReader ahead(masked(shuffled(text, 5)), 3);
  HostBatch a, b;
  for (int step = 0; step < 100; ++step) {
    const SamplerState before = straight.state();
    straight.next(a);
    ahead.next(b);
    REQUIRE((a.ids == b.ids && a.keys == b.keys));
    resumed.restore(before);
    resumed.next(b);
    REQUIRE((a.ids == b.ids && a.starts == b.starts));
    REQUIRE(resumed.state() == straight.state());
  }
  CHECK(straight.state().epoch > 0);
}

TEST_CASE("each evaluation hides the same, in batches of any size") {
  const auto text = random_bytes(30 * context + 5);
  auto source = [&](int sequences) {
    return masked(AnySource(EvaluationWindows(text, {context, sequences})));
  };
  const auto once = epoch_of(source(4));
  CHECK(once.size() == 31);  // the last one has 4 rows
  CHECK(once == epoch_of(source(4)));
  CHECK(once == epoch_of(source(7)));
}

TEST_CASE("special tokens, padding and contexts are not chosen, whatever the batching") {
  ExampleSet set(byte_tokenizer(), {.context = 30, .label = 20});
  std::mt19937_64 random(3);
  auto text = [&] { return std::string(random() % 25, char('a' + random() % 26)); };
  for (int k = 0; k < 300; ++k) set.add_pair(text(), text());
  for (int k = 0; k < 300; ++k) set.add_text("." + text());
  const auto special = set.special();
  REQUIRE(special.size() == 2);
  const Objective objective = masked_lm({.share = 0.9, .mask = 258}, {set.vocabulary(), special});
  std::vector<std::map<std::uint64_t, Sequence>> all;
  for (const Batching& batching :
       {Packed::batching(20), Padded::batching(20), LengthGrouped::batching(20)}) {
    auto source = [&] {
      return AnySource(
          ExampleBatches(set, {0, set.size()}, {.sequences = 20, .seed = 1, .batching = batching}));
    };
    AnySource plain = source();
    PreparedSource prepared(source(), objective);
    HostBatch before, batch;
    auto& sequences = all.emplace_back();
    while (plain.state().epoch == 0) {
      REQUIRE((plain.next(before) && prepared.next(batch)));
      for (std::size_t row = 0; row < before.ids[0].size(); ++row) {
        if (before.ids[1][row] < 0 || before.ids[0][row] >= 256) {
          REQUIRE(batch.ids[1][row] == -1);
          REQUIRE(batch.ids[0][row] == before.ids[0][row]);
        }
      }
      add(sequences, batch);
    }
    for (auto& [key, sequence] : sequences) {  // without padding, to compare
      while (!sequence.ids.empty() && sequence.ids.back() == 0) {
        sequence.ids.pop_back();
        sequence.targets.pop_back();
      }
    }
  }
  REQUIRE(all[0].size() == 600);
  CHECK(all[0] == all[1]);
  CHECK(all[0] == all[2]);
}

TEST_CASE("a sequence has a prediction unless all of its tokens are special") {
  const std::vector<SpecialToken> special{{"[MASK]", 2}, {"[CLS]", 3}};
  const Objective objective = masked_lm({.share = 1e-6}, {4, special});
  HostBatch batch{.starts = {0, 5, 8, 9},
                  .second_starts = {},
                  .ids = {{0, 1, 3, 1, 2, 3, 2, 3, 1}, {1, 3, 1, 2, 3, 2, 3, 1, -1}},
                  .values = {},
                  .keys = {11, 12, 13}};
  objective.prepare(batch);
  const auto& targets = batch.ids[1];
  CHECK(std::count(targets.begin(), targets.begin() + 5, -1) == 4);
  CHECK(std::count(targets.begin() + 5, targets.end(), -1) == 4);  // the last predicted nothing
}

TEST_CASE("a share of 1 has everything predicted, and the mask is the tokenizer's") {
  for (const char* name : {"[MASK]", "<mask>"}) {
    const std::vector<SpecialToken> special{{"[CLS]", 5}, {name, 7}};
    const Objective objective = masked_lm({.share = 1}, {8, special});
    HostBatch batch{
        .starts = {0, 200}, .second_starts = {}, .ids = {{}, {}}, .values = {}, .keys = {1}};
    batch.ids[0].assign(200, 1);
    batch.ids[1].assign(200, 1);
    objective.prepare(batch);
    CHECK(batch.ids[1] == std::vector<std::int32_t>(200, 1));
    CHECK(is_share(std::count(batch.ids[0].begin(), batch.ids[0].end(), 7), 200, 0.8));
  }
}

TEST_CASE("data without a mask, and batches without keys, are refused") {
  const SpecialToken beyond[] = {{"<mask>", 256}};
  CHECK_THROWS_WITH_AS((void)masked_lm({}, {256, beyond}),
                       doctest::Contains("shows <mask> in place of hidden tokens, whose id is 256"),
                       ArgumentError);
  CHECK_THROWS_WITH_AS((void)masked_lm({}, {256, {}}), doctest::Contains("no special token [MASK]"),
                       ArgumentError);
  CHECK_THROWS_WITH_AS((void)masked_lm({}, {256, {}}), doctest::Contains("<{.mask = 256}>"),
                       ArgumentError);
  HostBatch batch{
      .starts = {0, 1}, .second_starts = {}, .ids = {{1}, {2}}, .values = {}, .keys = {}};
  CHECK_THROWS_WITH_AS(bytes_objective().prepare(batch),
                       doctest::Contains("1 sequences and 0 keys"), ArgumentError);
}

// ---- a model that sees both sides
namespace {

constexpr Gpt2Options small{
    .layers = 2, .heads = 2, .width = 32, .vocabulary = 257, .positions = 16};

struct EncoderBlock {
  static constexpr int W = small.width;
  static constexpr Value<W> trace(auto& g, Value<W> x) {
    auto qkv = g("attn.c_attn", Linear<W, 3 * W>{}, g("ln_1", LayerNorm<W>{}, x));
    auto mixed = g("attn", SelfAttention<W, small.heads>{}, qkv);
    auto [h, m] = g("ln_2", AddLayerNorm<W>{}, x, g("attn.c_proj", Linear<W, W>{}, mixed));
    auto wide = g("mlp.act", GeluTanh<4 * W>{}, g("mlp.c_fc", Linear<W, 4 * W>{}, m));
    return g("add", Add<W>{}, h, g("mlp.c_proj", Linear<4 * W, W>{}, wide));
  }
};
struct Encoder {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto tokens = g.tokens(), targets = g.targets();
    auto embedded = g.unit("", gpt2::Embed<small>{}, tokens);
    auto x = g.repeat(small.layers, "h", EncoderBlock{}, embedded);
    g.result(g.tied_unit("ln_f", embedded, gpt2::Head<small>{}, x, targets));
  }
};
struct encoder : Recipe<Encoder, Bytes<{.context = 16}>, MaskedLm<{.mask = mask}>,
                        AdamW<{.lr = 3e-3}>, Batch<{.global = 32, .micro = 16}>> {};
static_assert(ready<encoder>());

}  // namespace

TEST_CASE("a model that sees both sides learns to fill in what is hidden") {
  // Runs of a random letter: what is hidden is known from what is shown. The first of a window is
  // known from those behind it alone.
  const testing::TemporaryFolder folder;
  std::mt19937_64 random(5);
  std::string text;
  for (int k = 0; k < 400; ++k) text.append(150 + random() % 100, char('a' + random() % 8));
  const auto path = folder / "text.txt";
  std::ofstream(path, std::ios::binary) << text;

  Trainer<encoder> trainer({.seed = 1, .threads = 2});
  DataRequest request{.paths = {path.string()}, .evaluation_sequences = 16};
  request.training = DataRequest::Training{.held_out = 0.1, .seed = 1, .sequences = 32};
  OpenedData data = trainer.recipe().open(request);
  CHECK(data.predicted == 0.15);
  CHECK(trainer.recipe().data.unit.headline.key() == "bits_per_hidden_token");
  REQUIRE((data.training && data.evaluation));

  const SamplerState begin = data.evaluation->state();
  auto evaluated = [&] {
    data.evaluation->restore(begin);
    return trainer.evaluate(*data.evaluation);
  };
  const Loss before = evaluated();
  CHECK(before.mean() == evaluated().mean());
  CHECK(is_share(before.count, data.evaluation_size - 1, 0.15));
  CHECK(before.mean() > std::log(8.));
  HostBatch batch;
  for (int step = 0; step < 200; ++step) {
    REQUIRE(data.training->next(batch));
    const Outcome outcome = trainer.step(batch);
    REQUIRE(std::holds_alternative<Applied>(outcome));
  }
  const Loss after = evaluated();
  CHECK(after.count == before.count);
  HostBatch first;
  for (int s = 0; s < 8; ++s) {
    first.starts.push_back(16 * (s + 1));
    first.ids.resize(2);
    for (int row = 0; row < 16; ++row) {
      first.ids[0].push_back(row == 0 ? mask : 'a' + s);
      first.ids[1].push_back(row == 0 ? 'a' + s : -1);
    }
  }
  const Loss of_first = trainer.evaluate(first);
  CHECK(of_first.count == 8);
  MESSAGE("loss ", before.mean(), " before and ", after.mean(),
          " after 200 steps; of what is first ", of_first.mean());
  CHECK(after.mean() < 0.25 * std::log(8.));
  CHECK(of_first.mean() < 0.25 * std::log(8.));
}

// ---- batches in which nothing can be hidden
namespace {

template <class... Policies>
using Hiding =
    testing::Made<Encoder, Bytes<{.context = 16}>, MaskedLm<{.mask = mask}>, AdamW<{.lr = 1e-2}>,
                  LinearDecay<{.steps = 9}>, Batch<{.global = 4, .micro = 1}>, Policies...>;

/// Four sequences, of which these predict a token.
HostBatch batch_of(std::initializer_list<int> predicting, int seed) {
  HostBatch batch = testing::sequences_of({16, 9, 16, 5});
  batch.ids.resize(2);
  for (int row = 0; row < batch.rows(); ++row) batch.ids[0].push_back((row * 7 + seed) % 256);
  batch.ids[1].assign(batch.ids[0].size(), -1);
  for (int s : predicting) {
    const auto row = std::size_t(batch.starts[std::size_t(s)] + 2);
    batch.ids[1][row] = std::exchange(batch.ids[0][row], mask);
  }
  return batch;
}

template <class R>
void check_skipped() {
  Trainer<R> trainer({.seed = 1, .threads = 2}), without({.seed = 1, .threads = 2});
  for (int step = 0; step < 3; ++step) {
    const Outcome outcome = trainer.step(batch_of({}, step));
    REQUIRE(std::holds_alternative<Skipped>(outcome));
    const Skipped skipped = std::get<Skipped>(outcome);
    CHECK(skipped.reason == SkipReason::nothing_to_predict);
    CHECK(skipped.reaction == Reaction::skip);
    CHECK(skipped.loss.count == 0);
    CHECK(trainer.steps() == step);
    const HostBatch of_one_rank = batch_of({3}, step);
    CHECK(testing::applied(trainer, of_one_rank).learning_rate ==
          testing::applied(without, of_one_rank).learning_rate);
  }
  CHECK(testing::parameters_of(trainer) == testing::parameters_of(without));
}

/// Windows of a text, a batch of four windows at a time. Letters are special tokens.
template <class Windows = SequentialWindows>
AnySource windows_of(const std::vector<unsigned char>& text) {
  std::vector<SpecialToken> letters;
  for (std::int32_t id = 'a'; id <= 'z'; ++id) letters.push_back({std::string(1, char(id)), id});
  return AnySource(
      PreparedSource(AnySource(Windows(text, {16, 4})), masked_lm({.mask = mask}, {256, letters})));
}

/// What a loop of three steps says of batches without predictions, and the weights behind it.
std::string run_of(const std::vector<unsigned char>& text, const World& world) {
  using R = Hiding<Ddp<{.ranks = 2}>>;
  Trainer<R> trainer({.seed = 1, .threads = 1, .world = world});
  Loop loop(trainer, ReadStage(windows_of(text), {.workers = 2}), {});
  std::string told;
  loop.run({.steps = 3, .on_warning = [&](const std::string& warning) {
              if (warning.find("nothing to predict") != warning.npos) told += warning + " ";
            }});
  for (const auto& [name, values] : testing::parameters_of(trainer))
    for (double value : values) told += std::to_string(std::bit_cast<std::uint64_t>(value)) + " ";
  return told;
}

/// So many windows of digits; those with these numbers are of letters.
std::vector<unsigned char> text_of(const std::vector<int>& letters, int windows) {
  std::vector<unsigned char> text;
  for (int k = 0; k < windows * 16 + 1; ++k) {
    const bool special = std::ranges::find(letters, k / 16) != letters.end();
    text.push_back(static_cast<unsigned char>((special ? 'a' : '0') + k % 10));
  }
  return text;
}

}  // namespace

TEST_CASE("a batch in which nothing can be hidden is skipped, and the schedule stands still") {
  check_skipped<Hiding<>>();
}
TEST_CASE("a batch is skipped on ranks only if none of them has anything to hide") {
  check_skipped<Hiding<Ddp<{.ranks = 2}>>>();
  check_skipped<Hiding<Zero<{.stage = 3, .ranks = 2}>>>();
}
TEST_CASE("ranks that read their parts agree on what is skipped, with the bits of threads") {
  // Of the second batch nothing can be hidden, of the third only in the last rank's part.
  const std::vector<unsigned char> text = text_of({4, 5, 6, 7, 8, 9}, 16);
  testing::RankProcesses processes(
      2, [&](const World& world, const auto&) { return run_of(text, world); });
  const std::string want = run_of(text, {});
  CHECK(want.starts_with(
      "step 2 is skipped: there is nothing to predict in its batch, by the objective or by "
      "ClassWeights. Weights, state and schedule are as they were. "));
  CHECK(want.find("step 3 is skipped") == want.npos);
  for (const std::string& got : processes.results()) CHECK((got == want));
}
TEST_CASE("a loop refuses validation data in which nothing can be hidden before its first step") {
  const std::vector<unsigned char> text = text_of({}, 16), letters(16 * 9 + 1, 'a'),
                                   late = text_of({0, 1, 2, 3, 4, 5, 6, 7}, 12);
  const auto refusal = [&](const World& world, const std::vector<unsigned char>& more) {
    Trainer<Hiding<Ddp<{.ranks = 2}>>> trainer({.seed = 1, .threads = 1, .world = world});
    EvaluateStage evaluate(windows_of<EvaluationWindows>(text));
    evaluate.add("other", windows_of<EvaluationWindows>(more));
    evaluate.came_from("--validation FILE");
    Loop loop(trainer, ReadStage(windows_of(text)), std::move(evaluate));
    std::string what =
        testing::message_of<ArgumentError>([&] { loop.run({.steps = 3, .evaluate_every = 2}); });
    return std::to_string(trainer.steps()) + " steps. " + what;
  };
  const std::string want = refusal({}, letters);
  CHECK(want.starts_with(
      "0 steps. The data for evaluation 'other' (--validation FILE) have nothing to predict: "));
  testing::RankProcesses processes(
      2, [&](const World& world, const auto&) { return refusal(world, letters); });
  for (const std::string& got : processes.results()) CHECK(got == want);
  Trainer<Hiding<>> trainer({.seed = 1, .threads = 1});
  Loop loop(trainer, ReadStage(windows_of(text)),
            EvaluateStage(windows_of<EvaluationWindows>(late)));
  loop.run({.steps = 1});  // only the third batch has something to predict
  CHECK(trainer.steps() == 1);
}
TEST_CASE("a loop notes skipped batches in its log, and ends where too many come in a row") {
  const testing::TemporaryFolder folder;
  RunFolder run(folder / "run", RunFolder::Mode::fresh);
  const std::vector<unsigned char> text = text_of({}, 4), letters(16 * 8 + 1, 'a');
  std::vector<unsigned char> all = text;
  for (int k = 0; k < 60; ++k) all.insert(all.end(), letters.begin(), letters.end());
  Trainer<Hiding<>> trainer({.seed = 1, .threads = 1});
  Loop loop(trainer, ReadStage(windows_of(all)), {}, &run);
  const std::string what = testing::message_of<ArgumentError>([&] { loop.run({.steps = 3}); });
  CHECK(what.starts_with(
      "In 100 batches in a row there was nothing to predict, so training stops at step "));
  std::ifstream log(run.metrics_path());
  int skipped = 0;
  for (std::string line; std::getline(log, line);)
    skipped += line.find("\"event\":\"skipped\"") != line.npos;
  CHECK(skipped == 99);
}
