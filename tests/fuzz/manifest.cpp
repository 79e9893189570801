// SPDX-License-Identifier: Apache-2.0
// The manifest of a checkpoint: the input is what follows its checksum, which is made to fit.
#include "fuzz/support.hpp"
#include "sinter/files/checkpoint.hpp"

using namespace sinter;
using namespace sinter::detail;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::TemporaryFolder folder;
  static const bool has_file = !fuzz::put(folder / "weights", "abc").empty();
  const std::string rest = fuzz::text_of(data, size);
  fuzz::put(folder / "manifest.json", "{\"checksum\":\"" + hash_of(rest) + rest);
  try {
    const CheckpointReader checkpoint(folder.path());
    fuzz::ensure(!checkpoint.info().empty(), "a checkpoint that is read has its caller's JSON");
    if (checkpoint.has("weights")) fuzz::ensure(has_file, "a listed file is there");
  } catch (const FileError&) {
  }
  return 0;
}
