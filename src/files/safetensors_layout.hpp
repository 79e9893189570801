// SPDX-License-Identifier: Apache-2.0
// The layout of a safetensors file.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sinter/files/safetensors.hpp"

namespace sinter::detail {

/// Maximum bytes of a header, as the safetensors library has it.
inline constexpr std::uint64_t largest_header = 100'000'000;

/// A file of some tensors, of which only names, types, shapes and sizes count.
struct SafetensorsLayout {
  /// What stands before the tensors: the length of the header, and the header.
  std::string head;
  /// The numbers of the tensors in the order in which they lie in the file.
  std::vector<std::size_t> order;
  /// The beginning of each tensor in the file, by its number.
  std::vector<std::uint64_t> places;
  std::uint64_t bytes = 0;  ///< of the file
};

/// Lays tensors out as write_safetensors() does; `file` is its name in errors.
/// throws    ArgumentError as write_safetensors() does
SafetensorsLayout safetensors_layout(std::span<const TensorView> tensors, const Metadata& metadata,
                                     const std::string& file);

/// The metadata that write_safetensors() writes by default.
inline const Metadata usual_metadata{{"format", "pt"}};

}  // namespace sinter::detail
