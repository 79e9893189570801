// SPDX-License-Identifier: Apache-2.0
// Replies of examples ranked by the model: against predictions token by token, over batches, ranks and processes.
#include <bit>
#include <cmath>
#include <sstream>

#include "sinter/data/dialogue.hpp"
#include "sinter/data/example_source.hpp"
#include "sinter/data/paired_examples.hpp"
#include "sinter/evaluation/evaluate.hpp"
#include "sinter/metric/generated_length.hpp"
#include "sinter/metric/hits_at.hpp"
#include "sinter/metric/metrics.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/trainer/evaluation.hpp"
#include "support/axes_models.hpp"
#include "support/message_of.hpp"
#include "support/rank_processes.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::reply_ranks_tests {

static_assert(RankMetric<HitsAt<>> && !TextMetric<HitsAt<>> && !ClassMetric<HitsAt<>>);
static_assert(HitsAt<>::name == "hits_at_1" && HitsAt<{.k = 10}>::name == "hits_at_10");
static_assert(HitsAt<{.k = 100, .candidates = 101}>::name == "hits_at_100");

constexpr int group = 4;
std::vector<int> seen;  // ranks
/// A metric of one's own, which keeps what it sees.
struct Recorded {
  static constexpr std::string_view name = "recorded";
  static constexpr bool greater_is_better = false;
  static constexpr int candidates = group, sums = 1;
  static void add(const RankedReply& reply, TextSums& into) {
    CHECK(reply.candidates <= group);
    seen.push_back(reply.rank);
    ++into.sums[0];
  }
  static double value(const TextSums& all) { return all.sums[0]; }
};

template <int K, int Candidates = group>
using Hits = HitsAt<{.k = K, .candidates = Candidates}>;
struct AmongThree : Hits<1, 3> {
  static constexpr std::string_view name = "among_three";
};
constexpr ExampleLimits limits{.context = 16, .label = 10};
using Small = Gpt2<{.layers = 1, .heads = 2, .width = 32, .vocabulary = 258, .positions = 26}>;
template <class... More>
using Answers = Made<Small, Dialogue<{.text = 16, .label = 10}>, Batch<{.global = 6, .micro = 3}>,
                     AdamW<{.lr = 1e-2}>, More...>;
using All = Answers<Evaluate<>, Metrics<Recorded, Hits<1>, Hits<2>, AmongThree>>;
using First = Answers<Evaluate<{.examples = 5}>, Metrics<Recorded, GeneratedLength>>;
using ByTwo = Answers<Evaluate<>, Metrics<Hits<1>, Hits<2>>, Ddp<{.ranks = 2}>>;
using Divided =
    Answers<Evaluate<>, Metrics<Hits<1>, GeneratedLength>, Zero<{.stage = 3, .ranks = 2}>>;
struct Letters : TwoContexts {
  static constexpr bool has_replies = true;
};
using Pairs = Made<TinySeq2Seq, Letters, Batch<{.global = 6, .micro = 3}>, AdamW<{.lr = 1e-2}>,
                   Evaluate<>, Metrics<Recorded>>;

using Turns = std::vector<std::vector<std::string>>;
std::shared_ptr<ExampleSet> set_of(const Turns& dialogues) {
  ExampleSet set(byte_tokenizer(), limits);
  for (const auto& turns : dialogues) set.add_dialogue(turns);
  return std::make_shared<ExampleSet>(std::move(set));
}
const std::shared_ptr<ExampleSet> examples = set_of({{"one", "uno"},
                                                     {"two", "dos!", "and three?"},
                                                     {"a long text to cut here", "tres"},
                                                     {"", "a long reply to cut"},
                                                     {"four", "cu at ro"},
                                                     {"five", ""},
                                                     {"six", "se is"},
                                                     {"seven", "si et e"},
                                                     {"eight", "ocho"}});

AnySource source_of(const std::shared_ptr<const ExampleList>& set, int at_once) {
  return {EvaluationExamples(*set, {0, set->size()}, at_once), set};
}
template <class R>
std::vector<double> values_of(Trainer<R>& trainer, AnySource source) {
  seen.clear();
  std::vector<double> values;
  const Evaluation found = *evaluate_all(trainer, source);
  for (const MetricValue& metric : found.metrics) values.push_back(metric.value);
  return values;
}
/// The ranks of replies, of which some are to be the first of their group, and others not.
void check_ranks(const std::vector<int>& want) {
  CHECK(seen == want);
  CHECK(std::ranges::count(want, 0) > 0);
  CHECK(std::ranges::count(want, 0) < std::ssize(want));
}

