// SPDX-License-Identifier: Apache-2.0
#include "cli/run_record.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <system_error>

#include "cli/config.hpp"
#include "cli/origin.hpp"
#include "cli/validation.hpp"
#include "data/class_names.hpp"
#include "data/tokenizer/load.hpp"
#include "files/json.hpp"
#include "sinter/files/io.hpp"
#include "sinter/version.hpp"

namespace sinter::detail::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
constexpr std::uint64_t max_record_bytes = 64 << 20;

bool is_utf8(const Json& json) try {
  (void)json.dump();
  return true;
} catch (const Json::exception&) {
  return false;
}

/// Makes paths absolute, except for standard input. An empty one stays empty, and gives an error when it
/// is opened.
std::vector<std::string> absolute(const std::vector<std::string>& paths) {
  std::vector<std::string> result;
  for (const std::string& path : paths) {
    const bool stays = path.empty() || path == "-";
    result.push_back(stays ? path : fs::absolute(path).lexically_normal().string());
    if (result.back().size() > 1 && result.back().ends_with('/')) result.back().pop_back();
  }
  return result;
}

/// The words of --validation with absolute paths.
std::vector<std::string> absolute_validation(const std::vector<std::string>& words) {
  std::vector<std::string> result;
  for (const ValidationSet& set : validation_sets(words)) {
    std::vector<std::string> paths = set.is_held_out()
                                         ? std::vector<std::string>{std::string(held_out_word)}
                                         : absolute(set.paths);
    if (!set.name.empty()) paths.front().insert(0, set.name + "=");
    result.insert(result.end(), paths.begin(), paths.end());
  }
  return result;
}

/// The configuration that repeats a run from another folder: its paths are absolute, and it has not
/// where the run writes, how it is shown and who has launched it.
Json config_to_repeat(const RecipeView& recipe, const Arguments& a) {
  Json config = config_of(recipe, a);
  for (const char* key : {"out", "resume", "profile", "rank_timeout", "json", "quiet"})
    config.erase(key);
  if (!a.data.empty()) config["data"] = absolute(a.data);
  if (!a.validation.empty()) config["validation"] = absolute_validation(a.validation);
  for (const char* key : {"weights", "adapter", "tokenizer", "scratch"})
    if (Json& path = config[key]; path.is_string())
      path = absolute({path.get<std::string>()}).front();
  return config;
}

std::string words_of(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths) text += (text.empty() ? "" : " ") + printable(path);
  return text;
}

/// The list of starts; an empty one if there is no record.
/// throws    FileError where the record is no regular file or damaged
Json read_record(const fs::path& path) {
  std::error_code ignored;
  const fs::file_type type = fs::symlink_status(path, ignored).type();
  if (type == fs::file_type::not_found) return Json::array();
  if (type != fs::file_type::regular)
    throw FileError(fmt::format("{} is no regular file. Move it away.", path.string()));
  const std::string text = read_file(path, max_record_bytes);
  try {
    Json starts = parse_json(text);
    auto is_start = [](const Json& one) { return one.is_object() && one.contains("command"); };
    if (starts.is_array() && std::ranges::all_of(starts, is_start)) return starts;
  } catch (const JsonError&) {
  }
  throw FileError(fmt::format(
      "{} is damaged: it is no list of a run's starts. Move it away; to go on, the run needs its "
      "--data again.",
      path.string()));
}

}  // namespace

bool remembers_data(const Arguments& a) { return std::ranges::all_of(absolute(a.data), is_utf8); }

RunRecord::RunRecord(const fs::path& run) : path(run / "run.json") {
  try {
    starts = read_record(path);
  } catch (const FileError& error) {
    fault = error;
  }
}

void RunRecord::take_over_tensorboard(Arguments& a) const {
  for (const Json& start : starts) {
    const auto found = start.find("tensorboard");
    a.tensorboard |= found != start.end() && *found == true;
  }
}

/// The newest start's value of a key that has a whole number from `least` on.
std::optional<int> RunRecord::newest_number(const char* key, int least) const {
  std::optional<int> newest;
  for (const Json& start : starts)
    if (const auto found = start.find(key); found != start.end() && found->is_number_integer())
      if (*found >= least && *found <= std::numeric_limits<int>::max()) newest = found->get<int>();
  return newest;
}

void RunRecord::take_over_keep(Arguments& a) const {
  if (!a.keep) a.keep = newest_number("keep", 2);
}

void RunRecord::take_over_best_by(Arguments& a) const {
  if (!a.early_stop) a.early_stop = newest_number("early_stop", 1);
  if (a.best_by) return;
  for (const Json& start : starts)
    if (const auto found = start.find("best_by"); found != start.end() && found->is_string())
      a.best_by = found->get<std::string>();
}

void RunRecord::take_over_special_tokens(Arguments& a) const {
  if (a.special_tokens) return;
  a.special_tokens = false;
  for (const Json& start : starts)
    if (const auto found = start.find("special_tokens");
        found != start.end() && found->is_boolean())
      a.special_tokens = found->get<bool>();
}

std::optional<std::string> RunRecord::tokenizer() const {
  std::optional<std::string> newest;
  for (const Json& start : starts)
    if (const auto found = start.find("tokenizer"); found != start.end() && found->is_string())
      newest = found->get<std::string>();
  if (newest && is_older_than_settings()) newest = vocabulary_alone(*newest).string();
  return newest;
}

/// True if no start was by a version that reads the files beside a tokenizer's vocabulary.
bool RunRecord::is_older_than_settings() const {
  return std::ranges::none_of(starts, [](const Json& start) {
    return start.contains("special_tokens") || start.contains("as_text") ||
           start.contains("config");
  });
}

