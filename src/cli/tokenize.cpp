// SPDX-License-Identifier: Apache-2.0
// The verbs tokenize and detokenize.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <tuple>

#include "cli/eval_progress.hpp"
#include "cli/input.hpp"
#include "cli/output.hpp"
#include "cli/standard_input.hpp"
#include "cli/tokenizer.hpp"
#include "cli/verbs.hpp"
#include "data/require_text.hpp"
#include "files/json.hpp"
#include "sinter/data/token_file.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail::cli {
namespace {

std::string lines_of(const Tokenizer& tokenizer, const std::vector<std::int32_t>& ids) {
  std::string lines;
  for (std::int32_t id : ids)
    lines += fmt::format("{:<8}'{}'\n", id, printable(tokenizer.decode(id)));
  return lines;
}

/// Reads what tokenize --json prints.
std::vector<std::int32_t> read_ids(const std::string& file) {
  auto refuse = [&](const std::string& problem) {
    return FileError(
        fmt::format("{} cannot be read as ids: {}. It must be JSON such as {{\"ids\": [464, "
                    "257]}}, as tokenize "
                    "--json prints it.",
                    printable(file, 4096), problem));
  };
  const std::string text = read_input(file);
  try {
    const nlohmann::ordered_json json = parse_json(text);
    if (!json.is_object() || !json.contains("ids") || !json["ids"].is_array() || json.size() != 1)
      throw refuse("it is no object of one list, \"ids\"");
    std::vector<std::int32_t> ids;
    for (const auto& id : json["ids"])
      ids.push_back(integer_of<std::int32_t>(id, fmt::format("id {}", ids.size() + 1)));
    return ids;
  } catch (const JsonError& error) {
    throw refuse(error.what());
  }
}

/// The ids without the special tokens that tokenize puts around those of a text.
std::span<const std::int32_t> without_surroundings(std::span<const std::int32_t> ids,
                                                   const Tokenizer& tokenizer) {
  const auto& [before, behind] = std::tie(tokenizer.before, tokenizer.behind);
  if (ids.size() >= before.size() && std::ranges::equal(ids.first(before.size()), before))
    ids = ids.subspan(before.size());
  if (ids.size() >= behind.size() && std::ranges::equal(ids.last(behind.size()), behind))
    ids = ids.first(ids.size() - behind.size());
  return ids;
}

/// Makes a token file.
int tokenize_files(const RecipeView& recipe, const Arguments& a) {
  if (a.text) throw UsageError("tokenize takes --text, or --data and --out, and not both.");
  require_flag(!a.data.empty(), "--data PATH...", a.verb);
  require_flag(a.out.has_value(), "--out FILE", a.verb);
  using enum DataFiles::Unreadable;
  const DataFiles files(data_paths(a), a.skip_unreadable ? left_out : refused);
  if (!a.quiet) note_lines(files.left_out_text());
  if (!a.as_text) require_texts(files);
  EvalProgress progress(a.quiet ? nullptr : stderr, files.total_bytes(), EvalProgress::Clock::now(),
                        "tokenized");
  make_token_file(files, tokenizer_for(recipe, a), *a.out,
                  {.threads = a.threads, .text_only = !a.as_text, .progress = [&](auto bytes) {
                     progress.at(bytes);
                   }});
  const TokenFile made(*a.out);
  if (a.json)
    print_result(nlohmann::ordered_json{{"out", *a.out},
                                        {"tokens", made.size()},
                                        {"documents", made.documents().size()},
                                        {"vocabulary", made.vocabulary()},
                                        {"bytes", files.total_bytes()}}
                     .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
                 "\n");
  else
    print_result(fmt::format("{} tokens of {} bytes in {}\n", thousands(made.size()),
                             thousands(files.total_bytes()), printable(*a.out, 4096)));
  return exit_done;
}

}  // namespace

int tokenize(std::shared_ptr<RecipeView> recipe, const Arguments& a) {
  if (!a.data.empty() || a.out) return tokenize_files(*recipe, a);
  if (a.as_text) throw UsageError("--as-text goes with --data: --text is text. Leave it out.");
  require_flag(a.text.has_value(), "--text FILE", a.verb);
  const Tokenizer tokenizer = tokenizer_for(*recipe, a);
  const std::vector<std::int32_t> ids = tokenizer.encode_whole(read_input(*a.text));
  print_result(a.json ? nlohmann::json{{"ids", ids}}.dump() + "\n" : lines_of(tokenizer, ids));
  return exit_done;
}

int detokenize(std::shared_ptr<RecipeView> recipe, const Arguments& a) {
  require_flag(a.ids.has_value(), "--ids FILE", a.verb);
  const Tokenizer tokenizer = tokenizer_for(*recipe, a);
  const std::vector<std::int32_t> ids = read_ids(*a.ids);
  try {
    print_result(tokenizer.text_of(without_surroundings(ids, tokenizer)));
  } catch (const ArgumentError& error) {
    throw FileError(fmt::format("{}: {}", printable(*a.ids, 4096), error.what()));
  }
  return exit_done;
}

}  // namespace sinter::detail::cli
