// SPDX-License-Identifier: Apache-2.0
#include "sinter/files/run_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <random>
#include <system_error>
#include <vector>

#include "files/manifest.hpp"
#include "files/run_link.hpp"
#include "files/system.hpp"

namespace sinter {
using namespace detail;
namespace {

namespace fs = std::filesystem;

/// Names that a run replaces in its folder beside checkpoints, by way of a temporary.
constexpr std::array<std::string_view, 4> replaced_names{"last", "best", "metrics.jsonl",
                                                         "run.json"};

/// Returns a run's name: 32 random hexadecimal digits.
std::string new_run() {
  std::random_device chance;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", chance(), chance(), chance(), chance());
}

/// Returns the run of a checkpoint; "" if it names none or is not good.
std::string run_of(const fs::path& checkpoint) try {
  return read_manifest(checkpoint, Links::refused).run;
} catch (const FileError&) {
  return "";
}

[[noreturn]] void refuse_to_resume(const fs::path& folder) {
  throw FileError(
      fmt::format("There is nothing to resume in {}: it holds no checkpoint. Start the run without "
                  "resuming, or check the path.",
                  folder.string()));
}

}  // namespace

RunFolder::RunFolder(const fs::path& path, Mode mode, int newest_kept) : folder(path) {
  keep_newest(newest_kept);
  std::error_code ignored;
  if (mode == Mode::resume && !fs::exists(folder, ignored))
    throw FileError(
        fmt::format("There is nothing to resume in {}: it does not exist. Start the "
                    "run without resuming, or check the path.",
                    folder.string()));
  create_folders(folder);
  take_lock();
  try {
    begin(mode);
  } catch (...) {
    if (!had_lock) ::unlink((folder / "lock").c_str());  // it would make other things a run's
    throw;
  }
}

RunFolder::RunFolder(const fs::path& seen_folder)
    : folder(seen_folder), keep(2), is_written(false) {}

void RunFolder::keep_newest(int count) {
  if (count < 2)
    throw ArgumentError(
        fmt::format("A run must keep at least 2 checkpoints, not {}: the older one "
                    "is what remains when the newer is damaged.",
                    count));
  keep = count;
}

RunFolder RunFolder::seen(const fs::path& path, Mode mode) {
  RunFolder made(path);
  if (mode == Mode::fresh || (mode == Mode::either && !holds_checkpoints(path))) return made;
  made.find_resume_point();
  if (!made.found) refuse_to_resume(path);
  return made;
}

void RunFolder::begin(Mode mode) {
  if (mode == Mode::fresh) refuse_if_used();
  clean();
  if (mode != Mode::fresh) {
    refuse_foreign();
    find_resume_point();
  }
  if (!found || run.empty()) run = new_run();
  write_lock(lock.get());
  if (mode == Mode::resume && !found) refuse_to_resume(folder);
  if (mode == Mode::either && !found && has_metrics()) {
    if (!had_lock) refuse_if_used();
    warnings += fmt::format(
        "{} holds the metrics of a run that ended before its first checkpoint. Its steps are lost, "
        "and the run begins anew.\n",
        folder.string());
  }
  mend_links();
}

namespace {
/// The step that a text names, or none.
std::optional<std::int64_t> step_named(std::string_view text) {
  std::int64_t step = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), step);
  if (error != std::errc{} || stopped != text.data() + text.size() || step < 0) return std::nullopt;
  return step;
}

/// The steps of a run's checkpoints, as "40, 20".
std::string steps_text(const fs::path& run) {
  std::string text;
  for (const StepFolder& one : step_folders(run))
    text += fmt::format("{}{}", text.empty() ? "" : ", ", one.step);
  return text.empty() ? "no checkpoint" : "those of the steps " + text;
}
}  // namespace

