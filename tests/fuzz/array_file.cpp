// SPDX-License-Identifier: Apache-2.0
// Files of arrays. An input that begins with 'n' is a .npy file of version 1, its header up to the
// first line's end, its numbers behind; one with 'i' is an IDX file without its two zeros; any other
// is a file as it is.
#include "data/array_file.hpp"

#include "fuzz/support.hpp"

using namespace sinter;
using namespace sinter::detail;

namespace {

std::string file_of(const std::string& input) {
  if (input.starts_with('i')) return std::string(2, '\0') + input.substr(1);
  if (!input.starts_with('n')) return input;
  const std::size_t end = std::min(input.find('\n'), input.size() - 1);
  const std::string header = input.substr(1, end);
  const char length[]{char(header.size() & 255), char(header.size() >> 8)};
  return "\x93NUMPY\1" + std::string(1, '\0') + std::string(length, 2) + header +
         input.substr(end + 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::TemporaryFolder folder;
  const std::string file = file_of(fuzz::text_of(data, size));
  try {
    ArrayFile array(fuzz::put(folder / "file", file).string());
    std::uint64_t numbers = 0;
    array.read([&](std::span<const double> some) { numbers += some.size(); });
    fuzz::ensure(numbers == array.rows() * array.width(), "all numbers are read");
    fuzz::ensure(numbers * std::uint64_t(array.element().bytes) < (1 << 22),
                 "no more than there are");
  } catch (const FileError&) {
  }
  return 0;
}