std::optional<std::string> RunRecord::weights() const {
  for (const Json& start : starts)
    if (const auto config = start.find("config"); config != start.end() && config->is_object())
      if (const auto found = config->find("weights"); found != config->end() && found->is_string())
        return found->get<std::string>();
  return std::nullopt;
}

std::vector<std::string> RunRecord::class_names() const {
  std::vector<std::string> newest;
  for (const Json& start : starts)
    if (const auto found = start.find("class_names"); found != start.end() && found->is_array()) {
      newest.clear();
      for (const Json& name : *found)
        if (name.is_string()) newest.push_back(name.get<std::string>());
    }
  return newest;
}

std::optional<fs::path> RunRecord::origin() const {
  for (std::size_t k = starts.size(); k-- > 0;) {
    const auto found = starts[k].find("origin");
    if (found == starts[k].end()) continue;
    const std::string name = found->is_string() ? found->get<std::string>() : "";
    const bool is_own = name.starts_with("origin-") && name.find('/') == name.npos;
    return is_own ? std::optional(path.parent_path() / name) : std::nullopt;
  }
  return std::nullopt;
}

std::string RunRecord::take_over_tokenizer(Arguments& a) const {
  const std::optional<std::string> before = tokenizer();
  if (!a.tokenizer) a.tokenizer = before;
  if (!a.tokenizer || before == absolute({*a.tokenizer}).front()) return "";
  return fmt::format("the tokenizer is {}, as given; it was {}.\n", printable(*a.tokenizer),
                     before ? printable(*before) : "none");
}

std::string RunRecord::take_over_data(Arguments& a) const try {
  if (fault && a.data.empty()) throw *fault;
  if (fault) return "";  // add_start() reports it
  std::string other = take_over_tokenizer(a);
  const Json* last = nullptr;
  for (const Json& start : starts)
    if (start.contains("data")) last = &start;
  const auto before =
      last ? last->at("data").get<std::vector<std::string>>() : std::vector<std::string>();
  const bool same = a.data.empty() || before == absolute(a.data);
  // A run whose record has no word on it began before texts were checked.
  if (last && same) a.as_text |= last->value("as_text", true);
  if (last && a.validation.empty())
    a.validation = last->value("validation", std::vector<std::string>());
  if (!a.data.empty()) {
    if (before.empty() || same) return other;
    return other + fmt::format("the data are {}, as given; they were {}.\n", words_of(a.data),
                               words_of(before));
  }
  if (before.empty())
    throw UsageError(fmt::format("{} needs --data PATH...: {} does not say what the run has read.",
                                 a.verb == Verb::eval ? "eval --held-out" : "train --resume",
                                 path.string()));
  a.data = before;
  a.skip_unreadable |= last->value("skip_unreadable", false);
  return other + fmt::format("the data are {}, as before.\n", words_of(before));
} catch (const Json::exception& error) {
  throw FileError(fmt::format("{} is damaged ({}). Move it away, and give --data again.",
                              path.string(), error.what()));
}

std::string RunRecord::add_start(const RecipeView& recipe, const Arguments& a,
                                 const std::string& program, std::int64_t step) {
  std::string notes;
  std::error_code ignored;
  if (fault) {
    // A new run has no record yet: this file is of something else.
    if (step == 0 || !fs::is_regular_file(fs::symlink_status(path, ignored))) throw *fault;
    const fs::path aside = path.string() + ".damaged";
    rename_path(path, aside);
    notes = fmt::format("{} It was renamed to {}.\n", fault->what(), aside.string());
    fault.reset();
  }
  std::vector<std::string> command{program};
  command.insert(command.end(), a.words.begin(), a.words.end());
  Json start{{"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
             {"version", version()},
             {"recipe", recipe.name},
             {"command", command},
             {"folder", fs::current_path(ignored).string()},
             {"seed", std::to_string(a.seed.value_or(0))},
             {"step", step}};
  if (recipe.run_steps > 0) start["run_steps"] = recipe.run_steps;
  if (a.tensorboard) start["tensorboard"] = true;
  if (a.keep) start["keep"] = *a.keep;
  if (a.early_stop) start["early_stop"] = *a.early_stop;
  if (a.best_by) start["best_by"] = *a.best_by;
  if (const Metric* chosen = metric_named(recipe, a.best_by.value_or(""), "--best-by"))
    start["best_is"] = chosen->greater_is_better ? "greatest" : "lowest";
  if (a.tokenizer && is_utf8(*a.tokenizer)) start["tokenizer"] = absolute({*a.tokenizer}).front();
  if (recipe.data.takes_tokenizer && recipe.data.reads_text)
    start["special_tokens"] = a.special_tokens.value_or(true);
  if (auto names = names_in(recipe.data.class_names); !names.empty() && is_utf8(names))
    start["class_names"] = std::move(names);
  if (remembers_data(a)) {
    start["data"] = absolute(a.data);
    start["skip_unreadable"] = a.skip_unreadable;
    if (!a.validation.empty()) start["validation"] = absolute_validation(a.validation);
    start["as_text"] = a.as_text;
  }
  if (!a.resume)
    if (Json config = config_to_repeat(recipe, a); is_utf8(config)) start["config"] = config;
  if (const std::string kept = keep_origin(path.parent_path(), *this, recipe, a, step);
      !kept.empty()) {
    start["origin"] = kept;
  } else if (origin()) {
    start["origin"] = nullptr;
  }
  starts.push_back(std::move(start));
  std::string text;
  for (const Json& one : starts)
    text +=
        (text.empty() ? "[" : ",\n ") + one.dump(-1, ' ', false, Json::error_handler_t::replace);
  write_file_atomically(path, text + "]\n");
  return notes;
}

}  // namespace sinter::detail::cli
