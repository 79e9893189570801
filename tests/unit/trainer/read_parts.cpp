// SPDX-License-Identifier: Apache-2.0
// Ranks that are processes read their parts of the data alone, each sequence by one of them, and train and
// evaluate with the bits of one process whose ranks are threads.
#include <algorithm>
#include <bit>
#include <mutex>
#include <sstream>

#include "sinter/data/example_source.hpp"
#include "sinter/data/examples.hpp"
#include "sinter/data/windows.hpp"
#include "sinter/model/classifier.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/objective/masked_lm.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "sinter/precision/fp32.hpp"
#include "support/batches.hpp"
#include "support/message_of.hpp"
#include "support/rank_processes.hpp"
#include "support/saved_runs.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::read_parts_tests {

constexpr int context = 16, vocabulary = 300;

using Words = Made<Gpt2<{.layers = 1,
                         .heads = 2,
                         .width = 16,
                         .vocabulary = vocabulary,
                         .positions = context,
                         .dropout = .1}>,
                   UpTo<context, vocabulary>, Batch<{.global = 8, .micro = 1}>, AdamW<{.lr = 1e-2}>,
                   Ddp<{.bucket_bytes = 5000}>>;
using Numbers3 = Network<AdamW<{.lr = 1e-2}>, Ddp<{.bucket_bytes = 1000}>>;
template <class Parallel>
using ClassesBy = Made<Classifier<Linear<3, 4, mlp::like_torch<3>>>, UpTo<1>,
                       Batch<{.global = 24, .micro = 1}>, AdamW<{.lr = 1e-2}>, Parallel>;
using Classes = ClassesBy<Ddp<>>;
using Divided = ClassesBy<Zero<{.stage = 3, .ranks = 4}>>;
using AtRoot = ClassesBy<SplitBatch<>>;

const std::vector<std::int32_t> classes_of_rows = [] {
  std::vector<std::int32_t> values(rows_of_network);
  for (int k = 0; k < rows_of_network; ++k) values[std::size_t(k)] = k * 3 % 5 - 1;
  return values;
}();

/// What sources of a process have made, in any order.
struct Log {
  std::mutex mutex;
  std::vector<std::int64_t> items;

  void add(std::int64_t item) {
    const std::lock_guard lock(mutex);
    items.push_back(item);
  }
};

/// A source of so many items at most, that tells which of them it has made.
template <class Source>
struct Told {
  Source source;
  std::uint64_t most;
  std::shared_ptr<Log> log;
  BatchDraw drawn{};

  bool next(HostBatch& batch) {
    if (!draw(drawn)) return batch.clear(), false;
    fill(drawn, batch);
    return true;
  }
  bool draw(BatchDraw& draw) { return source.state().items < most && source.draw(draw); }
  void fill(const BatchDraw& draw, HostBatch& batch) const {
    source.fill(draw, batch);
    const int all = batch.sequences();
    for (int s = batch.part.begin(all); s < batch.part.end(all); ++s)
      log->add(draw.items[std::size_t(s)]);
  }
  SamplerState state() const { return source.state(); }
  void restore(const SamplerState& saved) { source.restore(saved); }
};

constexpr std::uint64_t endless = ~std::uint64_t(0);

/// What a process reads, with logs of it.
struct Sources {
  AnySource training, evaluation;
  std::shared_ptr<Log> trained, evaluated;
};

template <class Training, class Evaluation>
Sources sources_of(Training training, std::uint64_t most, Evaluation evaluation) {
  const auto trained = std::make_shared<Log>(), evaluated = std::make_shared<Log>();
  return {AnySource(Told<Training>{std::move(training), most, trained}),
          AnySource(Told<Evaluation>{std::move(evaluation), endless, evaluated}), trained,
          evaluated};
}

/// A text that tells which of its tokens were read.
struct Store {
  std::vector<std::int32_t> tokens;
  mutable Log log{};

  std::int64_t size() const { return std::ssize(tokens); }
  void read(std::int64_t begin, std::span<std::int32_t> out) const {
    std::copy_n(tokens.begin() + begin, out.size(), out.begin());
    for (std::size_t k = 0; k < out.size(); ++k) log.add(begin + std::int64_t(k));
  }
  std::uint64_t hash() const { return 1; }
};

std::vector<std::int32_t> letters(int count) {
  std::vector<std::int32_t> ids;
  for (int k = 0; k < count; ++k) ids.push_back(k * k % 251);
  return ids;
}

