// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/byte_corpus.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "sinter/device/available.hpp"
#include "sinter/files/checkpoint.hpp"
#include "sinter/files/run_mark.hpp"

namespace sinter {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw FileError(fmt::format("Cannot read '{}' as data: {}", printable(path), why));
}

[[noreturn]] void refuse(const std::string& path, int error) {
  std::string advice = error == EACCES   ? " Give yourself the right to read it."
                       : error == ENOENT ? " Check the path; a link must lead to a file."
                                         : "";
  refuse(path, std::generic_category().message(error) + "." + advice);
}

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
  std::vector<ByteCorpus::File> files;
  std::vector<ByteCorpus::LeftOut> left_out;

  explicit Walk(ByteCorpus::Unreadable unreadable)
      : skips(unreadable == ByteCorpus::Unreadable::left_out) {}

  void argument(const std::string& path) {
    if (path.empty()) throw FileError("A data path is empty. Name a file or a folder.");
    struct stat found;
    if (::stat(path.c_str(), &found) != 0) refuse(path, errno);
    if (!S_ISDIR(found.st_mode)) {
      if (!S_ISREG(found.st_mode)) refuse(path, neither);
      return files.push_back({path, std::int64_t(found.st_size)});
    }
    if (const char* what = work_of_a_run(path))
      refuse(path, fmt::format("it is {}. Name the files in it that are text.", what));
    const std::size_t before = files.size();
    entered = {{found.st_dev, found.st_ino}};
    entries_of(path, true);
    if (files.size() == before)
      refuse(path, "the folder holds no files (hidden ones are left out; name them to read them).");
  }

 private:
  static constexpr const char* neither =
      "it is neither a file nor a folder. Write what it gives to a file and name that.";

  /// Leaves out a path below a folder that cannot be read, or refuses it.
  void unreadable(const std::string& path, int error) {
    if (!skips) refuse(path, error);
    left_out.push_back(
        {path, fmt::format("cannot be read: {}", std::generic_category().message(error))});
  }

  void file(const std::string& path, const struct stat& found) {
    if (!S_ISREG(found.st_mode)) {
      if (!skips) refuse(path, neither);
      return left_out.push_back({path, "neither a file nor a folder"});
    }
    if (skips && ::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0)
      return unreadable(path, errno);
    files.push_back({path, std::int64_t(found.st_size)});
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
    if (error && given) refuse(path, error.value());
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

std::int64_t modified_of(const struct stat& found) {
  return std::int64_t(found.st_mtim.tv_sec) * 1'000'000'000 + found.st_mtim.tv_nsec;
}

/// Refuses before a large allocation drives the machine out of memory.
void require_memory(std::int64_t bytes, std::size_t files) {
  const AvailableMemory available = available_memory();
  if (bytes > available.bytes)
    throw FileError(fmt::format(
        "The data have {} bytes in {} files, and the text is kept in memory, but {} {} bytes. Name "
        "fewer files.",
        bytes, files, available.bound, available.bytes));
}

void read_into(ByteCorpus::File& file, unsigned char* out) {
  // With O_NONBLOCK, a file that has become a pipe since it was looked at is not waited for.
  const int descriptor = ::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) refuse(file.path, errno);
  struct stat found{};
  if (::fstat(descriptor, &found) == 0) file.modified = modified_of(found);
  std::int64_t done = 0;
  int error = 0;
  while (done < file.bytes) {
    const ssize_t got = ::read(descriptor, out + done, std::size_t(file.bytes - done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error = errno;
    if (got <= 0) break;
    done += got;
  }
  ::close(descriptor);
  if (error) refuse(file.path, error);
  if (done < file.bytes)
    refuse(file.path,
           fmt::format("it had {} bytes and ended after {}; it changed while it was read.",
                       file.bytes, done));
}

}  // namespace

ByteCorpus::ByteCorpus(const std::vector<std::string>& paths, Unreadable unreadable) {
  if (paths.empty()) throw FileError("No data are named. Name at least one file or folder.");
  Walk walk(unreadable);
  for (const auto& path : paths) walk.argument(path);
  read_files = std::move(walk.files);
  left_out_paths = std::move(walk.left_out);
  std::int64_t total = 0;
  for (const auto& file : read_files)
    if (__builtin_add_overflow(total, file.bytes, &total)) refuse(file.path, EFBIG);
  if (total == 0)
    refuse(read_files.front().path,
           read_files.size() == 1
               ? std::string("the file is empty.")
               : fmt::format("all {} files are empty, this one included.", read_files.size()));
  require_memory(total, read_files.size());
  text.resize(std::size_t(total));
  std::int64_t begin = 0;
  for (auto& file : read_files) {
    read_into(file, text.data() + begin);
    begin += file.bytes;
  }
}

std::string ByteCorpus::left_out_text() const {
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

std::string ByteCorpus::changed() const {
  for (const File& file : read_files) {
    struct stat found;
    const std::string name = printable(file.path);
    if (::stat(file.path.c_str(), &found) != 0)
      return fmt::format("{} is no longer there ({}).", name,
                         std::generic_category().message(errno));
    if (found.st_size != file.bytes)
      return fmt::format("{} has {} bytes now; it had {}.", name, found.st_size, file.bytes);
    if (modified_of(found) != file.modified)
      return fmt::format("{} was written to, though its size is what it was.", name);
  }
  return "";
}

ByteCorpus::Split ByteCorpus::split(double share, int context) const {
  if (!(share > 0 && share < 1))
    throw ArgumentError(
        fmt::format("The share of the text that is held out for validation is {}; it "
                    "must lie between 0 and 1, both excluded.",
                    share));
  const auto size = std::int64_t(text.size());
  const auto held_out = std::int64_t(std::floor(share * double(size)));
  const std::int64_t train = size - held_out, needed = std::int64_t{context} + 1;
  auto counts = [&] {
    return fmt::format(
        "The data are too short: {} bytes in {} file(s), of which {} train and {} are "
        "held out.",
        size, read_files.size(), train, held_out);
  };
  if (train < needed)
    throw ArgumentError(
        fmt::format("{} Training needs at least {} bytes, one window of context {}. "
                    "Give more text or choose a smaller context.",
                    counts(), needed, context));
  if (held_out < 2)
    throw ArgumentError(fmt::format("{} Validation needs at least 2 bytes. Give at least {} bytes.",
                                    counts(), std::int64_t(std::ceil(2 / share))));
  return {std::span(text).first(std::size_t(train)), std::span(text).subspan(std::size_t(train))};
}

}  // namespace sinter
