// SPDX-License-Identifier: Apache-2.0
// Options: what a recipe lists, what may be changed before its trainer is made, and that changing
// it does what the same number in the recipe's type would.
#include "sinter/data/bytes.hpp"
#include "sinter/error.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/schedule/cosine_decay.hpp"
#include "support/batches.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing {
namespace {

constexpr Gpt2Options tiny{.layers = 1, .heads = 2, .width = 16, .vocabulary = 256, .positions = 8};
struct tiny_text
    : Recipe<Gpt2<tiny>, Bytes<{.context = 8}>, AdamW<{.lr = 3e-4}>,
             CosineDecay<{.warmup = 4, .steps = 50}>, Batch<{.global = 12, .micro = 2}>,
             Checkpoint<{.policy = selective}>, Ddp<{.bucket_bytes = 1000}>> {};

Option& find(const std::shared_ptr<RecipeView>& view, std::string_view name) {
  for (Option& option : view->options)
    if (option.dotted() == name) return option;
  FAIL("no option " << name);
  throw 0;
}
template <class T>
void set(const std::shared_ptr<RecipeView>& view, std::string_view name, T value) {
  Option& option = find(view, name);
  REQUIRE(option.adjustable);
  *std::get<T*>(option.value) = value;
}

TEST_CASE("a recipe's view lists every option with its value") {
  const auto view = Trainer<tiny_text>::options();
  struct Want {
    const char *name, *value;
    bool adjustable;
  };
  const std::vector<Want> want{{"model.layers", "1", false},
                               {"model.heads", "2", false},
                               {"model.width", "16", false},
                               {"model.vocabulary", "256", false},
                               {"model.positions", "8", false},
                               {"model.dropout", "0", false},
                               {"model.vocabulary_multiple", "1", false},
                               {"data.context", "8", false},
                               {"optimizer.lr", "0.0003", true},
                               {"optimizer.beta1", "0.9", true},
                               {"optimizer.beta2", "0.999", true},
                               {"optimizer.eps", "1e-08", true},
                               {"optimizer.weight_decay", "0.01", true},
                               {"schedule.warmup", "4", true},
                               {"schedule.steps", "50", true},
                               {"schedule.floor", "0", true},
                               {"clipping.max", "1", true},
                               {"batch.global", "12", true},
                               {"batch.micro", "2", false},
                               {"memory.policy", "selective", false},
                               {"memory.every", "1", false},
                               {"parallel.bucket_bytes", "1000", false},
                               {"parallel.first_bucket_bytes", "1048576", false},
                               {"parallel.compression", "none", false},
                               {"parallel.ranks", "2", true}};
  REQUIRE(view->options.size() == want.size());
  for (std::size_t k = 0; k < want.size(); ++k) {
    const Option& option = view->options[k];
    CHECK(option.dotted() == want[k].name);
    CHECK(text_of(option) == want[k].value);
    CHECK(option.adjustable == want[k].adjustable);
  }
  CHECK(view->name == "tiny_text");
  CHECK(view->data.opens);
  CHECK(view->data.has_tokenizer);
  CHECK(view->data.unit.one == "byte");
  CHECK(view->policies == std::vector<std::string>{
                              "model: Gpt2", "data: Bytes", "precision: Fp32", "optimizer: AdamW",
                              "schedule: CosineDecay", "clipping: ClipNorm", "batch: Batch",
                              "memory: Checkpoint", "parallel: Ddp", "device: Cpu"});
  CHECK(view->ranks() == 2);
  CHECK(view->global_batch() == 12);
  CHECK(view->learning_rate(2) == doctest::Approx(1.5e-4));
}

// ---- changed options against other recipes

template <class... Policies>
struct Line : Recipe<Mlp<{.in = 3, .hidden = 8, .out = 2}>, Policies...> {};
using Plain = Line<AdamW<>, CosineDecay<{.steps = 10}>, Batch<{.global = 8, .micro = 4}>>;
using Other = Line<AdamW<{.lr = .03, .beta1 = .8, .beta2 = .9, .eps = 1e-3, .weight_decay = .5}>,
                   CosineDecay<{.warmup = 3, .steps = 7, .floor = .25}>, ClipNorm<{.max = .1}>,
                   Batch<{.global = 16, .micro = 4}>>;

HostBatch rows(int count, int step) {
  return regression_batch(std::vector<int>(std::size_t(count), 1), 3, 2, std::uint64_t(step));
}

TEST_CASE("adjusted options act as those of another recipe") {
  const auto view = Trainer<Plain>::options();
  set(view, "optimizer.lr", .03);
  set(view, "optimizer.beta1", .8);
  set(view, "optimizer.beta2", .9);
  set(view, "optimizer.eps", 1e-3);
  set(view, "optimizer.weight_decay", .5);
  set(view, "schedule.warmup", std::int64_t(3));
  set(view, "schedule.steps", std::int64_t(7));
  set(view, "schedule.floor", .25);
  set(view, "clipping.max", .1);
  set(view, "batch.global", 16);
  Trainer<Plain> changed(view, {.seed = 1, .threads = 1}), plain({.seed = 1, .threads = 1});
  Trainer<Other> other({.seed = 1, .threads = 1});
  CHECK(changed.global_batch() == 16);
  CHECK(plain.global_batch() == 8);
  for (int step = 1; step <= 9; ++step) {
    CAPTURE(step);
    Applied a = applied(changed, rows(16, step)), b = applied(other, rows(16, step));
    CHECK(a.learning_rate == b.learning_rate);
    CHECK(a.loss.sum == b.loss.sum);
    CHECK(parameters_of(changed) == parameters_of(other));
    CHECK(applied(plain, rows(8, step)).learning_rate != a.learning_rate);
  }
}

TEST_CASE("each optimizer option acts by itself") {
  auto after = [](std::string_view name, double value) {
    const auto view = Trainer<Plain>::options();
    if (!name.empty()) set(view, name, value);
    Trainer<Plain> trainer(view, {.seed = 1, .threads = 1});
    for (int step = 1; step <= 3; ++step) applied(trainer, rows(8, step));
    return parameters_of(trainer);
  };
  const NamedNumbers plain = after("", 0);
  CHECK(after("", 0) == plain);
  for (const char* name : {"optimizer.lr", "optimizer.beta1", "optimizer.beta2", "optimizer.eps",
                           "optimizer.weight_decay", "schedule.floor", "clipping.max"}) {
    CAPTURE(name);
    CHECK(after(name, .05) != plain);
  }
}

TEST_CASE("Sgd's momentum is frozen, as its state depends on it") {
  const auto view = Trainer<Line<Sgd<{.momentum = .9}>>>::options();
  CHECK(find(view, "optimizer.lr").adjustable);
  CHECK(find(view, "optimizer.weight_decay").adjustable);
  CHECK_FALSE(find(view, "optimizer.momentum").adjustable);
  CHECK(view->plan->memory.optimizer > 0);
  CHECK(Trainer<Line<Sgd<>>>::options()->plan->memory.optimizer == 0);
}

// ---- two trainers of one recipe, and what cannot be

TEST_CASE("views of one recipe do not share their options") {
  const auto a = Trainer<Plain>::options(), b = Trainer<Plain>::options();
  set(a, "optimizer.lr", .5);
  CHECK(a->learning_rate(1) == .5);
  CHECK(b->learning_rate(1) == 1e-3);
  Trainer<Plain> first(a, {.threads = 1}), second({.threads = 1});
  CHECK(applied(first, rows(8, 1)).learning_rate == .5);
  CHECK(applied(second, rows(8, 1)).learning_rate == 1e-3);
}

TEST_CASE("options that contradict each other are refused") {
  auto made_with = [](std::string_view name, int value) {
    const auto view = Trainer<tiny_text>::options();
    set(view, name, value);
    TrainerCore trainer(view, {.threads = 1});
  };
  CHECK_NOTHROW(made_with("batch.global", 8));
  CHECK_THROWS_AS(made_with("batch.global", 10), ArgumentError);  // 2 ranks of micro-batches of 2
  CHECK_THROWS_AS(made_with("batch.global", 0), ArgumentError);
  CHECK_THROWS_AS(made_with("batch.global", -4), ArgumentError);
  CHECK_NOTHROW(made_with("parallel.ranks", 3));
  CHECK_THROWS_AS(made_with("parallel.ranks", 5), ArgumentError);
  CHECK_THROWS_AS(made_with("parallel.ranks", 0), ArgumentError);
  CHECK_THROWS_AS(Trainer<Plain>({.threads = -1}), ArgumentError);
}

TEST_CASE("batches that do not fit are refused, and nothing has changed") {
  Trainer<tiny_text> trainer({.seed = 1, .threads = 1});
  const NamedNumbers before = parameters_of(trainer);
  auto refuses = [&](HostBatch batch) {
    CHECK_THROWS_AS((void)trainer.step(batch), ArgumentError);
    CHECK(parameters_of(trainer) == before);
    CHECK(trainer.steps() == 0);
  };
  const HostBatch good = token_batch({8, 3, 5}, 256, 1);
  auto with = [&](auto change) {
    HostBatch batch = good;
    change(batch);
    return batch;
  };
  refuses(HostBatch());
  refuses(token_batch({8, 9}, 256, 1));                    // beyond the context
  refuses(token_batch({8, 0, 4}, 256, 1));                 // an empty sequence
  refuses(token_batch(std::vector<int>(13, 4), 256, 1));   // more than global
  refuses(with([](HostBatch& b) { b.ids[0][3] = 256; }));  // no such token
  refuses(with([](HostBatch& b) { b.ids[0][3] = -1; }));
  refuses(with([](HostBatch& b) { b.ids[1][3] = 256; }));
  refuses(with([](HostBatch& b) { b.ids.pop_back(); }));
  refuses(with([](HostBatch& b) { b.ids[1].pop_back(); }));
  refuses(with([](HostBatch& b) { b.ids[1].assign(16, -1); }));  // nothing to predict
  refuses(with([](HostBatch& b) { b.starts[0] = 2; }));          // rows of no sequence
  refuses(with([](HostBatch& b) { std::swap(b.starts[1], b.starts[2]); }));
  applied(trainer, good);
  CHECK(trainer.steps() == 1);
}

}  // namespace
}  // namespace sinter::detail::testing
