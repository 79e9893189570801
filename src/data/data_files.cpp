// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/data_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "data/file_state.hpp"
#include "data/refuse_data.hpp"
#include "files/system.hpp"
#include "sinter/files/checkpoint.hpp"
#include "sinter/files/run_mark.hpp"

namespace sinter {
using namespace detail;

namespace detail {
void refuse_data(const std::string& path, const std::string& why) {
  throw FileError(fmt::format("Cannot read '{}' as data: {}", printable(path), why));
}

void refuse_data(const std::string& path, int error) {
  std::string advice = error == EACCES   ? " Give yourself the right to read it."
                       : error == ENOENT ? " Check the path; a link must lead to a file."
                                         : "";
  refuse_data(path, std::generic_category().message(error) + "." + advice);
}

void refuse_empty_data(const std::string& path, std::size_t files) {
  refuse_data(path, files == 1 ? std::string("the file is empty.")
                               : fmt::format("all {} files are empty, this one included.", files));
}
}  // namespace detail

namespace {

std::string join(const std::string& folder, const std::string& name) {
  return folder.ends_with('/') ? folder + name : folder + '/' + name;
}

/// What a folder is if it is no text, in words; else nullptr.
const char* work_of_a_run(const std::string& folder) {
  if (looks_like_checkpoint(folder)) return "a checkpoint";
  return looks_like_run(folder) ? "the folder of a run" : nullptr;
}

/// Finds the files that the given paths name, in the order of reading.
class Walk {
  std::set<std::pair<dev_t, ino_t>> entered;  // folders below the path at hand
  bool skips;                                 // what cannot be read

 public:
  std::vector<DataFiles::File> files;
  std::vector<DataFiles::LeftOut> left_out;

  explicit Walk(DataFiles::Unreadable unreadable)
      : skips(unreadable == DataFiles::Unreadable::left_out) {}

  void argument(const std::string& path) {
    if (path.empty()) throw FileError("A data path is empty. Name a file or a folder.");
    struct stat found;
    if (::stat(path.c_str(), &found) != 0) refuse_data(path, errno);
    if (!S_ISDIR(found.st_mode)) {
      if (!S_ISREG(found.st_mode)) refuse_data(path, neither);
      return files.push_back({path, std::int64_t(found.st_size), modified_of(found)});
    }
    if (const char* what = work_of_a_run(path))
      refuse_data(path, fmt::format("it is {}. Name the files in it that are text.", what));
    const std::size_t before = files.size();
    entered = {{found.st_dev, found.st_ino}};
    entries_of(path, true);
    if (files.size() == before)
      refuse_data(path,
                  "the folder holds no files (hidden ones are left out; name them to read them).");
  }

 private:
  static constexpr const char* neither =
      "it is neither a file nor a folder. Write what it gives to a file and name that.";

  /// Leaves out a path below a folder that cannot be read, or refuses it.
  void unreadable(const std::string& path, int error) {
    if (!skips) refuse_data(path, error);
    left_out.push_back(
        {path, fmt::format("cannot be read: {}", std::generic_category().message(error))});
  }

  void file(const std::string& path, const struct stat& found) {
    if (!S_ISREG(found.st_mode)) {
      if (!skips) refuse_data(path, neither);
      return left_out.push_back({path, "neither a file nor a folder"});
    }
    if (skips && ::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0)
      return unreadable(path, errno);
    files.push_back({path, std::int64_t(found.st_size), modified_of(found)});
  }

  void folder(const std::string& path, const struct stat& found) {
    if (!entered.insert({found.st_dev, found.st_ino}).second)
      return left_out.push_back({path, "the same folder was reached before by another path"});
    if (const char* what = work_of_a_run(path)) return left_out.push_back({path, what});
    entries_of(path);
  }

  struct Entry {
    std::string name;  // with a '/' behind that of a folder
    struct stat found;
  };

  /// Visits what is in a folder in byte order: that of paths, for folders' names end in '/'.
  void entries_of(const std::string& path, bool given = false) {
    std::vector<std::string> names, hidden;
    std::error_code error;
    std::filesystem::directory_iterator at(path, error), end;
    for (; !error && at != end; at.increment(error)) {
      const std::string name = at->path().filename().native();
      (name.starts_with('.') ? hidden : names).push_back(name);
    }
    if (error && given) refuse_data(path, error.value());
    if (error) return unreadable(path, error.value());
    std::sort(names.begin(), names.end());
    std::vector<Entry> entries;
    for (std::string& name : names) {
      Entry entry{std::move(name), {}};
      if (::stat(join(path, entry.name).c_str(), &entry.found) != 0) {
        unreadable(join(path, entry.name), errno);
        continue;
      }
      if (S_ISDIR(entry.found.st_mode)) entry.name += '/';
      entries.push_back(std::move(entry));
    }
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.name < b.name; });
    std::sort(hidden.begin(), hidden.end());
    for (const auto& name : hidden) left_out.push_back({join(path, name), "hidden"});
    for (Entry& entry : entries) {
      const bool is_folder = entry.name.ends_with('/');
      if (is_folder) entry.name.pop_back();
      const std::string child = join(path, entry.name);
      is_folder ? folder(child, entry.found) : file(child, entry.found);
    }
  }
};

}  // namespace

DataFiles::DataFiles(const std::vector<std::string>& paths, Unreadable unreadable) {
  if (paths.empty()) throw FileError("No data are named. Name at least one file or folder.");
  Walk walk(unreadable);
  for (const auto& path : paths) walk.argument(path);
  found = std::move(walk.files);
  left_out_paths = std::move(walk.left_out);
  for (const auto& file : found)
    if (__builtin_add_overflow(total, file.bytes, &total)) refuse_data(file.path, EFBIG);
  if (total == 0) refuse_empty_data(found.front().path, found.size());
}

std::string DataFiles::left_out_text() const {
  struct Group {
    std::string why, first;
    int paths;
  };
  std::vector<Group> groups;
  for (const LeftOut& one : left_out_paths) {
    auto same = std::find_if(groups.begin(), groups.end(),
                             [&](const Group& group) { return group.why == one.why; });
    if (same == groups.end())
      groups.push_back({one.why, one.path, 1});
    else
      ++same->paths;
  }
  std::string lines;
  for (const Group& group : groups)
    lines +=
        fmt::format("left out of the data: {}{} ({})\n", printable(group.first),
                    group.paths > 1 ? fmt::format(" and {} more", group.paths - 1) : "", group.why);
  return lines;
}

std::string DataFiles::changed() const {
  for (const File& file : found)
    if (std::string change = change_of(file); !change.empty()) return change;
  return "";
}

}  // namespace sinter
