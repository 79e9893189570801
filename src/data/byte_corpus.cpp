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

#include "sinter/error.hpp"

namespace sinter {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw FileError(fmt::format("Cannot read '{}' as data: {}", path, why));
}

[[noreturn]] void refuse(const std::string& path, int error) {
  std::string advice = error == EACCES   ? " Give yourself the right to read it."
                       : error == ENOENT ? " Check the path; a link must lead to a file."
                                         : "";
  refuse(path, std::generic_category().message(error) + "." + advice);
}

struct stat status(const std::string& path) {
  struct stat found;
  if (::stat(path.c_str(), &found) != 0) refuse(path, errno);
  return found;
}

std::string join(const std::string& folder, const std::string& name) {
  return folder.ends_with('/') ? folder + name : folder + '/' + name;
}

/// Finds the files that the given paths name, in the order of reading.
class Walk {
  std::set<std::pair<dev_t, ino_t>> entered;  // folders below the path at hand

 public:
  std::vector<ByteCorpus::File> files;
  std::vector<ByteCorpus::LeftOut> left_out;

  void argument(const std::string& path) {
    if (path.empty()) throw FileError("A data path is empty. Name a file or a folder.");
    const auto found = status(path);
    if (!S_ISDIR(found.st_mode)) return file(path, found);
    const std::size_t before = files.size();
    entered.clear();
    folder(path, found);
    if (files.size() == before)
      refuse(path, "the folder holds no files (hidden ones are left out; name them to read them).");
  }

 private:
  void file(const std::string& path, const struct stat& found) {
    if (!S_ISREG(found.st_mode))
      refuse(path,
             "it is neither a file nor a folder. Write what it gives to a file and name that.");
    files.push_back({path, std::int64_t(found.st_size)});
  }

  void folder(const std::string& path, const struct stat& found) {
    if (!entered.insert({found.st_dev, found.st_ino}).second) {
      left_out.push_back({path, "the same folder was reached before by another path"});
      return;
    }
    for (const auto& name : visible_names(path)) {
      const bool is_folder = name.ends_with('/');
      const std::string child = join(path, is_folder ? name.substr(0, name.size() - 1) : name);
      is_folder ? folder(child, status(child)) : file(child, status(child));
    }
  }

  /// The sorted names in a folder, with a '/' behind those of folders, so that the walk visits
  /// paths in byte order.
  std::vector<std::string> visible_names(const std::string& path) {
    std::vector<std::string> names, hidden;
    std::error_code error;
    std::filesystem::directory_iterator entries(path, error), end;
    for (; !error && entries != end; entries.increment(error)) {
      const std::string name = entries->path().filename().native();
      if (name.starts_with('.'))
        hidden.push_back(name);
      else
        names.push_back(name);
    }
    if (error) refuse(path, error.value());
    for (auto& name : names)
      if (S_ISDIR(status(join(path, name)).st_mode)) name += '/';
    std::sort(names.begin(), names.end());
    std::sort(hidden.begin(), hidden.end());
    for (const auto& name : hidden) left_out.push_back({join(path, name), "hidden"});
    return names;
  }
};

/// Refuses before a large allocation drives the machine out of memory.
void require_memory(std::int64_t bytes, std::size_t files) {
  const auto memory = std::int64_t(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  if (memory > 0 && bytes > memory)
    throw FileError(
        fmt::format("The data have {} bytes in {} files, but this machine has {} bytes "
                    "of memory, and the text is kept in it. Name fewer files.",
                    bytes, files, memory));
}

void read_into(const ByteCorpus::File& file, unsigned char* out) {
  // With O_NONBLOCK, a file that has become a pipe since it was looked at is not waited for.
  const int descriptor = ::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) refuse(file.path, errno);
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

ByteCorpus::ByteCorpus(const std::vector<std::string>& paths) {
  if (paths.empty()) throw FileError("No data are named. Name at least one file or folder.");
  Walk walk;
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
  for (const auto& file : read_files) {
    read_into(file, text.data() + begin);
    begin += file.bytes;
  }
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
