// SPDX-License-Identifier: Apache-2.0
// The three compressions behind one interface.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "sinter/files/decompress.hpp"

namespace sinter::detail {

/// What is wrong with compressed data, in words that follow "it is damaged: ".
struct DamagedData {
  std::string what;
};

/// Decompresses what it is given piece by piece.
struct Decoder {
  virtual ~Decoder() = default;

  /// Takes bytes from the front of `in` and puts bytes to the front of `out`, as far as it comes,
  /// and moves both. `last`: nothing follows `in`. Returns whether the data are whole if they end
  /// with what it has taken. Data that go on may need nothing more than a call without progress.
  /// throws    DamagedData
  virtual bool decode(std::span<const unsigned char>& in, std::span<unsigned char>& out,
                      bool last) = 0;
};

/// The compression that data with these first bytes have. Six are enough.
Compression compression_of(std::span<const unsigned char> first);
/// "gzip", "xz", "zstd"; "" for none.
std::string_view name_of(Compression compression);
/// A decoder for a compression.
/// requires  it is not none
std::unique_ptr<Decoder> decoder_of(Compression compression);

}  // namespace sinter::detail
