// SPDX-License-Identifier: Apache-2.0
// How Hugging Face's files hold an encoder-decoder.
#pragma once
#include <cstddef>

#include "sinter/model/hugging_face.hpp"
#include "sinter/model/seq2seq_options.hpp"

namespace sinter::detail::seq2seq {

/// The classes of models that transformers has for Seq2Seq.
enum class Family : std::uint8_t { none, bart, blenderbot_small, marian };

/// The class that these options choose; none if transformers has no such model.
constexpr Family family_of(const Seq2SeqOptions& o) {
  using enum EmbeddingNorm;
  if (o.position == Positions::sinusoidal)
    return o.encoder_norm == none && o.decoder_norm == none ? Family::marian : Family::none;
  if (o.encoder_norm != after_positions) return Family::none;
  if (o.position_offset == 2 && o.decoder_norm == after_positions) return Family::bart;
  if (o.position_offset == 0 && o.decoder_norm == before_positions) return Family::blenderbot_small;
  return Family::none;
}

/// The files of the class family_of(o). `master_bytes`: bytes of one master weight.
HuggingFace files_of(const Seq2SeqOptions& o, std::size_t master_bytes);

}  // namespace sinter::detail::seq2seq
