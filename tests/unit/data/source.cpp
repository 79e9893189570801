// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/source.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "unit/data/support.hpp"

namespace sinter::detail::testing::source_tests {

struct Endless {
  void next(HostBatch& batch) { batch.clear(); }
  SamplerState state() const { return {}; }
  void restore(const SamplerState&) {}
};

struct Finite {
  int left = 2;
  bool next(HostBatch& batch) { return batch.clear(), left-- > 0; }
  SamplerState state() const { return {}; }
  void restore(const SamplerState&) {}
};

struct CountsItsBatches {
  int next(HostBatch&) { return 1; }
  SamplerState state() const { return {}; }
  void restore(const SamplerState&) {}
};

struct ForgetsWhereItStands {
  bool next(HostBatch&) { return true; }
};

static_assert(DataSource<Endless> && DataSource<Finite>);
static_assert(!DataSource<CountsItsBatches> && !DataSource<ForgetsWhereItStands>);

SamplerState example() {
  return {.order = "shuffled",
          .seed = 18446744073709551615u,
          .epoch = 3,
          .position = 17,
          .items = 3 * 1000 + 17,
          .context = 128,
          .data_size = 1000,
          .data_hash = 0xab};
}

TEST_CASE("host batch: clear keeps the inputs and their memory") {
  HostBatch batch;
  CHECK(batch.rows() == 0);
  CHECK(batch.sequences() == 0);
  batch.starts = {0, 2, 5};
  batch.ids = {{1, 2, 3, 4, 5}};
  batch.values = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}};
  CHECK(batch.rows() == 5);
  CHECK(batch.sequences() == 2);
  const auto* memory = batch.ids[0].data();
  batch.clear();
  CHECK(batch.rows() == 0);
  CHECK(batch.sequences() == 0);
  CHECK(batch.ids.size() == 1);
  CHECK(batch.values.size() == 1);
  batch.ids[0].resize(5);
  CHECK(batch.ids[0].data() == memory);
}

TEST_CASE("host batch: one that was moved from is empty") {
  HostBatch batch;
  batch.starts = {0, 2};
  HostBatch other = std::move(batch);
  CHECK(other.rows() == 2);
  CHECK(batch.rows() == 0);  // NOLINT: what is left must be usable
  CHECK(batch.sequences() == 0);
  batch.clear();
  CHECK(batch.starts == std::vector<std::int32_t>{0});
}

TEST_CASE("source: pull takes endless and finite sources") {
  HostBatch batch;
  Endless endless;
  Finite finite;
  for (int i = 0; i < 3; ++i) CHECK(pull(endless, batch));
  CHECK(pull(finite, batch));
  CHECK(pull(finite, batch));
  CHECK_FALSE(pull(finite, batch));
}

TEST_CASE("sampler state: fields are read back") {
  auto fields = example().to_fields();
  CHECK(fields.size() == 8);
  CHECK(fields.at("items") == "3017");
  CHECK(fields.at("seed") == "18446744073709551615");
  CHECK(fields.at("data_hash") == "00000000000000ab");
  CHECK(SamplerState::from_fields(fields) == example());
  fields.erase("items");  // as older files
  CHECK(SamplerState::from_fields(fields).items == 0);
  CHECK(!fields.contains("end"));
  SamplerState ending = example();
  ending.end = 1234;
  CHECK(SamplerState::from_fields(ending.to_fields()) == ending);
  CHECK(SamplerState::from_fields(fields).position == 17);
}

TEST_CASE("sampler state: one error lists every fault of the fields") {
  auto fields = example().to_fields();
  fields.erase("epoch");
  fields.erase("order");
  fields["seed"] = "-1";
  fields["position"] = "18446744073709551616";
  fields["data_hash"] = "0xab";
  fields["data_size"] = "";
  fields["colour"] = "blue";
  const auto text = refusal([&] { SamplerState::from_fields(fields); });
  for (const char* name : {"'epoch' is missing", "'order' is missing", "'seed' is '-1'",
                           "'position' is '18446744073709551616'", "'data_hash' is '0xab'",
                           "'data_size' is ''", "'colour' is not a field"})
    CHECK_MESSAGE(contains(text, name), text);
}

TEST_CASE("sampler state: other data, order or context are refused with both values") {
  const SamplerState own = example();
  SamplerState saved = own;
  auto refused = [&] { return refusal([&] { require_same_data(saved, own); }); };
  saved.seed = 1, saved.epoch = 0, saved.position = 2;
  require_same_data(saved, own);

  saved = own, saved.order = "sequential";
  CHECK(contains(refused(), "the order was sequential and is shuffled"));
  saved = own, saved.context = 64;
  CHECK(contains(refused(), "the context was 64 and is 128"));
  saved = own, saved.data_size = 999;
  CHECK(contains(refused(), "their size was 999 and is 1000"));
  saved = own, saved.data_hash = 0xcd;
  CHECK(contains(refused(), "was 00000000000000cd and is 00000000000000ab"));
}

}  // namespace sinter::detail::testing::source_tests
