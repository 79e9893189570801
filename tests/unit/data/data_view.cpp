// SPDX-License-Identifier: Apache-2.0
// What data policies offer to the verbs: sources without their type, units, the data of Bytes.
#include "sinter/data/data_view.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "sinter/data/bytes.hpp"
#include "sinter/data/windows.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/trainer/trainer.hpp"
#include "unit/data/support.hpp"

namespace sinter::detail::testing::data_view_tests {

/// Batches of one row that count down, to the last.
struct Countdown {
  std::uint64_t left;
  bool next(HostBatch& batch) {
    batch.clear();
    if (left == 0) return false;
    batch.ids = {{std::int32_t(left--)}};
    batch.starts = {0, 1};
    return true;
  }
  SamplerState state() const { return {.order = "down", .position = left}; }
  void restore(const SamplerState& saved) { left = saved.position; }
};

/// An endless source, whose next() has nothing to say.
struct Endless {
  void next(HostBatch& batch) { batch.starts = {0, 1}; }
  SamplerState state() const { return {}; }
  void restore(const SamplerState&) {}
};

std::string some_text(int bytes) {
  std::string text;
  for (int k = 0; k < bytes; ++k) text += char('a' + k * k % 23);
  return text;
}

/// The same batches from two sources; both end together or neither within `most`.
void require_same(auto a, auto b, int most) {
  HostBatch x, y;
  for (int k = 0; k < most; ++k) {
    const bool more = pull(a, x);
    REQUIRE(more == pull(b, y));
    REQUIRE(x.starts == y.starts);
    REQUIRE(x.ids == y.ids);
    REQUIRE(a.state() == b.state());
    if (!more) break;
  }
}

TEST_CASE("a source without its type gives, says and restores what the source does") {
  require_same(AnySource(Countdown{3}), Countdown{3}, 10);
  AnySource source(Countdown{5});
  HostBatch batch;
  CHECK(source.next(batch));
  const SamplerState saved = source.state();
  CHECK(saved.position == 4);
  while (source.next(batch)) {
  }
  CHECK(batch.rows() == 0);
  source.restore(saved);
  AnySource moved = std::move(source);
  CHECK(moved.next(batch));
  CHECK(batch.ids[0][0] == 4);
  CHECK(AnySource(Endless()).next(batch));
}

TEST_CASE("memory that a source reads lives as long as the source") {
  auto text = std::make_shared<int>(7);
  std::weak_ptr<int> seen = text;
  {
    AnySource source(Countdown{1}, std::move(text));
    AnySource moved(std::move(source));
    CHECK(!seen.expired());
  }
  CHECK(seen.expired());
}

TEST_CASE("units count, figures have keys") {
  CHECK(row_unit.count(1) == "1 row");
  CHECK(byte_unit.count(0) == "0 bytes");
  CHECK(token_unit.count(1234567) == "1,234,567 tokens");
  CHECK(!row_unit.headline);
  CHECK(byte_unit.headline.key() == "bits_per_byte");
  CHECK(byte_unit.headline.of(std::log(256)) == doctest::Approx(8));
  REQUIRE(token_unit.figures.size() == 1);
  CHECK(token_unit.figures[0].of(std::log(11)) == doctest::Approx(11));
}

TEST_CASE("Bytes opens windows of its context, and holds out the last bytes") {
  const std::string text = some_text(1000);
  const TemporaryFolder folder;
  const std::string file = put(folder / "text", text);
  const std::span<const unsigned char> bytes(reinterpret_cast<const unsigned char*>(text.data()),
                                             text.size());
  DataRequest request{.paths = {file}, .evaluation_sequences = 3};
  request.training = {.order = Order::shuffled, .held_out = .1, .seed = 5, .sequences = 4};
  OpenedData opened = Bytes<{.context = 8}>::open(request);
  CHECK(opened.text == "1,000 bytes in 1 file, the last 100 held out for validation");
  CHECK(opened.evaluation_size == 100);
  require_same(std::move(*opened.training), ShuffledWindows(bytes.first(900), {8, 4}, 5), 100);
  require_same(std::move(*opened.evaluation), EvaluationWindows(bytes.last(100), {8, 3}), 100);

  request.paths.push_back(file);
  request.training = {.order = Order::sequential, .sequences = 4, .shapes = [](std::uint64_t n) {
                        return BatchShape{n < 4 ? 2 : 4, 6};
                      }};
  opened = Bytes<{.context = 8}>::open(request);
  CHECK(opened.text == "2,000 bytes in 2 files");
  CHECK(!opened.evaluation);
  const std::string twice = text + text;
  const std::span<const unsigned char> both(reinterpret_cast<const unsigned char*>(twice.data()),
                                            twice.size());
  require_same(std::move(*opened.training),
               SequentialWindows(both, {8, 4}, request.training->shapes), 150);

  request.training.reset();
  opened = Bytes<{.context = 8}>::open(request);
  CHECK(!opened.training);
  CHECK(opened.evaluation_size == 2000);
  require_same(std::move(*opened.evaluation), EvaluationWindows(both, {8, 3}), 1000);
}

TEST_CASE("the tokenizer of bytes takes any byte there and back") {
  const Tokenizer tokenizer = Bytes<>::tokenizer();
  std::string all, back;
  for (int k = 0; k < 256; ++k) all += char(k);
  const std::vector<std::int32_t> tokens = tokenizer.encode(all);
  REQUIRE(tokens.size() == 256);
  for (int k = 0; k < 256; ++k) CHECK(tokens[std::size_t(k)] == k);
  for (std::int32_t token : tokens) back += tokenizer.decode(token);
  CHECK(back == all);
}

// ---- what a recipe's view has of its data policy

namespace {

struct FoldOptions {
  int fold = 1;
  SINTER_FIELDS((fold).at_least(0).adjustable())
};

struct Folds {
  using slot = slot::data;
  using Options = FoldOptions;
  static constexpr Options options{};
  static constexpr int context = 1, vocabulary = 0;
  static constexpr DataUnit unit{"image", "images"};

  static OpenedData open(const Options& options, const DataRequest&) {
    return {.text = "fold " + std::to_string(options.fold)};
  }
};
struct folded : Recipe<Mlp<>, Folds> {};
struct of_rows : Recipe<Mlp<>> {};

}  // namespace

TEST_CASE("a view has what the policy offers, with options as they are when it is asked") {
  const auto view = Trainer<folded>::options();
  CHECK(view->data.unit.many == "images");
  CHECK(!view->data.has_tokenizer);
  CHECK(view->open({}).text == "fold 1");
  for (const Option& option : view->options)
    if (option.dotted() == "data.fold") *std::get<int*>(option.value) = 3;
  CHECK(view->open({}).text == "fold 3");
  const DataFacts rows = Trainer<of_rows>::options()->data;
  CHECK(!rows.opens);
  CHECK(!rows.has_tokenizer);
  CHECK(rows.unit.one == "row");
}

}  // namespace sinter::detail::testing::data_view_tests
