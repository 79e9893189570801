// SPDX-License-Identifier: Apache-2.0
// Where a text may be cut without a change of its tokens (Tokenizer::cuts_at_lines).
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

namespace sinter::detail {

/// The first place at or behind `from` that lies behind a newline which stands between two
/// characters that are no white space; nothing if there is none in this text.
std::optional<std::size_t> line_cut(std::string_view text, std::size_t from);

}  // namespace sinter::detail
