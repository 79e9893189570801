// SPDX-License-Identifier: Apache-2.0
// Records and tables that are named as text, of which a model would learn braces and tabs.
#pragma once
#include <string>
#include <string_view>

namespace sinter::detail {

/// Says what a content is, in words that follow "it is", if it is records and not text: JSON lines,
/// TSV, CSV or Parquet. The name of the file says so (also .jsonl.gz), or nearly all of its first 100
/// lines do: objects of JSON, or at least three lines with the same number of tabs, none of which
/// begins one. Else empty. `begin` is the content, or its first bytes.
std::string_view table_in(std::string_view path, std::string_view begin);

}  // namespace sinter::detail
