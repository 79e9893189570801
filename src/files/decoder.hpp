// SPDX-License-Identifier: Apache-2.0
// The three compressions behind one interface.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "sinter/files/decompress.hpp"

namespace sinter::detail {

/// A problem of compressed data, in words that follow "it is damaged: ".
struct DamagedData {
  std::string what;
};

/// Decompresses what it is given piece by piece.
struct Decoder {
  virtual ~Decoder() = default;

  /// Moves bytes from the front of `in`, decoded, to the front of `out`, as far as possible, and
  /// advances both. `last` is true if nothing follows `in`. Returns true if the data are whole if
  /// they end here. Data that continue may need nothing more than a call without progress.
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
