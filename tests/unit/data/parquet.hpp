// SPDX-License-Identifier: Apache-2.0
// What the tests of Parquet files share.
#pragma once
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "data/examples/example_formats.hpp"
#include "support/python.hpp"
#include "unit/data/support.hpp"

namespace sinter::detail::testing::parquet_tests {

/// What a policy reads of a file: its ids and what people are told.
struct Told {
  std::vector<std::int32_t> ids;
  std::string text, notes;
  std::vector<float> values{};
};

template <class Policy>
Told read(const fs::path& path) {
  OpenedData data = opened<Policy>(path);
  Told told{{}, data.text, data.notes};
  HostBatch batch;
  while (data.evaluation->next(batch)) {
    for (const auto& ids : batch.ids) told.ids.insert(told.ids.end(), ids.begin(), ids.end());
    for (const auto& of : batch.values) told.values.insert(told.values.end(), of.begin(), of.end());
  }
  return told;
}

/// The error of a file; empty if it is read.
template <class Policy>
std::string refusal(const fs::path& path) {
  try {
    read<Policy>(path);
  } catch (const FileError& error) {
    return error.what();
  }
  return "";
}

template <class Policy>
void refuses(const fs::path& path, const std::string& says) {
  check_refused([&] { read<Policy>(path); }, says);
}

/// How many of 1,000 files are refused, each with some bytes of `whole` changed at random.
template <class Policy>
int refused_of_damaged(const std::string& whole, const fs::path& path) {
  std::uint32_t random = 1;
  auto next = [&] { return (random = random * 1664525 + 1013904223) >> 8; };
  int refused = 0;
  for (int file = 0; file < 1000; ++file) {
    std::string damaged = whole;
    for (std::uint32_t k = next() % 8 + 1; k > 0; --k)
      damaged[4 + next() % (whole.size() - 4)] = char(next());
    put(path, damaged);
    refused += !refusal<Policy>(path).empty();
  }
  return refused;
}

/// A folder with all the files, where this build and machine can have them.
struct Files {
  TemporaryFolder folder;
  bool there = false;

  Files() {
    if (!reads_parquet()) {
      MESSAGE("skipped: this build has no Arrow (-DSINTER_ARROW)");
    } else if (const auto python = python_with("pyarrow")) {
      const std::string write = "' '" SINTER_SOURCE_DIR "/tests/support/write_parquet.py' '";
      there = std::system(("'" + *python + write + (folder / "").string() + "'").c_str()) == 0;
      REQUIRE(there);
    }
  }
};

}  // namespace sinter::detail::testing::parquet_tests
