// SPDX-License-Identifier: Apache-2.0
// The verbs tokenize and detokenize.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "files/json.hpp"
#include "sinter/data/tokenizer/tokenizer.hpp"
#include "sinter/files/io.hpp"

namespace sinter::cli {
namespace {

/// That of --tokenizer, else the recipe's own.
Tokenizer tokenizer_of(const RecipeView& recipe, const Arguments& a) {
  require_flag(a.tokenizer || recipe.data.tokenizer, "--tokenizer PATH", a.verb);
  return a.tokenizer ? load_tokenizer(*a.tokenizer) : recipe.data.tokenizer();
}

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
  const std::string text = read_file(file);
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

}  // namespace

int tokenize(const RecipeView& recipe, const Arguments& a) {
  require_flag(a.text.has_value(), "--text FILE", a.verb);
  const Tokenizer tokenizer = tokenizer_of(recipe, a);
  const std::vector<std::int32_t> ids = tokenizer.encode(read_file(*a.text));
  print_result(a.json ? nlohmann::json{{"ids", ids}}.dump() + "\n" : lines_of(tokenizer, ids));
  return exit_done;
}

int detokenize(const RecipeView& recipe, const Arguments& a) {
  require_flag(a.ids.has_value(), "--ids FILE", a.verb);
  const Tokenizer tokenizer = tokenizer_of(recipe, a);
  const std::vector<std::int32_t> ids = read_ids(*a.ids);
  try {
    print_result(tokenizer.text_of(ids));
  } catch (const ArgumentError& error) {
    throw FileError(fmt::format("{}: {}", printable(*a.ids, 4096), error.what()));
  }
  return exit_done;
}

}  // namespace sinter::cli