using Ids = std::vector<std::int32_t>;
struct Example {
  Ids source, before, reply;
};
/// The mean loss of a reply's tokens, each by a prediction of what follows all before it.
double loss_by_hand(TrainerCore& trainer, const Example& example, const Ids& reply) {
  Ids text = example.before;
  double sum = 0;
  for (const std::int32_t token : reply) {
    HostBatch batch;
    batch.starts = {0, std::int32_t(text.size())};
    if (!example.source.empty()) {
      batch.ids.push_back(example.source);
      batch.second_starts = {0, std::int32_t(example.source.size())};
    }
    batch.ids.push_back(text);
    const std::vector<float> logits = trainer.predict(batch).values;
    double all = 0;
    for (const float logit : logits) all += std::exp(double(logit));
    sum += std::log(all) - logits[std::size_t(token)];
    text.push_back(token);
  }
  return sum / double(reply.size());
}
/// The ranks of the examples of a set, in groups.
std::vector<int> ranks_by_hand(TrainerCore& trainer,
                               const std::shared_ptr<const ExampleList>& set) {
  std::vector<Example> all;
  AnySource source = source_of(set, 1);
  for (HostBatch batch; source.next(batch);) {
    const bool pairs = batch.ids.size() == 3;
    const Ids &tokens = batch.ids[pairs ? 1 : 0], &targets = batch.ids.back();
    Example example;
    if (pairs) example.source = batch.ids[0];
    for (const std::int32_t target : targets)
      if (target >= 0) example.reply.push_back(target);
    example.before.assign(tokens.begin(), tokens.end() - std::ptrdiff_t(example.reply.size()) + 1);
    all.push_back(example);
  }
  std::vector<int> ranks;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::size_t first = std::min(k / group * group, all.size() - group);
    const double own = loss_by_hand(trainer, all[k], all[k].reply);
    int before = 0;
    for (std::size_t other = first; other < first + group; ++other)
      before +=
          all[other].reply != all[k].reply && loss_by_hand(trainer, all[k], all[other].reply) < own;
    ranks.push_back(before);
  }
  return ranks;
}

TEST_CASE("ranks are those of predictions token by token, whatever the sizes of batches") {
  Trainer<All> trainer({.seed = 1, .threads = 2});
  randomise(trainer, 3, .4);
  const std::vector<int> want = ranks_by_hand(trainer, examples);
  REQUIRE(want.size() == 10);  // two groups, and two more among the last four
  const auto share = [&](int k) {
    return double(std::ranges::count_if(want, [&](int rank) { return rank < k; })) / 10;
  };
  std::vector<double> first;
  for (const int at_once : {1, 4, 100}) {
    CAPTURE(at_once);
    const std::vector<double> values = values_of(trainer, source_of(examples, at_once));
    check_ranks(want);
    REQUIRE(values.size() == 4);
    CHECK(values[0] == 10);
    CHECK(values[1] == share(1));
    CHECK(values[2] == share(2));
    if (first.empty()) first = values;
    CHECK(values == first);  // also among three
  }
}

TEST_CASE("replies of an encoder-decoder are ranked behind what its encoder reads") {
  Tokenizer letters;
  letters.encode = [](std::string_view text) {
    Ids ids;
    for (const char letter : text) ids.push_back(letter - 'a');
    return ids;
  };
  letters.decode = [](std::int32_t id) { return std::string(1, char('a' + id)); };
  letters.vocabulary = axes_vocabulary - 2;
  letters.identity = "letters";
  PairedExamples pairs(letters, {.text = 9, .label = 5});
  for (const Turns::value_type& turns :
       Turns{{"abc", "def"}, {"ab", ""}, {"abcdefghiab", "ii"}, {"b", "abcdefg"}, {"hi", "ha"}}) {
    std::vector<Ids> ids;
    for (const std::string& turn : turns) ids.push_back(letters.encode(turn));
    pairs.add_turns(ids);
  }
  const auto set = std::make_shared<PairedExamples>(std::move(pairs));
  Trainer<Pairs> trainer({.seed = 1, .threads = 1});
  randomise(trainer, 3, 1);
  const std::vector<int> want = ranks_by_hand(trainer, set);
  for (const int at_once : {1, 4}) {
    (void)values_of(trainer, source_of(set, at_once));
    check_ranks(want);
  }
}

