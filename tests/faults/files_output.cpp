// SPDX-License-Identifier: Apache-2.0
// A file of several buffers, which goes to the disk past the page cache where it can: every write of
// it fails, takes only a part, or is refused because of the way it goes.
#include <doctest/doctest.h>

#include "faults/struck_writes.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail::testing::files_output_tests {

const std::string& content = struck_content;

/// Writes it in pieces that fit no buffer.
void strike_all(Fault fault, int error, const std::function<void(bool)>& check) {
  const auto write = [](const fs::path& path) {
    OutputFile out(path);
    for (std::size_t k = 0; k < content.size(); k += 300'007)
      out.write(std::string_view(content).substr(k, 300'007));
    out.finish();
    CHECK(out.bytes() == content.size());
    CHECK(out.hash() == hash_of(content));
  };
  testing::strike_all(fault, error, [](const fs::path&) {}, write, check);
}

TEST_CASE("a large file is whole when a write takes a part, is interrupted or refuses its way") {
  strike_all(Fault::half, 0, [](bool failed) { CHECK(!failed); });
  strike_all(Fault::error, EINTR, [](bool failed) { CHECK(!failed); });
  TemporaryFolder folder;
  const fs::path path = folder / "file";
  put(path, "");
  const bool direct = ::open(path.c_str(), O_WRONLY | O_DIRECT) >= 0;
  if (!direct) MESSAGE("the file system of ", path.string(), " has no O_DIRECT");
  int at = 0;  // two whole buffers, what is left, fsync
  strike_all(Fault::error, EINVAL, [&](bool failed) { CHECK(failed == (++at > 2 || !direct)); });
  CHECK(at == 4);
}

TEST_CASE("a large file whose write or sync fails is an error") {
  for (int error : {ENOSPC, EIO}) {
    int failures = 0;
    strike_all(Fault::error, error, [&](bool failed) { failures += failed; });
    CHECK(failures == 4);
  }
  int failures = 0;
  strike_all(Fault::zero, 0, [&](bool failed) { failures += failed; });
  CHECK(failures == 3);
}

}  // namespace sinter::detail::testing::files_output_tests
