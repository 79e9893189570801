// SPDX-License-Identifier: Apache-2.0
#include "cli/validation.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "cli/data_request.hpp"
#include "sinter/metric/metrics.hpp"

namespace sinter::detail::cli {
namespace {

namespace fs = std::filesystem;

/// Splits NAME=PATH; a word that is a path as it stands has no name.
std::pair<std::string, std::string> name_and_path(const std::string& word) {
  const std::size_t at = word.find('=');
  std::error_code ignored;
  if (at == word.npos || word.substr(0, at).find('/') != word.npos || fs::exists(word, ignored))
    return {"", word};
  const std::string name = word.substr(0, at);
  if (!is_metric_name(name))
    throw UsageError(
        fmt::format("--validation {}: '{}' cannot be a name in the log. Give a name of small "
                    "letters, digits and '_', as in test=PATH; or ./{} if that is a file.",
                    word, name, word));
  return {name, word.substr(at + 1)};
}

/// True if a path is one of the paths, or below one.
bool is_below_any(const std::string& path, const std::vector<std::string>& paths) {
  std::error_code ignored;
  const fs::path file = fs::weakly_canonical(path, ignored);
  return std::ranges::any_of(paths, [&](const std::string& other) {
    const fs::path folder = fs::weakly_canonical(other, ignored);
    return std::ranges::mismatch(folder, file).in1 == folder.end();
  });
}

}  // namespace

std::vector<ValidationSet> validation_sets(const std::vector<std::string>& words) {
  std::vector<ValidationSet> sets;
  for (const std::string& word : words) {
    auto [name, path] = name_and_path(word);
    const bool held_out = path == held_out_word;
    if (held_out && std::ranges::any_of(sets, &ValidationSet::is_held_out))
      throw UsageError(fmt::format("--validation names {} twice.", held_out_word));
    if (held_out && name.empty() && !sets.empty()) name = "held_out";
    if (sets.empty() || !name.empty()) {
      if (std::ranges::find(sets, name, &ValidationSet::name) != sets.end())
        throw UsageError(fmt::format(
            "--validation names '{}' twice. Give each set a name of its own; paths that follow "
            "without a name belong to the same set.",
            name));
      sets.push_back({std::move(name), {}});
    } else if (sets.back().is_held_out()) {
      throw UsageError(fmt::format(
          "--validation {}: it follows {}, which is a set of its own. Give it a name of small "
          "letters, digits and '_', as in test={}.",
          word, held_out_word, word));
    }
    if (!held_out) sets.back().paths.push_back(std::move(path));
  }
  return sets;
}

OpenedData held_out_of(OpenedData& training) {
  if (!training.evaluation)
    throw Error(
        fmt::format("The recipe's data policy holds nothing out. Leave {} out of --validation.",
                    held_out_word));
  OpenedData data;
  data.evaluation = std::move(training.evaluation);
  data.evaluation_size = training.evaluation_size;
  data.text = "what is held out of --data";
  std::error_code ignored;
  if (fs::exists(held_out_word, ignored))
    data.notes = fmt::format(
        "--validation {0} is what is held out of --data; the file of this name is ./{0}.\n",
        held_out_word);
  return data;
}

bool holds_out(const Arguments& a) {
  const std::vector<ValidationSet> sets = validation_sets(a.validation);
  const bool named = std::ranges::any_of(sets, &ValidationSet::is_held_out);
  if (named && a.order == Order::sequential)
    throw UsageError(fmt::format(
        "--validation {} is what training holds out of --data, and --order sequential holds "
        "nothing out. Leave one of them out.",
        held_out_word));
  return named || (sets.empty() && a.order != Order::sequential);
}

Validation open_validation(const RecipeView& recipe, const Arguments& a, OpenedData& training) {
  Validation validation;
  for (const ValidationSet& set : validation_sets(a.validation)) {
    OpenedData data =
        set.is_held_out() ? held_out_of(training) : open_validation_data(recipe, a, set.paths);
    validation.notes += data.notes;
    validation.size += data.evaluation_size;
    validation.text += fmt::format("        validation{}{}: {}\n", set.name.empty() ? "" : " ",
                                   set.name, data.text);
    for (const std::string& path : set.paths)
      if (is_below_any(path, a.data))
        validation.notes += fmt::format(
            "{} is in --data, too, so that its loss is of what the run trains on.\n", path);
    if (!validation.stage) {
      validation.stage = EvaluateStage(*std::move(data.evaluation));
    } else {
      validation.stage.add(set.name, *std::move(data.evaluation));
    }
    validation.stage.came_from(set.is_held_out()
                                   ? "--validation held-out"
                                   : fmt::format("--validation {}", fmt::join(set.paths, " ")));
  }
  return validation;
}

}  // namespace sinter::detail::cli
