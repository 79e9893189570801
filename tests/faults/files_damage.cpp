// SPDX-License-Identifier: Apache-2.0
// Every truncation and every flipped bit: an error or the same content, never a crash.
#include <doctest/doctest.h>

#include <vector>

#include "sinter/files/checkpoint.hpp"
#include "sinter/files/load.hpp"
#include "unit/files/support.hpp"

using namespace sinter;
using namespace sinter::detail;
using namespace sinter::detail::testing;

namespace {

const std::vector<float> weight{1, 2, 3, 4, 5, 6}, bias{7, 8, 9};

void write_model(const fs::path& path) {
  std::vector<TensorView> tensors{{"h.0.weight", Dtype::f32, {2, 3}, weight.data(), 24},
                                  {"h.0.bias", Dtype::f32, {3}, bias.data(), 12}};
  write_safetensors(path, tensors);
}

enum class Outcome { refused, same, different };

/// Loads the model strictly. A refusal must leave the destinations alone.
Outcome load_model(const fs::path& path) {
  std::vector<float> w(6, -1), b(3, -1);
  std::vector<Expected> expected{{"h.0.weight", {2, 3}, w.data(), Dtype::f32},
                                 {"h.0.bias", {3}, b.data(), Dtype::f32}};
  try {
    load_tensors(path, expected);
  } catch (const FileError& error) {
    CHECK(contains(error.what(), path.string()));
    CHECK(w == std::vector<float>(6, -1));
    CHECK(b == std::vector<float>(3, -1));
    return Outcome::refused;
  }
  return w == weight && b == bias ? Outcome::same : Outcome::different;
}

}  // namespace

TEST_CASE("a safetensors file cut at any byte is refused") {
  TemporaryFolder folder;
  write_model(folder / "m");
  std::string whole = get(folder / "m");
  CHECK(load_model(folder / "m") == Outcome::same);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    put(folder / "cut", whole.substr(0, size));
    CHECK(load_model(folder / "cut") == Outcome::refused);
  }
  put(folder / "longer", whole + '\0');
  CHECK(load_model(folder / "longer") == Outcome::refused);
}

TEST_CASE("a safetensors file with any bit flipped: the header's are found, the data's are data") {
  TemporaryFolder folder;
  write_model(folder / "m");
  std::string whole = get(folder / "m");
  std::size_t data = whole.size() - 36;
  int refused = 0, different = 0;
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      CAPTURE(at);
      CAPTURE(bit);
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      put(folder / "flipped", flipped);
      Outcome outcome = load_model(folder / "flipped");
      CHECK((outcome == Outcome::different) == (at >= data));
      refused += outcome == Outcome::refused;
      different += outcome == Outcome::different;
    }
  // What is not refused in the header lies in the metadata's text.
  CHECK(different == 36 * 8);
  CHECK(refused > static_cast<int>(data) * 6);
}

TEST_CASE("a checkpoint with any bit flipped or any file cut anywhere is refused") {
  TemporaryFolder folder;
  fs::path checkpoint = folder / "c";
  {
    const std::vector<TensorView> tensors{{"h.0.weight", Dtype::f32, {2, 3}, weight.data(), 24}};
    CheckpointWriter writer(checkpoint);
    writer.add_file("weights",
                    [](OutputFile& out) { out.write(weight.data(), weight.size() * 4); });
    writer.add_tensors("model.safetensors", tensors);
    writer.add_file("empty", "");
    writer.commit(3, R"({"sampler":{"position":12},"lr":1e-3})");
  }
  CHECK(CheckpointReader(checkpoint).step() == 3);
  for (const char* name : {"manifest.json", "weights", "model.safetensors"}) {
    std::string whole = get(checkpoint / name);
    for (std::size_t at = 0; at < whole.size(); ++at) {
      CAPTURE(name);
      CAPTURE(at);
      put(checkpoint / name, whole.substr(0, at));
      CHECK_THROWS_AS(CheckpointReader{checkpoint}, FileError);
      for (int bit = 0; bit < 8; ++bit) {
        std::string flipped = whole;
        flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
        put(checkpoint / name, flipped);
        CHECK_THROWS_AS(CheckpointReader{checkpoint}, FileError);
      }
    }
    put(checkpoint / name, whole + " ");
    CHECK_THROWS_AS(CheckpointReader{checkpoint}, FileError);
    put(checkpoint / name, whole);
    CHECK_NOTHROW(CheckpointReader{checkpoint});
  }
}

TEST_CASE("any header: random bytes and random edits of a good one") {
  std::uint64_t state = 1;
  auto random = [&state](std::uint64_t below) {  // splitmix64
    std::uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % below;
  };
  std::string good =
      R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
      R"("b":{"dtype":"BF16","shape":[2,3],"data_offsets":[8,20]}})";
  std::string_view pieces[]{"{",  "}", "[",   "]",    ",",    ":", "\"",   "0",
                            "-1", "9", "e99", "null", "\\u0", " ", "\xc3", "18446744073709551616"};
  REQUIRE(parse_safetensors_header(good, 20, "f").tensors.size() == 2);
  int accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = good;
    for (std::uint64_t edits = 1 + random(4); edits > 0; --edits) {
      std::size_t at = random(text.size());
      if (random(2))
        text.erase(at, 1 + random(8));
      else
        text.insert(at, pieces[random(std::size(pieces))]);
      if (text.empty()) break;
    }
    try {
      SafetensorsHeader header = parse_safetensors_header(text, 20, "f");
      std::uint64_t bytes = 0;
      for (const TensorInfo& tensor : header.tensors) bytes += tensor.end - tensor.begin;
      CHECK(bytes == 20);
      ++accepted;
    } catch (const FileError&) {
    }
  }
  CHECK(accepted > 0);
  CHECK(accepted < 10'000);
}