/// Kinds of data, as functions that make the sources of a process: of `sequences` in a batch and `batches`
/// batches.
Sources windows(int sequences, int batches) {
  static const Store store{letters(400)};
  static const Store held_out{letters(110)};  // 7 windows, the last one short
  return sources_of(ShuffledWindows(TokenView(store), {context, sequences}, 4),
                    std::uint64_t(sequences * batches),
                    EvaluationWindows(TokenView(held_out), {context, 3}));
}

Sources masked(int sequences, int batches) {
  static const std::vector<std::int32_t> text = letters(400);
  const Objective objective = masked_lm({.mask = 256}, {256, {}});
  return sources_of(
      PreparedSource(AnySource(ShuffledWindows(text, {context, sequences}, 4)), objective),
      std::uint64_t(sequences * batches),
      PreparedSource(AnySource(EvaluationWindows(text, {context, 6})), objective));
}

Sources examples(int sequences, int batches) {
  static const ExampleSet set = [] {
    ExampleSet made(byte_tokenizer(), {.context = 9, .label = 7});
    for (int k = 0; k < 23; ++k)
      made.add_pair(std::string(std::size_t(1 + k * 5 % 14), char('a' + k)),
                    std::string(std::size_t(1 + k * 7 % 10), char('A' + k)));
    return made;
  }();
  return sources_of(
      ExampleBatches(set, {3, 20}, {.sequences = sequences, .batching = {.pads = true}}),
      std::uint64_t(sequences * batches), EvaluationExamples(set, {0, 7}, 3));
}

Sources arrays(int sequences, int batches) {
  return sources_of(ArrayData(network_inputs, 3, network_targets, 2, {.sequences = sequences}),
                    std::uint64_t(sequences * batches),
                    EvaluationArrays(network_inputs, 3, network_targets, 2, 7));
}

Sources classes(int sequences, int batches) {
  const ArrayRows rows(network_inputs, 3, classes_of_rows);
  return sources_of(ArrayData(rows, {.sequences = sequences}), std::uint64_t(sequences * batches),
                    EvaluationArrays(rows, 7));
}

/// What a run has been in a process.
struct Run {
  std::string bits;  // of all that steps and evaluations gave, and of the weights
  std::vector<std::int64_t> trained, evaluated;

  std::string text() const {
    std::ostringstream out;
    out << bits << '\n';
    for (const auto* items : {&trained, &evaluated}) {
      for (std::int64_t item : *items) out << item << ' ';
      out << '\n';
    }
    return out.str();
  }
  static Run from(const std::string& text) {
    Run run;
    std::istringstream lines(text);
    std::getline(lines, run.bits);
    for (auto* items : {&run.trained, &run.evaluated}) {
      std::string line;
      std::getline(lines, line);
      std::istringstream numbers(line);
      for (std::int64_t item = 0; numbers >> item;) items->push_back(item);
    }
    return run;
  }
};

template <class R>
auto recipe_of(int ranks) {
  const auto view = Trainer<R>::options();
  for (Option& option : view->options)
    if (option.dotted() == "parallel.ranks") *std::get<int*>(option.value) = ranks;
  return view;
}

template <class R>
Run run(int ranks, const World& world, Sources sources, RunFolder* folder = nullptr,
        std::int64_t steps = 100) {
  Trainer<R> trainer(recipe_of<R>(ranks), {.seed = 3, .threads = 1, .world = world});
  Run run;
  const auto add = [&](double x) {
    run.bits += std::to_string(std::bit_cast<std::uint64_t>(x)) + " ";
  };
  Loop loop(trainer, ReadStage(std::move(sources.training), {.workers = 2}),
            EvaluateStage(std::move(sources.evaluation)), folder);
  loop.run({.steps = steps, .evaluate_every = 2, .on_step = [&](const StepRecord& step) {
              add(double(step.step));
              add(double(step.tokens));
              add(step.loss);
              add(step.gradient_norm);
              add(step.validation_loss.value_or(-1));
              if (step.examples) add(step.examples->padding), add(step.examples->truncated);
            }});
  if (!trainer.plan().model.at_root())  // there one process alone has them
    for (const auto& [name, values] : parameters_of(trainer))
      for (double x : values) add(x);
  run.trained = sources.trained->items;
  run.evaluated = sources.evaluated->items;
  return run;
}

std::vector<std::int64_t> sorted(std::vector<std::int64_t> items) {
  std::ranges::sort(items);
  return items;
}

