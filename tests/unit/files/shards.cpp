// SPDX-License-Identifier: Apache-2.0
#include "sinter/files/shards.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "sinter/files/io.hpp"
#include "sinter/files/load.hpp"
#include "sinter/files/weights.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing::shards_tests {

/// Tensors of 4, 8, 20 and 4 bytes.
struct Model {
  std::vector<float> values{1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<TensorView> tensors{{"d", Dtype::f32, {1}, values.data(), 4},
                                  {"a", Dtype::f32, {2}, values.data() + 1, 8},
                                  {"b", Dtype::f32, {5}, values.data() + 3, 20},
                                  {"c", Dtype::f32, {1}, values.data() + 8, 4}};
};

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

/// Writes a model, reads it by its index, and gives the names of its files.
std::vector<std::string> written(const fs::path& folder, std::uint64_t max_bytes) {
  fs::create_directory(folder);
  const Model model;
  write_shards(folder, model.tensors, max_bytes);
  put(folder / "config.json", "{}");  // as a folder of Hugging Face's has
  std::vector<float> read(9);
  std::vector<Expected> expected{{"d", {1}, read.data(), Dtype::f32},
                                 {"a", {2}, read.data() + 1, Dtype::f32},
                                 {"b", {5}, read.data() + 3, Dtype::f32},
                                 {"c", {1}, read.data() + 8, Dtype::f32}};
  load_tensors(resolve_weights(folder).files, expected);
  CHECK(read == model.values);
  fs::remove(folder / "config.json");
  return names_in(folder);
}

std::string shard(int k, int of) {
  return "model-0000" + std::to_string(k) + "-of-0000" + std::to_string(of) + ".safetensors";
}

TEST_CASE("tensors that fit are one file, and no index") {
  TemporaryFolder folder;
  CHECK(written(folder / "exactly", 36) == std::vector<std::string>{"model.safetensors"});
  CHECK(written(folder / "default", default_shard_bytes) ==
        std::vector<std::string>{"model.safetensors"});
}

TEST_CASE("tensors that do not fit are shards in order, with an index that says where each is") {
  TemporaryFolder folder;
  const std::string index = "model.safetensors.index.json";
  CHECK(written(folder / "two", 35) == std::vector<std::string>{shard(1, 2), shard(2, 2), index});
  const auto json = nlohmann::json::parse(read_file(folder / "two" / index, 1 << 20));
  CHECK(json["metadata"]["total_size"] == 36);
  CHECK(json["weight_map"] ==
        nlohmann::json{
            {"d", shard(1, 2)}, {"a", shard(1, 2)}, {"b", shard(1, 2)}, {"c", shard(2, 2)}});
  CHECK(written(folder / "three", 12) ==
        std::vector<std::string>{shard(1, 3), shard(2, 3), shard(3, 3), index});
  // b is larger than max_bytes, and has a file of its own.
  CHECK(SafetensorsFile(folder / "three" / shard(2, 3)).tensors().size() == 1);
  CHECK(written(folder / "four", 1).size() == 5);
  // One tensor is one file without an index, however large it is.
  const Model model;
  fs::create_directory(folder / "one");
  write_shards(folder / "one", std::span(model.tensors).subspan(2, 1), 1);
  CHECK(names_in(folder / "one") == std::vector<std::string>{"model.safetensors"});
  CHECK_THROWS_AS(write_shards(folder / "four", model.tensors, 0), ArgumentError);
}

}  // namespace sinter::detail::testing::shards_tests
