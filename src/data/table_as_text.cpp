// SPDX-License-Identifier: Apache-2.0
#include "data/table_as_text.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace sinter::detail {
namespace {

constexpr std::size_t most_lines = 100, least_objects = 2, least_rows = 3;
constexpr std::string_view json_lines = "JSON lines", tsv = "a table with tabs (TSV)",
                           csv = "a table (CSV)", parquet = "a Parquet table";

/// True if so many of the lines are of one kind that the others are mistakes.
bool nearly_all(std::size_t some, std::size_t all) { return 10 * some >= 9 * all; }

/// The first lines that are not blank. One that goes on behind `begin` is left out, unless it is all.
std::vector<std::string_view> lines_of(std::string_view begin) {
  std::vector<std::string_view> lines;
  while (!begin.empty() && lines.size() < most_lines) {
    const std::size_t end = begin.find('\n');
    std::string_view line = begin.substr(0, end);
    if (end == begin.npos && !lines.empty()) break;
    begin.remove_prefix(end == begin.npos ? begin.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") != line.npos) lines.push_back(line);
  }
  return lines;
}

bool are_objects(const std::vector<std::string_view>& lines) {
  if (lines.size() < least_objects) return false;
  auto begins_object = [](std::string_view line) { return line.starts_with('{'); };
  if (!nearly_all(std::size_t(std::ranges::count_if(lines, begins_object)), lines.size()))
    return false;
  auto is_object = [&](std::string_view line) {
    return begins_object(line) && nlohmann::json::accept(line);
  };
  return nearly_all(std::size_t(std::ranges::count_if(lines, is_object)), lines.size());
}

/// True for a byte that binary data have, and lines of a table have not.
bool is_control(unsigned char byte) { return byte < ' ' && byte != '\t'; }

bool are_rows(const std::vector<std::string_view>& lines) {
  if (lines.size() < least_rows) return false;
  std::map<std::ptrdiff_t, std::size_t> with_tabs;  // how many lines have so many
  for (std::string_view line : lines)
    if (line[0] != '\t' && std::ranges::none_of(line, is_control))
      ++with_tabs[std::ranges::count(line, '\t')];
  with_tabs.erase(0);
  return std::ranges::any_of(with_tabs,
                             [&](const auto& one) { return nearly_all(one.second, lines.size()); });
}

/// What the name of a file says that it is.
std::string_view table_by_name(std::filesystem::path path) {
  for (const char* packed : {".gz", ".xz", ".zst"})
    if (path.extension() == packed) {
      path.replace_extension();
      break;
    }
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(),
                         [](unsigned char letter) { return char(std::tolower(letter)); });
  if (ending == ".jsonl" || ending == ".ndjson") return json_lines;
  if (ending == ".tsv") return tsv;
  return ending == ".csv" ? csv : "";
}

}  // namespace

std::string_view table_in(std::string_view path, std::string_view begin) {
  if (begin.starts_with("PAR1")) return parquet;
  if (std::string_view named = table_by_name(path); !named.empty()) return named;
  const std::vector<std::string_view> lines = lines_of(begin);
  if (are_objects(lines)) return json_lines;
  return are_rows(lines) ? tsv : "";
}

}  // namespace sinter::detail
