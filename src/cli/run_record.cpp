// SPDX-License-Identifier: Apache-2.0
#include "cli/run_record.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <system_error>

#include "files/json.hpp"
#include "sinter/files/io.hpp"
#include "sinter/version.hpp"

namespace sinter::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
constexpr std::uint64_t most_bytes = 64 << 20;

fs::path path_of(const fs::path& run) { return run / "run.json"; }

bool is_utf8(const std::string& text) try {
  (void)Json(text).dump();
  return true;
} catch (const Json::exception&) {
  return false;
}

/// The paths as they are wherever the program is started.
std::vector<std::string> absolute(const std::vector<std::string>& paths) {
  std::vector<std::string> result;
  for (const std::string& path : paths) {
    result.push_back(fs::absolute(path).lexically_normal().string());
    if (result.back().size() > 1 && result.back().ends_with('/')) result.back().pop_back();
  }
  return result;
}

std::string words_of(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths) text += (text.empty() ? "" : " ") + printable(path);
  return text;
}

/// The list of starts; an empty one if there is no record.
/// throws    FileError where the record is no regular file or damaged
Json read_record(const fs::path& run) {
  const fs::path path = path_of(run);
  std::error_code ignored;
  const fs::file_type type = fs::symlink_status(path, ignored).type();
  if (type == fs::file_type::not_found) return Json::array();
  if (type != fs::file_type::regular)
    throw FileError(fmt::format("{} is no regular file. Move it away.", path.string()));
  const std::string text = read_file(path, most_bytes);
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

std::string record_start(const fs::path& run, const RecipeView& recipe, const Arguments& a,
                         const std::string& program, std::int64_t step) {
  std::string notes;
  Json starts;
  std::error_code ignored;
  try {
    starts = read_record(run);
  } catch (const FileError& error) {
    // At the beginning of a run it is none of this run's, but somebody else's.
    if (step == 0 || !fs::is_regular_file(fs::symlink_status(path_of(run), ignored))) throw;
    const fs::path aside = path_of(run).string() + ".damaged";
    rename_path(path_of(run), aside);
    notes = fmt::format("{} It was renamed to {}.\n", error.what(), aside.string());
    starts = Json::array();
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
  if (remembers_data(a)) {
    start["data"] = absolute(a.data);
    start["skip_unreadable"] = a.skip_unreadable;
  }
  starts.push_back(std::move(start));
  std::string text;
  for (const Json& one : starts)
    text +=
        (text.empty() ? "[" : ",\n ") + one.dump(-1, ' ', false, Json::error_handler_t::replace);
  write_file_atomically(path_of(run), text + "]\n");
  return notes;
}

std::string take_over_data(const fs::path& run, Arguments& a) {
  Json last;
  try {
    for (Json& start : read_record(run))
      if (start.contains("data")) last = std::move(start);
    const auto before = last.is_object() ? last["data"].get<std::vector<std::string>>()
                                         : std::vector<std::string>();
    if (!a.data.empty()) {
      if (before.empty() || before == absolute(a.data)) return "";
      return fmt::format("the data are {}, as given; they were {}.\n", words_of(a.data),
                         words_of(before));
    }
    if (before.empty())
      throw UsageError(
          fmt::format("train --resume needs --data PATH...: {} does not say what the run has read.",
                      path_of(run).string()));
    a.data = before;
    a.skip_unreadable |= last.value("skip_unreadable", false);
    return fmt::format("the data are {}, as before.\n", words_of(before));
  } catch (const Json::exception& error) {
    throw FileError(fmt::format("{} is damaged ({}). Move it away, and give --data again.",
                                path_of(run).string(), error.what()));
  } catch (const UsageError&) {
    throw;
  } catch (const FileError&) {
    if (a.data.empty()) throw;
    return "";  // record_start() says it
  }
}

}  // namespace sinter::cli