fs::path RunFolder::checkpoint(const fs::path& run, std::string_view name) {
  const auto step = step_named(name);
  if (!step && name != "best" && name != "last")
    throw ArgumentError(
        fmt::format("'{}' names no checkpoint of a run: best, last and the number of a step do.",
                    printable(std::string(name))));
  fs::path found = run / (step ? step_folder_name(*step) : std::string(name));
  if (const std::string linked = step ? "" : read_run_link(found); !linked.empty())
    found = run / linked;
  if (looks_like_checkpoint(found)) return fs::canonical(found);
  throw FileError(fmt::format(
      "The run {} has no checkpoint '{}'{}. It has {}.", run.string(), name,
      name == "best" ? ": nothing was evaluated, or it has been removed" : "", steps_text(run)));
}

bool RunFolder::holds_checkpoints(const fs::path& folder) {
  std::error_code error;
  if (fs::status(folder, error).type() == fs::file_type::not_found) return false;
  return std::ranges::any_of(entries_of(folder), [](const fs::path& entry) {
    std::string name = entry.filename().string();
    return is_step_name(name) || is_step_name(name_behind(name, "old"));
  });
}

bool RunFolder::has_metrics() const {
  std::error_code error;
  if (fs::symlink_status(metrics_path(), error).type() == fs::file_type::not_found) return false;
  return InputFile(metrics_path(), Links::refused).size() > 0;
}

void RunFolder::refuse_if_used() const {
  std::vector<StepFolder> steps = step_folders(folder);
  if (steps.empty() && !has_metrics()) return;
  throw FileError(
      steps.empty()
          ? fmt::format("{} holds the metrics of an earlier run that saved no checkpoint. Remove "
                        "them or choose another folder.",
                        folder.string())
          : fmt::format("{} holds a run that has reached step {}. Resume it, or choose another "
                        "folder.",
                        folder.string(), steps.front().step));
}

/// Removes temporaries of what runs write here. A crash has left them, for the lock is ours. All
/// else may be the user's, whatever it is called.
void RunFolder::clean() {
  recover_replaced(folder, is_step_name);
  for (const fs::path& entry : entries_of(folder)) {
    std::string name = name_behind(entry.filename().string(), "tmp");
    if (is_step_name(name) || std::ranges::find(replaced_names, name) != replaced_names.end())
      discard(entry);
  }
}

/// Refuses checkpoints of another run: a user who has copied one here would lose it, or train on it
/// unawares.
void RunFolder::refuse_foreign() {
  for (const StepFolder& step : step_folders(folder)) {
    std::string of = run_of(step.folder);
    if (run.empty()) run = of;
    if (!of.empty() && of != run)
      throw FileError(
          fmt::format("{} is a checkpoint of another run ({}…) than the one that {} is of ({}…). "
                      "Nothing was changed. Move it away; or, if all checkpoints there are of that "
                      "run, remove {}.",
                      step.folder.string(), of.substr(0, 8), folder.string(), run.substr(0, 8),
                      (folder / "lock").string()));
  }
}

void RunFolder::find_resume_point() {
  struct Damaged {
    fs::path folder;
    std::string why;
  };
  std::vector<Damaged> damaged;
  for (const StepFolder& step : step_folders(folder)) {
    try {
      CheckpointReader reader(step.folder, Links::refused);
      if (reader.step() != step.step)
        throw DamagedError(fmt::format("The checkpoint {} is of step {}, which is not its name's.",
                                       step.folder.string(), reader.step()));
      found.emplace(std::move(reader));
      newest = step.folder;
      break;
    } catch (const DamagedError& error) {
      damaged.push_back({step.folder, error.problem});
    } catch (const FileError& error) {  // it may be good, so no older one must take its place
      throw FileError(fmt::format(
          "{} Nothing was changed in {}: try again when it can be read, or move it away "
          "to go on from an older checkpoint.",
          error.what(), folder.string()));
    }
  }
  if (!found && !damaged.empty())
    throw FileError(
        fmt::format("There is nothing to resume in {}: none of its checkpoints is good, "
                    "the newest for this reason: {} Start a new run in another folder, from "
                    "weights of another run if need be.",
                    folder.string(), damaged.front().why));
  if (!is_written) return;
  for (const Damaged& one : damaged) set_aside(one.folder, "damaged", one.why);
}

