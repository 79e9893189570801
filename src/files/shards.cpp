// SPDX-License-Identifier: Apache-2.0
#include "sinter/files/shards.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "sinter/error.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail {
namespace {

using Tensors = std::span<const TensorView>;

/// The tensors of each file.
std::vector<Tensors> split(Tensors tensors, std::uint64_t max_bytes) {
  std::vector<Tensors> shards;
  std::size_t begin = 0;
  std::uint64_t bytes = 0;
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    if (k > begin && bytes + tensors[k].bytes > max_bytes) {
      shards.push_back(tensors.subspan(begin, k - begin));
      begin = k;
      bytes = 0;
    }
    bytes += tensors[k].bytes;
  }
  shards.push_back(tensors.subspan(begin));
  return shards;
}

}  // namespace

void write_shards(const std::filesystem::path& folder, Tensors tensors, std::uint64_t max_bytes) {
  if (max_bytes == 0) throw ArgumentError("write_shards: a file of 0 bytes holds no tensor.");
  const std::vector<Tensors> shards = split(tensors, max_bytes);
  if (shards.size() == 1) return write_safetensors(folder / "model.safetensors", tensors);
  std::uint64_t bytes = 0;
  nlohmann::ordered_json places = nlohmann::ordered_json::object();
  for (std::size_t k = 0; k < shards.size(); ++k) {
    const std::string name = fmt::format("model-{:05}-of-{:05}.safetensors", k + 1, shards.size());
    write_safetensors(folder / name, shards[k]);
    for (const TensorView& tensor : shards[k]) {
      places[tensor.name] = name;
      bytes += tensor.bytes;
    }
  }
  const nlohmann::ordered_json index{{"metadata", {{"total_size", bytes}}}, {"weight_map", places}};
  write_file_atomically(folder / "model.safetensors.index.json", index.dump(2) + "\n");
}

}  // namespace sinter::detail
