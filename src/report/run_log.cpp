// SPDX-License-Identifier: Apache-2.0
#include "report/run_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <system_error>

#include "files/json.hpp"
#include "files/manifest.hpp"
#include "sinter/files/checkpoint.hpp"
#include "sinter/files/io.hpp"
#include "trainer/state_json.hpp"

namespace sinter::detail::report {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() != fs::file_type::not_found;
}

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? printable(found->get<std::string>(), 2000)
                                                     : "";
}

std::int64_t step_at(const Json& object) {
  const auto found = object.find("step");
  if (found == object.end()) throw JsonError("it has no step");
  const auto step = integer_of<std::int64_t>(*found, "'step'");
  if (step < 0) throw JsonError("its step is below 0");
  return step;
}

/// Reads the rows of metrics.jsonl, a block of the file at a time.
class RowReader {
  RunLog& log;
  std::int64_t unreadable = 0, not_finite = 0;

 public:
  explicit RowReader(RunLog& into) : log(into) {}

  void read(const InputFile& file) {
    constexpr std::uint64_t block = 1 << 20;
    std::string rest;
    for (std::uint64_t at = 0; at < file.size();) {
      const std::uint64_t size = std::min(block, file.size() - at);
      const std::size_t before = rest.size();
      rest.resize(before + size);
      file.read_at(at, rest.data() + before, size);
      at += size;
      std::string_view text = rest;
      for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1))
        take(text.substr(0, end));
      rest = std::string(text);
    }
    note();
  }

 private:
  void take(std::string_view line) {
    try {
      const Json row = parse_json(line);
      if (!row.is_object()) throw JsonError("it is no object");
      if (row.contains("event"))
        log.happenings.push_back({step_at(row), text_at(row, "event"), text_at(row, "text")});
      else
        add(row_of(row));
    } catch (const JsonError&) {
      ++unreadable;
    }
  }

  /// Adds a row, which takes the place of what there is of its step and those behind it.
  void add(const Row& row) {
    while (!log.rows.empty() && log.rows.back().step >= row.step) log.rows.pop_back();
    log.rows.push_back(row);
  }

  Row row_of(const Json& json) {
    Row row;
    row.step = step_at(json);
    bool all_finite = true;
    auto number = [&](const char* key, double& into) {
      if (!json.contains(key)) return;
      if (const Json& value = json[key]; value.is_number()) into = value.get<double>();
      all_finite &= std::isfinite(into);
    };
    number("loss", row.loss);
    number("val_loss", row.validation_loss);
    number("grad_norm", row.gradient_norm);
    number("lr", row.learning_rate);
    number("tokens", row.tokens);
    number("tokens_per_s", row.tokens_per_s);
    number("step_ms", row.step_ms);
    number("data_wait_ms", row.data_wait_ms);
    number("examples_per_s", row.examples_per_s);
    for (const auto& [key, value] : json.items())
      if (key.starts_with("val_") && key != "val_loss" && value.is_number())
        row.metrics[printable(key.substr(4))] = value.get<double>();
    not_finite += !all_finite;
    return row;
  }

  void note() {
    if (unreadable > 0)
      log.notes.push_back(fmt::format("{} line{} of metrics.jsonl cannot be read.", unreadable,
                                      unreadable == 1 ? "" : "s"));
    if (not_finite > 0)
      log.notes.push_back(fmt::format(
          "{} row{} of metrics.jsonl with a value that is no finite number: curves leave it out.",
          not_finite, not_finite == 1 ? "" : "s"));
    if (log.rows.empty()) log.notes.emplace_back("No step has been logged yet.");
  }
};

std::string words_of(const Json& command) {
  std::string text;
  for (const Json& word : command)
    if (word.is_string()) text += (text.empty() ? "" : " ") + word.get<std::string>();
  return printable(text, 2000);
}

void read_starts(const fs::path& path, RunLog& log) try {
  if (!is_there(path)) return log.notes.emplace_back("There is no run.json."), void();
  constexpr std::uint64_t max_bytes = 64 << 20;
  for (const Json& start : parse_json(read_file(InputFile(path, Links::refused), max_bytes))) {
    if (!start.is_object()) throw JsonError("it is no list of starts");
    const auto command = start.find("command");
    log.starts.push_back({step_at(start), text_at(start, "date"), text_at(start, "version"),
                          command == start.end() ? "" : words_of(*command)});
    if (std::string recipe = text_at(start, "recipe"); !recipe.empty()) log.recipe = recipe;
    if (start.contains("best_by")) {  // the loss, unless it says which values are better
      const std::string is = text_at(start, "best_is");
      log.best_by = is.empty() ? "" : text_at(start, "best_by");
      log.greater_is_better = is == "greatest";
    }
  }
} catch (const JsonError& error) {
  log.notes.push_back(fmt::format("run.json is damaged: {}.", error.what()));
} catch (const FileError& error) {
  log.notes.emplace_back(error.what());
}

Saved saved_in(const fs::path& checkpoint, std::string& recipe) {
  const Manifest manifest = read_manifest(checkpoint, Links::refused);
  const SavedState state = read_state(manifest.info, checkpoint.string());
  Saved saved{manifest.step, std::to_string(state.seed), {}, {}};
  for (const std::string& policy : state.policies) saved.policies.push_back(printable(policy));
  for (const auto& [name, value] : state.options) saved.options[printable(name)] = printable(value);
  const Json trainer = parse_json(manifest.info).at("trainer");
  if (std::string name = text_at(trainer, "recipe"); !name.empty()) recipe = name;
  return saved;
}

void read_newest(const fs::path& folder, RunLog& log) {
  for (const StepFolder& step : step_folders(folder)) try {
      log.saved = saved_in(step.folder, log.recipe);
      return;
    } catch (const FileError& error) {
      if (is_there(step.folder)) log.notes.emplace_back(error.what());  // else it is replaced
    }
  log.notes.emplace_back("There is no checkpoint yet, so its options are not known.");
}

}  // namespace

RunLog read_run(const fs::path& folder) {
  std::error_code error;
  const fs::path metrics = folder / "metrics.jsonl";
  if (!fs::is_directory(folder, error))
    throw FileError(fmt::format("{} is no folder of a run: {}. Give the folder that --out named.",
                                printable(folder.string(), 4096),
                                is_there(folder) ? "it is no folder" : "it does not exist"));
  if (!is_there(metrics) && !is_there(folder / "run.json")) {
    const bool checkpoint = is_there(folder / manifest_name);
    throw FileError(
        fmt::format("{} is no folder of a run: it has neither metrics.jsonl nor run.json. {}",
                    printable(folder.string(), 4096),
                    checkpoint ? "It is a checkpoint; give the folder around it."
                               : "Give the folder that --out named."));
  }
  RunLog log;
  log.name = printable(folder.string(), 4096);
  if (is_there(metrics))
    RowReader(log).read(InputFile(metrics, Links::refused));
  else
    log.notes.emplace_back("There is no metrics.jsonl.");
  read_starts(folder / "run.json", log);
  read_newest(folder, log);
  return log;
}

}  // namespace sinter::detail::report