/// Checks that processes have made together what one process has, with its bits.
void check_same(const std::vector<std::string>& got, const Run& want) {
  Run all;
  for (const std::string& text : got) {
    const Run one = Run::from(text);
    CHECK((one.bits == want.bits));
    if (one.bits != want.bits) MESSAGE(text.substr(0, 300));
    all.trained.insert(all.trained.end(), one.trained.begin(), one.trained.end());
    all.evaluated.insert(all.evaluated.end(), one.evaluated.begin(), one.evaluated.end());
  }
  CHECK(sorted(all.trained) == sorted(want.trained));
  CHECK(sorted(all.evaluated) == sorted(want.evaluated));
}

template <class R>
void check_processes(Sources (*sources)(int, int), std::initializer_list<int> batch_sizes,
                     std::initializer_list<int> worlds = {2, 4}) {
  for (const int ranks : worlds)
    for (const int sequences : batch_sizes) {
      CAPTURE(ranks);
      CAPTURE(sequences);
      RankProcesses processes(ranks, [&](const World& world, const RankProcesses::Say&) {
        return run<R>(ranks, world, sources(sequences, 4)).text();
      });
      const Run want = run<R>(ranks, {}, sources(sequences, 4));
      CHECK(want.trained.size() == std::size_t(sequences * 4));
      check_same(processes.results(), want);
    }
}

TEST_CASE("each window is read by one process, which trains and evaluates as one process does") {
  check_processes<Words>(windows, {8, 5, 3});
}

TEST_CASE(
    "each row of arrays is read by one process, with targets or with classes that some lack") {
  check_processes<Numbers3>(arrays, {24, 7, 1});
  check_processes<Classes>(classes, {24, 7, 3});
}

TEST_CASE("hidden tokens and examples of any length are each read by one process") {
  check_processes<Words>(masked, {8, 3});
  check_processes<Words>(examples, {8, 5, 3});
}

TEST_CASE("each row is read by one process if ranks share weights, or one updates for all") {
  check_processes<Divided>(classes, {24, 7, 3}, {4});
  check_processes<AtRoot>(classes, {24, 7, 1});
}

TEST_CASE("the tokens of a text that a process reads are those of its windows") {
  const auto make = [](const Store& store) {
    return ShuffledWindows(TokenView(store), {context, 8}, 4);
  };
  const Store whole{letters(400)};
  ShuffledWindows windows = make(whole);
  HostBatch batch;
  BatchDraw draw;
  for (int k = 0; k < 5; ++k) windows.next(batch);
  std::vector<std::int64_t> all;
  for (int rank = 0; rank < 4; ++rank) {
    const Store store{letters(400)};
    ShuffledWindows own = make(store);
    for (int k = 0; k < 5; ++k) REQUIRE(pull(own, batch, draw, BatchPart{rank, 4}));
    CHECK(store.log.items.size() == whole.log.items.size() / 4);
    all.insert(all.end(), store.log.items.begin(), store.log.items.end());
  }
  CHECK(sorted(all) == sorted(whole.log.items));
}

/// Gives its batches whole, as a source that was written for one process may.
struct Plain {
  ShuffledWindows windows;
  bool next(HostBatch& batch) { return windows.next(batch); }
  SamplerState state() const { return windows.state(); }
  void restore(const SamplerState& saved) { windows.restore(saved); }
};
/// Divides, but does not ask which part is needed.
struct Heedless : Plain {
  bool draw(BatchDraw& draw) { return windows.draw(draw); }
  void fill(BatchDraw draw, HostBatch& batch) const {
    draw.part = {};
    windows.fill(draw, batch);
  }
};
static_assert(DataSource<Plain> && !DividedSource<Plain> && DividedSource<Heedless>);

TEST_CASE("sources that know nothing of parts are read whole by each process") {
  static const std::vector<std::int32_t> text = letters(400);
  const auto sources = [](bool divides) {
    Sources all = windows(5, 4);
    const Plain plain{ShuffledWindows(text, {context, 5}, 4)};
    all.training = divides ? AnySource(Heedless{plain}) : AnySource(plain);
    return all;
  };
  for (const bool divides : {false, true}) {
    CAPTURE(divides);
    RankProcesses processes(2, [&](const World& world, const RankProcesses::Say&) {
      return run<Words>(2, world, sources(divides), nullptr, 4).text();
    });
    check_same(processes.results(), run<Words>(2, {}, sources(divides), nullptr, 4));
  }
}

