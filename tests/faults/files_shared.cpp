// SPDX-License-Identifier: Apache-2.0
// A file that several write: whatever bytes each has, wherever they begin, and whichever call fails.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>
#include <random>

#include "faults/struck_writes.hpp"
#include "files/shared_file.hpp"

namespace sinter::detail::testing::files_shared_tests {

const std::string& content = struck_content;

void write_part(SharedFile& file, std::size_t from, std::size_t to) {
  file.write(from, content.data() + from, to - from);
}

/// Writes it as one of two, in pieces that fit no buffer.
void strike_all(Fault fault, int error, const std::function<void(bool)>& check) {
  constexpr std::size_t middle = 1'000'001;
  const auto prepare = [](const fs::path& path) {
    fs::remove(path);
    SharedFile other = SharedFile::made(path, content.size());
    write_part(other, 0, middle);
    other.finish();
  };
  const auto write = [](const fs::path& path) {
    SharedFile file = SharedFile::opened(path);
    for (std::size_t k = middle; k < content.size(); k += 300'007)
      write_part(file, k, std::min(k + 300'007, content.size()));
    file.finish();
  };
  testing::strike_all(fault, error, prepare, write, check);
}

TEST_CASE("writers leave each other's bytes alone, also those of one block") {
  std::mt19937 random(3);
  TemporaryFolder folder;
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    const fs::path path = folder / std::to_string(round);
    std::vector<SharedFile> writers;
    writers.push_back(SharedFile::made(path, content.size()));
    CHECK(fs::file_size(path) == content.size());
    for (int k = 1; k < 4; ++k) writers.push_back(SharedFile::opened(path));
    const std::size_t most = round % 2 ? 900'000 : 20'000;
    for (std::size_t at = 0; at < content.size();) {
      const std::size_t end = std::min(at + 1 + random() % most, content.size());
      write_part(writers[random() % 4], at, end);
      at = end;
    }
    for (SharedFile& writer : writers) writer.finish();
    CHECK((get(path) == content));
  }
}

TEST_CASE("a shared file is whole when a write is partial, interrupted or refused") {
  strike_all(Fault::half, 0, [](bool failed) { CHECK(!failed); });
  strike_all(Fault::error, EINTR, [](bool failed) { CHECK(!failed); });
  TemporaryFolder folder;
  int refused = 0;
  strike_all(Fault::error, EINVAL, [&](bool failed) { refused += !failed; });
  put(folder / "file", "");
  const bool direct = ::open((folder / "file").c_str(), O_WRONLY | O_DIRECT) >= 0;
  if (!direct) MESSAGE("the file system of ", folder.path().string(), " has no O_DIRECT");
  CHECK(refused == (direct ? 2 : 0));  // of the large writes, each goes the other way
}

TEST_CASE("a write or sync of a shared file that fails is an error") {
  int calls_of_it = 0;
  for (int error : {ENOSPC, EIO}) {
    int failures = 0, all = 0;
    strike_all(Fault::error, error, [&](bool failed) {
      failures += failed;
      ++all;
    });
    CHECK(failures == all);
    CHECK(all >= 3);
    calls_of_it = all;
  }
  int failures = 0;
  strike_all(Fault::zero, 0, [&](bool failed) { failures += failed; });
  CHECK(failures == calls_of_it - 1);
}

TEST_CASE("room for a shared file is reserved when it is made, and only one process makes it") {
  TemporaryFolder folder;
  for (int error : {ENOSPC, EDQUOT}) {
    arm(Fault::error, 1, error);
    const std::string text = message_of([&] { SharedFile::made(folder / "file", 1 << 20); });
    disarm();
    CHECK(contains(text, "Free space there"));
    fs::remove(folder / "file");
  }
  arm(Fault::error, 1, EOPNOTSUPP);  // as NFS before 4.2
  SharedFile::made(folder / "file", 1 << 20);
  disarm();
  CHECK(fs::file_size(folder / "file") == 1 << 20);
  CHECK(contains(message_of([&] { SharedFile::made(folder / "file", 1); }), "Cannot create"));
  CHECK(contains(message_of([&] { SharedFile::opened(folder / "none"); }), "Cannot open"));
  fs::create_symlink("file", folder / "link");
  CHECK(contains(message_of([&] { SharedFile::opened(folder / "link"); }), "is a link"));
}

}  // namespace sinter::detail::testing::files_shared_tests
