// SPDX-License-Identifier: Apache-2.0
// Warm-up of the batch's size and of the sequences' length: what each step sees is a function of
// the sequences before it, so a run that is interrupted in the ramp goes on as if it was not.
#include "sinter/batch/scaled_rate.hpp"
#include "sinter/curriculum/batch_warmup.hpp"
#include "sinter/curriculum/length_warmup.hpp"
#include "sinter/data/arrays.hpp"
#include "sinter/data/windows.hpp"
#include "sinter/error.hpp"
#include "sinter/files/run_folder.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/trainer/loop.hpp"
#include "support/recipes.hpp"
#include "support/text.hpp"
#include "support/trainers.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing {
namespace {

constexpr int context = 20, words = 31;
using Small = Gpt2<{.layers = 2,
                    .heads = 2,
                    .width = 16,
                    .vocabulary = words,
                    .positions = context,
                    .dropout = .1}>;
template <class... Policies>
using Net = Made<Small, UpTo<context, words>, AdamW<{.lr = 1e-3}>, Batch<{.global = 8, .micro = 2}>,
                 Policies...>;
using Growing = BatchWarmup<{.from = 2, .sequences = 30}>;
using Longer = LengthWarmup<{.from = 8, .sequences = 60, .multiple = 4}>;
using Both = Net<Growing, Longer>;

std::vector<std::int32_t> text() {
  std::vector<std::int32_t> tokens;
  for (unsigned char c : some_text(700)) tokens.push_back(c % words);
  return tokens;
}
const std::vector<std::int32_t> tokens = text();

template <class Source = ShuffledWindows>
auto windows_for(const RecipeView& recipe) {
  const WindowShape whole{context, recipe.global_batch()};
  if constexpr (std::is_same_v<Source, ShuffledWindows>) {
    return ShuffledWindows(tokens, whole, 4, recipe.batch_shapes());
  } else {
    return SequentialWindows(tokens, whole, recipe.batch_shapes());
  }
}

int* option(const std::shared_ptr<RecipeView>& view, const std::string& name) {
  for (Option& o : view->options)
    if (o.dotted() == name) return std::get<int*>(o.value);
  FAIL("no option " << name);
  return nullptr;
}

std::string refusal(const std::shared_ptr<RecipeView>& view) {
  try {
    TrainerCore trainer(view, {.threads = 1});
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("the batch grows in equal steps over so many sequences") {
  const BatchShapes shapes = view_of<Net<Growing>>()->batch_shapes();
  // Three increments of 2 over 30 sequences: one every 10.
  for (int before : {0, 9}) CHECK(shapes(std::uint64_t(before)) == BatchShape{2, context});
  for (int before : {10, 19}) CHECK(shapes(std::uint64_t(before)) == BatchShape{4, context});
  for (int before : {20, 29}) CHECK(shapes(std::uint64_t(before)) == BatchShape{6, context});
  for (int before : {30, 1 << 30}) CHECK(shapes(std::uint64_t(before)) == BatchShape{8, context});
  using ByFour = Net<BatchWarmup<{.from = 4, .increment = 4, .sequences = 30}>>;
  CHECK(view_of<ByFour>()->batch_shapes()(29).sequences == 4);
  CHECK(view_of<ByFour>()->batch_shapes()(30).sequences == 8);
  using Flat = Net<BatchWarmup<{.from = 8, .sequences = 30}>>;
  CHECK(view_of<Flat>()->batch_shapes()(3).sequences == 8);
  CHECK(!view_of<Net<>>()->batch_shapes());  // costs nothing where it is not asked for
}

TEST_CASE("sequences grow in multiples, up to the context") {
  const BatchShapes shapes = view_of<Net<Longer>>()->batch_shapes();
  for (std::uint64_t before = 0; before < 100; ++before) {
    const int exact = before < 60 ? 8 + 12 * int(before) / 60 : context;
    CHECK(shapes(before) == BatchShape{8, before < 60 ? exact / 4 * 4 : context});
  }
  CHECK(view_of<Both>()->batch_shapes()(20) == BatchShape{6, 12});
}

TEST_CASE("a source gives the shapes, and each window's first tokens") {
  const auto recipe = view_of<Both>();
  auto check = [&](auto source, auto whole) {
    HostBatch batch, want;
    std::uint64_t items = 0;
    for (int b = 0; b < 20; ++b) {
      const BatchShape shape = recipe->batch_shapes()(items);
      source.next(batch);
      REQUIRE(batch.sequences() == shape.sequences);
      for (int s = 0; s < shape.sequences; ++s) {
        CHECK(batch.starts[std::size_t(s) + 1] == (s + 1) * shape.length);
        whole.next(want);
        for (int e : {0, 1})
          for (int k = 0; k < shape.length; ++k)
            CHECK(batch.ids[std::size_t(e)][std::size_t(s * shape.length + k)] ==
                  want.ids[std::size_t(e)][std::size_t(k)]);
      }
      items += std::uint64_t(shape.sequences);
      CHECK(source.state().items == items);
    }
  };
  check(windows_for(*recipe), ShuffledWindows(tokens, {context, 1}, 4));
  // (The sequential walk drops what does not fill a batch at an epoch's end: compare before it.)
  SequentialWindows walk = windows_for<SequentialWindows>(*recipe), ones(tokens, {context, 1});
  HostBatch batch, one;
  for (int b = 0; b < 8; ++b) {
    walk.next(batch);
    for (int s = 0; s < batch.sequences(); ++s) {
      ones.next(one);
      CHECK(batch.ids[0][std::size_t(batch.starts[std::size_t(s)])] == one.ids[0][0]);
    }
  }
  CHECK(walk.state().epoch == 0);
  for (int b = 0; b < 8; ++b) walk.next(batch);
  CHECK(walk.state().epoch > 0);
}

TEST_CASE("rows of arrays grow, too") {
  std::vector<float> in(50), out(50);
  for (int k = 0; k < 50; ++k) out[std::size_t(k)] = 2 * (in[std::size_t(k)] = float(k));
  using R = Made<Mlp<{.in = 1, .hidden = 4, .out = 1}>, Batch<{.global = 8, .micro = 2}>, Growing>;
  Trainer<R> trainer({.threads = 1});
  ArrayData data(in, 1, out, 1, {.sequences = 8, .shapes = trainer.recipe().batch_shapes()});
  Loop loop(trainer, std::move(data));
  std::vector<std::int64_t> rows;
  loop.run({.steps = 12, .on_step = [&](const StepRecord& r) { rows.push_back(r.tokens); }});
  CHECK(rows == std::vector<std::int64_t>{2, 4, 6, 8, 10, 14, 18, 22, 28, 34, 42, 50});
}

struct Row {
  double loss, rate;
  std::int64_t tokens;
  bool operator==(const Row&) const = default;
};
template <class R, class Source>
std::vector<Row> train(TrainerCore& trainer, int steps, RunFolder* folder = nullptr) {
  std::vector<Row> rows;
  Loop loop(trainer, windows_for<Source>(trainer.recipe()), {}, folder);
  loop.run({.steps = steps, .save_every = 5, .on_step = [&](const StepRecord& r) {
              rows.push_back({r.loss, r.learning_rate, r.tokens});
            }});
  return rows;
}

template <class R, class Source>
void resumes_in_the_ramp(int stop) {
  CAPTURE(stop);
  TemporaryFolder temporary;
  Trainer<R> whole({.seed = 2, .threads = 1}), first({.seed = 2, .threads = 1}),
      second({.seed = 7, .threads = 1});
  const std::vector<Row> want = train<R, Source>(whole, 24);
  std::vector<Row> got;
  {
    RunFolder fresh(temporary / "run", RunFolder::Mode::fresh);
    got = train<R, Source>(first, stop, &fresh);
  }
  RunFolder again(temporary / "run", RunFolder::Mode::resume);
  for (const Row& row : train<R, Source>(second, 24, &again)) got.push_back(row);
  CHECK(got == want);
  CHECK(parameters_of(second) == parameters_of(whole));
  // Tokens are those of the shapes.
  std::int64_t tokens_so_far = 0;
  std::uint64_t items = 0;
  for (const Row& row : want) {
    const BatchShape shape = whole.recipe().batch_shapes()(items);
    tokens_so_far += shape.sequences * shape.length;
    items += std::uint64_t(shape.sequences);
    CHECK(row.tokens == tokens_so_far);
  }
}

TEST_CASE("a run that is interrupted in the ramp is the one that was not") {
  for (int stop : {1, 4, 9, 13}) {
    resumes_in_the_ramp<Net<Growing>, ShuffledWindows>(stop);
    resumes_in_the_ramp<Net<Longer>, ShuffledWindows>(stop);
    resumes_in_the_ramp<Both, ShuffledWindows>(stop);
    resumes_in_the_ramp<Both, SequentialWindows>(stop);
  }
}

TEST_CASE("the loss is the mean over the batch at hand, and the step that of a batch of its size") {
  Trainer<Net<Growing>> ramp({.seed = 2, .threads = 1});
  Trainer<Made<Small, UpTo<context, words>, AdamW<{.lr = 1e-3}>, Batch<{.global = 2, .micro = 2}>>>
      small({.seed = 2, .threads = 1});
  HostBatch batch;
  ShuffledWindows source(tokens, {context, 2}, 4);
  source.next(batch);
  const Applied a = applied(ramp, batch), b = applied(small, batch);
  CHECK(a.loss.count == 2 * context);
  CHECK(a.loss.sum == b.loss.sum);
  CHECK(parameters_of(ramp) == parameters_of(small));
}

TEST_CASE("a scaled rate is of the batch at hand") {
  using R = Net<Growing, ScaledRate<{.base = 4}>>;
  Trainer<R> trainer({.threads = 1});
  const std::vector<Row> rows = train<R, ShuffledWindows>(trainer, 12);
  CHECK(rows.front().rate == doctest::Approx(.5e-3));  // 2 sequences
  CHECK(rows[5].rate == doctest::Approx(1e-3));        // 4
  CHECK(rows.back().rate == doctest::Approx(2e-3));    // 8
  CHECK(view_of<R>()->learning_rate(1) == doctest::Approx(2e-3));
  bool said = false;
  for (const auto& note : view_of<R>()->notes())
    said |= note ==
            "the batch grows from 2 sequences by 2 up to 8, over the first 30 sequences; the "
            "learning rate is scaled by the batch at hand";
  CHECK(said);
  const auto longer = view_of<Net<Longer>>();
  REQUIRE(longer->notes().size() == 1);
  CHECK(longer->notes()[0] ==
        "sequences are cut to 8 rows, growing in steps of 4 to 20 over the first 60 sequences");
}

TEST_CASE("a source that does not follow the shapes is refused") {
  Trainer<Both> trainer({.threads = 1});
  auto refused = [&](auto source) -> std::string {
    Loop loop(trainer, std::move(source));
    try {
      loop.run({.steps = 3});
    } catch (const ArgumentError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refused(ShuffledWindows(tokens, {context, 8}, 4)) ==
        "The data source gave 8 sequences of up to 20 rows, but the recipe's next batch is of 2 "
        "sequences of up to 8. Give the source the trainer's recipe().batch_shapes().");
  CHECK(refused(ShuffledWindows(tokens, {context, 2}, 4)).find("2 sequences of up to 20 rows") !=
        std::string::npos);
  struct Uncounted {
    ShuffledWindows source{tokens, {8, 2}, 4};
    void next(HostBatch& batch) { source.next(batch); }
    SamplerState state() const {
      SamplerState state = source.state();
      state.items = 0;
      return state;
    }
    void restore(const SamplerState& s) { source.restore(s); }
  };
  CHECK(refused(Uncounted{}).find("does not count") != std::string::npos);
  CHECK(trainer.steps() == 0);
}

TEST_CASE("options that contradict are refused when the trainer is made") {
  CHECK(refusal(view_of<Net<Growing>>()) == "");
  for (auto [name, value] :
       std::initializer_list<std::pair<const char*, int>>{{"batch_warmup.from", 3},
                                                          {"batch_warmup.from", 10},
                                                          {"batch_warmup.increment", 3},
                                                          {"batch_warmup.increment", 4}}) {
    const auto view = view_of<Net<Growing>>();
    *option(view, name) = value;
    CAPTURE(name);
    CAPTURE(value);
    CHECK(refusal(view).find("multiples of 2 (micro × ranks)") != std::string::npos);
  }
  const auto none = view_of<Net<Growing>>();
  *option(none, "batch_warmup.increment") = -2;
  CHECK(refusal(none).find("batch_warmup.increment is -2, but") != std::string::npos);
  const auto ranked = view_of<Net<Growing, Ddp<>>>();
  *option(ranked, "parallel.ranks") = 2;
  CHECK(refusal(ranked).find("multiples of 4 (micro × ranks)") != std::string::npos);
  *option(ranked, "batch_warmup.from") = 4;
  CHECK(refusal(ranked) == "");
  const auto longer = view_of<Net<Longer>>();
  *option(longer, "length_warmup.from") = 24;
  CHECK(refusal(longer).find("at most the context") != std::string::npos);
  *option(longer, "length_warmup.from") = 10;
  CHECK(refusal(longer).find("cannot grow from 10 to 20 rows in steps of 4") != std::string::npos);
}

}  // namespace
}  // namespace sinter::detail::testing
