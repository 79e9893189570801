// SPDX-License-Identifier: Apache-2.0
// Records of conversations, as JSON.
#pragma once
#include <string_view>
#include <vector>

#include "data/examples/example_formats.hpp"
#include "data/examples/json_records.hpp"
#include "sinter/data/example_files.hpp"

namespace sinter::detail {

/// Says which special tokens of a format the tokenizer lacks; a sentence per line.
std::string missing_marks(const ChatWriter& writer, const Tokenizer& tokenizer);

/// The messages of a record in one of the forms that the policy Chat names, each with a text.
/// throws    BadRecord
std::vector<ChatMessage> messages_of(const Json& object);

/// Conversations as JSON lines or Parquet, which `writer` writes.
ExampleFormat chat_format(const ChatWriter& writer, ChatForm form);

}  // namespace sinter::detail