/// Mends links after a crash, or after checkpoints were set aside.
void RunFolder::mend_links() {
  for (const char* name : {"last", "best"}) {
    std::error_code error;
    fs::path link = folder / name;
    fs::file_type type = fs::symlink_status(link, error).type();
    if (type == fs::file_type::not_found) continue;
    const std::string checkpoint = read_run_link(link);
    if (checkpoint.empty() && type == fs::file_type::symlink)
      throw FileError(
          fmt::format("{} is a link to {}, which no run has made. Move it away, or choose another "
                      "folder.",
                      link.string(), printable(fs::read_symlink(link, error).string())));
    if (checkpoint.empty())
      throw FileError(
          fmt::format("{} is not a link, and no file that names a checkpoint, so it cannot be "
                      "swung to another one. Move it away.",
                      link.string()));
    const fs::path target = type == fs::file_type::symlink ? link : folder / checkpoint;
    if (fs::status(target, error).type() == fs::file_type::not_found) remove_path(link);
  }
  if (found) point("last", newest.filename());
}

void RunFolder::point(const char* link, const fs::path& checkpoint) {
  if (write_run_link(folder / link, checkpoint) || told_of_links) return;
  told_of_links = true;
  warnings += fmt::format(
      "The file system of {} has no symbolic links, so `last` and `best` in it are plain files "
      "that "
      "name a checkpoint each. All verbs read them.\n",
      folder.string());
}

/// Renames a checkpoint, so that it can still be looked at but no longer counts.
void RunFolder::set_aside(const fs::path& checkpoint, std::string_view as, const std::string& why) {
  std::error_code ignored;
  fs::path aside = fmt::format("{}.{}", checkpoint.string(), as);
  for (int k = 2; fs::exists(aside, ignored); ++k)
    aside = fmt::format("{}.{}-{}", checkpoint.string(), as, k);
  rename_path(checkpoint, aside);
  warnings += fmt::format("{} It was passed over and renamed to {}.\n", why, aside.string());
}

fs::path RunFolder::save(std::int64_t step, std::string_view info,
                         const std::function<void(CheckpointWriter&)>& fill, bool best) {
  find_again();
  fs::path name = step_folder_name(step);
  if (std::string of = run_of(folder / name); !of.empty() && of != run)
    set_aside(folder / name, "other-run",
              fmt::format("{} is a checkpoint of another run.", (folder / name).string()));
  CheckpointWriter writer(folder / name);
  fill(writer);
  writer.commit(step, info, run);
  newest = folder / name;
  point("last", name);
  if (best) point("best", name);
  prune(step);
  return newest;
}

void RunFolder::remove_old() {
  if (is_written && found) prune(found->step());
}

void RunFolder::require_room(std::uint64_t bytes) const {
  std::error_code error;
  const fs::space_info disk = fs::space(folder, error);
  if (error || disk.capacity == 0 || disk.available >= bytes) return;
  constexpr double mebibyte = 1 << 20;
  throw FileError(
      fmt::format("The disk of {} has {:.1f} MiB free, and a checkpoint takes {:.1f} MiB, so that "
                  "the run could "
                  "not be saved. Free some, or name a folder on another disk.",
                  folder.string(), double(disk.available) / mebibyte, double(bytes) / mebibyte));
}

void RunFolder::prune(std::int64_t reached) {
  const fs::path best = read_run_link(folder / "best");
  int kept = 0;
  for (const StepFolder& step : step_folders(folder)) {
    fs::path name = step.folder.filename();
    if (step.step > reached) continue;  // none of this run is beyond
    if (kept++ < keep || name == best || name == newest.filename()) continue;
    if (std::string of = run_of(step.folder); !of.empty() && of != run) continue;
    discard(step.folder);
  }
}

/// Hides a folder before removing it, so that a crash in between leaves no half checkpoint under a
/// checkpoint's name.
void RunFolder::discard(const fs::path& path) {
  try {
    fs::path hidden = path;
    if (name_behind(path.filename().string(), "tmp").empty()) {
      hidden = temporary_sibling(path);
      rename_path(path, hidden);
    }
    remove_path(hidden);
  } catch (const FileError& error) {
    warnings +=
        fmt::format("{} The space it takes is not free; remove it by hand.\n", error.what());
  }
}

}  // namespace sinter