/// Two halves of a run in one folder, each with its number of ranks, as processes or as threads.
template <class R>
void check_resumed(Sources (*sources)(int, int), int sequences, int before, int after) {
  CAPTURE(before);
  CAPTURE(after);
  const TemporaryFolder threads, processes;
  constexpr int half = 3;
  const auto part = [&](const fs::path& path, int ranks, const World& world, bool second) {
    const auto mode = second ? RunFolder::Mode::resume : RunFolder::Mode::fresh;
    const auto folder = folder_of(path / "run", mode, world);
    return run<R>(ranks, world, sources(sequences, 2 * half), folder.get(), second ? 100 : half);
  };
  for (const bool second : {false, true}) {
    const int ranks = second ? after : before;
    RankProcesses of_half(ranks, [&](const World& world, const RankProcesses::Say&) {
      return part(processes.path(), ranks, world, second).text();
    });
    const std::vector<std::string> got = of_half.results();
    Run want = part(threads.path(), ranks, {}, second);
    if (!second) want.trained.clear();  // what was read ahead depends on the time
    if (!second)
      for (const std::string& text : got) CHECK((Run::from(text).bits == want.bits));
    else
      check_same(got, want);
    if (second) CHECK(want.trained.size() == std::size_t(half * sequences));
  }
}

TEST_CASE("a run goes on with another number of processes, and its bits are those of threads") {
  check_resumed<Words>(windows, 5, 2, 4);
  check_resumed<Words>(masked, 8, 4, 2);
  check_resumed<Classes>(classes, 7, 4, 2);
}

/// The content of one part of a batch of tokens.
HostBatch cut(HostBatch batch, BatchPart part) {
  batch.part = part;
  const HostBatch::Rows held = batch.held_rows(0);
  for (auto& ids : batch.ids) ids = {ids.begin() + held.begin, ids.begin() + held.end};
  return batch;
}

TEST_CASE("a batch of another process's part, or of a part where all is needed, is refused") {
  const HostBatch batch = token_batch({5, 16, 3, 9, 1}, vocabulary, 3);
  const auto said = [&](auto work) { return message_of<ArgumentError>(work); };
  const auto alone = [&](const HostBatch& given) {
    Trainer<Words> trainer({.threads = 1});
    return said([&] { (void)trainer.step(given); }) + said([&] { trainer.evaluate(given); }) +
           said([&] { trainer.predict(given); }) +
           said([&] { trainer.predict_rows(given, [](const Prediction&) {}); });
  };
  const std::string refused = alone(cut(batch, {1, 2}));
  CHECK(refused.find("has the content of rank 1 of 2 alone, and this process is rank 0 of 1") !=
        std::string::npos);
  CHECK(refused.find("predictions of rows are for all of them") != std::string::npos);
  CHECK(said([&] {
          HostBatch wrong = batch;
          wrong.part = {0, 2};  // but has the rows of all
          (void)Trainer<Words>({.threads = 1}).step(wrong);
        }) != "");
  RankProcesses processes(2, [&](const World& world, const RankProcesses::Say&) {
    Trainer<Words> trainer({.threads = 1, .world = world});
    return said([&] { (void)trainer.step(cut(batch, {1 - world.rank, 2})); });
  });
  CHECK(processes.result(0).find("this process is rank 0 of 2") != std::string::npos);
  CHECK(processes.result(1).find("this process is rank 1 of 2") != std::string::npos);
}

TEST_CASE("processes do not wait for one whose part of a batch does not fit the model") {
  HostBatch batch = token_batch({5, 16, 3, 9, 1}, vocabulary, 3);
  batch.ids[0].back() = vocabulary;
  using Taker = void (*)(TrainerCore&, const HostBatch&);
  for (const Taker take : {Taker([](TrainerCore& t, const HostBatch& b) { (void)t.step(b); }),
                           Taker([](TrainerCore& t, const HostBatch& b) { t.evaluate(b); }),
                           Taker([](TrainerCore& t, const HostBatch& b) {
                             t.predict(b);
                             t.sum_over_processes(1);
                           })}) {
    RankProcesses processes(2, [&](const World& world, const RankProcesses::Say&) {
      Trainer<Words> trainer({.threads = 1, .world = world});
      take(trainer, cut(batch, {world.rank, 2}));
      return std::string("no error");
    });
    CHECK(processes.result(1).find("outside the model's table") != std::string::npos);
    CHECK(processes.result(0).find("rank 1") != std::string::npos);
  }
}

}  // namespace sinter::detail::testing::read_parts_tests