TEST_CASE("of replies as likely the earlier comes first, and equal ones are one candidate") {
  Trainer<All> trainer({.seed = 1, .threads = 1});
  for (const Parameter& p : trainer.parameters())  // all tokens are as likely
    trainer.set_parameter(p.name, std::vector<double>(std::size_t(p.size)));
  using Values = std::vector<double>;
  const auto set = set_of({{"1", "ab"}, {"2", "cd"}, {"3", "ab"}, {"4", "ef"}});
  // Of ab, cd and ef; the last metric ranks ab, cd and ab, and then the last among cd, ab and ef.
  CHECK(values_of(trainer, source_of(set, 3)) == Values{4, 2. / 4, 3. / 4, 2. / 4});
  CHECK(seen == std::vector<int>{0, 1, 0, 2});
  const auto five = set_of({{"1", "ab"}, {"2", "cd"}, {"3", "ef"}, {"4", "gh"}, {"5", "ij"}});
  CHECK(values_of(trainer, source_of(five, 2)) == Values{5, 1. / 5, 2. / 5, 1. / 5});
  CHECK(seen == std::vector<int>{0, 1, 2, 3, 3});  // the last among four, too
}

TEST_CASE("a model that has learnt its replies ranks each first") {
  using Learnt = Answers<Evaluate<>, Metrics<Hits<1, 3>>>;
  const auto set = set_of({{"one", "uno"}, {"two", "dos"}, {"three", "tres si"}});
  Trainer<Learnt> trainer({.seed = 1, .threads = 1});
  AnySource source = source_of(set, 6);
  HostBatch batch;
  REQUIRE(source.next(batch));
  for (int step = 0; step < 100; ++step) (void)trainer.step(batch);
  CHECK(values_of(trainer, source_of(set, 2)) == std::vector<double>{1});
}

TEST_CASE("only the first examples are ranked, and other metrics are as without") {
  Trainer<First> trainer({.seed = 1, .threads = 1});
  randomise(trainer, 3, .4);
  using Alone = Answers<Evaluate<{.examples = 5}>, Metrics<GeneratedLength>>;
  Trainer<Alone> alone({.seed = 1, .threads = 1});
  randomise(alone, 3, .4);
  const double length = values_of(alone, source_of(examples, 3)).front();
  const std::vector<double> values = values_of(trainer, source_of(examples, 3));
  CHECK(values == std::vector<double>{5, length});
  CHECK(seen.size() == 5);
}

TEST_CASE("too few examples for a group are refused, and what is skipped needs none") {
  const auto few = set_of({{"1", "ab"}, {"2", "cd"}, {"3", "ef"}});
  Trainer<All> trainer({.seed = 1, .threads = 1});
  CHECK(contains(
      message_of<ArgumentError>([&] { (void)values_of(trainer, source_of(few, 2)); }),
      "ranks the reply of each example among 4 candidates, and the evaluation has 3 examples"));
  const auto view = Trainer<All>::options();
  view->skips_generation = true;
  Trainer<All> skipping(view, {.seed = 1, .threads = 1});
  CHECK(values_of(skipping, source_of(few, 2)).empty());
}

template <class R>
void check_processes() {
  const auto evaluated = [&](const World& world) {
    Trainer<R> trainer({.seed = 3, .threads = 1, .world = world});
    randomise(trainer, 3, .4);
    std::ostringstream out;
    for (const int at_once : {1, 4, 100})
      for (const double value : values_of(trainer, source_of(examples, at_once)))
        out << std::bit_cast<std::uint64_t>(value) << ' ';
    return out.str();
  };
  Trainer<All> one({.seed = 3, .threads = 1});
  randomise(one, 3, .4);
  const double hits = values_of(one, source_of(examples, 7))[1];
  const std::string want = evaluated({});
  CHECK(want.starts_with(std::to_string(std::bit_cast<std::uint64_t>(hits)) + " "));
  RankProcesses processes(
      2, [&](const World& world, const RankProcesses::Say&) { return evaluated(world); });
  CHECK(processes.result(0) == want);
  CHECK(processes.result(1) == want);
}

TEST_CASE("threads and processes as ranks have the figures of one rank, to the bit") {
  check_processes<ByTwo>();
  check_processes<Divided>();
}

}  // namespace sinter::detail::testing::reply_ranks_tests
