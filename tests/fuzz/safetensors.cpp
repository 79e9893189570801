// SPDX-License-Identifier: Apache-2.0
// The header of a safetensors file. An input that begins with '{' is its JSON, any other the file.
#include "sinter/files/safetensors.hpp"

#include <cstring>
#include <vector>

#include "fuzz/support.hpp"

using namespace sinter;
using namespace sinter::detail;

namespace {

constexpr std::uint64_t data_bytes = 24;  // as the seeds have it

void check(const SafetensorsFile& file) {
  for (const TensorInfo& tensor : file.tensors()) {
    fuzz::ensure(tensor.begin <= tensor.end, "a tensor ends after it begins");
    fuzz::ensure(file.find(tensor.name) != nullptr, "a tensor is found by its name");
    std::vector<char> bytes(tensor.end - tensor.begin);
    file.read(tensor, bytes.data(), tensor.dtype);
    if (!convertible(tensor, Dtype::f64)) continue;
    std::vector<double> values(tensor.elements());
    file.read(tensor, values.data(), Dtype::f64);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::TemporaryFolder folder;
  std::string content = fuzz::text_of(data, size);
  if (content.starts_with('{')) {
    const std::uint64_t length = size;
    content.insert(0, sizeof length, '\0');
    std::memcpy(content.data(), &length, sizeof length);
    content.append(data_bytes, 'x');
  }
  try {
    check(SafetensorsFile(fuzz::put(folder / "model.safetensors", content)));
  } catch (const FileError&) {
  }
  return 0;
}
