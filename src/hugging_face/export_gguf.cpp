// SPDX-License-Identifier: Apache-2.0
#include "hugging_face/export_gguf.hpp"

#include "hugging_face/gguf_model.hpp"
#include "hugging_face/gguf_tokenizer.hpp"
#include "sinter/error.hpp"

namespace sinter::detail::hugging_face {

std::string export_gguf(const ExportParts& parts, const Origin::Json& config,
                        std::span<const TensorView> weights, Dtype dtype,
                        const std::filesystem::path& file) {
  GgufModel model = gguf_model(config, weights, dtype);
  if (parts.origin.tokenizer.empty() && !parts.bytes)
    throw ArgumentError(
        "--gguf: no tokenizer is known, and llama.cpp reads it from the file. Name the one that "
        "the model was trained with: --tokenizer PATH.");
  const auto vocabulary = config.at("vocab_size").get<std::int64_t>();
  GgufTokenizer tokenizer = parts.bytes
                                ? gguf_byte_tokenizer(vocabulary)
                                : gguf_tokenizer(parts.origin, vocabulary, parts.special_tokens);
  std::vector<GgufEntry>& entries = model.entries;
  entries.push_back({"general.name", file.stem().string()});
  entries.insert(entries.end(), std::make_move_iterator(tokenizer.entries.begin()),
                 std::make_move_iterator(tokenizer.entries.end()));
  write_gguf(file, entries, model.tensors);
  return model.notes + tokenizer.notes;
}

}  // namespace sinter::detail::hugging_face
