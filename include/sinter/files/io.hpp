// Files that are whole or absent: durable writing, checked reading, errors that name the file.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "sinter/error.hpp"

namespace sinter {

/// Throws FileError: "Cannot <action> <path>: <text of errno>. <what to do>".
[[noreturn]] void throw_file_error(std::string_view action, const std::filesystem::path& path,
                                   int error);

/// A name from a file as it may stand in a message: control characters become \xNN, so that it can
/// neither end the message nor steer a terminal.
std::string printable(std::string_view text);

/// Owns a file descriptor.
class Descriptor {
  int value = -1;

 public:
  Descriptor() = default;
  explicit Descriptor(int descriptor) : value(descriptor) {}
  Descriptor(Descriptor&& other) noexcept : value(std::exchange(other.value, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value, other.value);
    return *this;
  }
  ~Descriptor();

  int get() const { return value; }
  bool is_open() const { return value >= 0; }
  /// close(2); the number becomes -1 whatever it answers. Returns 0 or errno.
  int close();
};

/// A regular file that is read at offsets with pread, never mapped: a file that shrinks or a disk
/// that fails while it is read is a FileError, not a signal.
class InputFile {
  std::filesystem::path name;
  Descriptor descriptor;
  std::uint64_t length = 0;

 public:
  /// Throws FileError if the file is missing, unreadable or not a regular file.
  explicit InputFile(std::filesystem::path path);

  const std::filesystem::path& path() const { return name; }
  /// Bytes, when it was opened.
  std::uint64_t size() const { return length; }
  /// Copies bytes [offset, offset + bytes). Throws FileError if the file ends before.
  void read_at(std::uint64_t offset, void* into, std::size_t bytes) const;
};

/// A file that is written front to back and hashed on the way. It is durable only after finish().
class OutputFile {
  struct Hash;
  std::filesystem::path name;
  Descriptor descriptor;
  std::unique_ptr<Hash> state;
  std::uint64_t written = 0;

 public:
  /// Creates the file, or empties it if it exists.
  explicit OutputFile(std::filesystem::path path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  const std::filesystem::path& path() const { return name; }
  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// fsync and close. Nothing may be written afterwards.
  void finish();

  /// Bytes written so far.
  std::uint64_t bytes() const { return written; }
  /// XXH3-128 of the bytes written so far: 32 hexadecimal digits.
  std::string hash() const;
};

/// XXH3-128 of a text: 32 hexadecimal digits.
std::string hash_of(std::string_view text);
/// XXH3-128 of a file's content, as OutputFile::hash() had it.
std::string hash_of_file(const std::filesystem::path& path);

/// The whole file. Throws FileError if it has more than `limit` bytes.
std::string read_file(const std::filesystem::path& path, std::uint64_t limit = std::uint64_t(1)
                                                                               << 40);

/// Writes to a temporary sibling, syncs it, renames it to `path` and syncs the folder: under the
/// name `path` stands the old content or the new one, never a part. Throws FileError, and then
/// removes the temporary file; what `fill` throws passes through.
void write_file_atomically(const std::filesystem::path& path,
                           const std::function<void(OutputFile&)>& fill);
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// `.<name>.tmp-<pid>` beside `path`. A name like this is never the only copy of anything.
std::filesystem::path temporary_sibling(const std::filesystem::path& path);
/// The folder that holds `path`, "." for a bare name. A slash at the end of `path` does not count.
std::filesystem::path parent_folder(const std::filesystem::path& path);

/// Makes the names in a folder durable. (A rename is not, until its folder is synced.)
void fsync_folder(const std::filesystem::path& folder);
void rename_path(const std::filesystem::path& from, const std::filesystem::path& to);
void create_folders(const std::filesystem::path& folder);
/// Removes a file or a folder with all in it. Throws FileError; nothing there is no error.
void remove_path(const std::filesystem::path& path);

/// Puts the folder `fresh` in the place of the folder `target`, durably, and only then removes what
/// was there. With `exchange` in one atomic step (Linux' RENAME_EXCHANGE). Where the file system
/// has none (NFS), or without `exchange`, in two: the old folder is moved to `.<name>.old-<pid>`
/// first; a crash between them leaves that folder, see recover_replaced(). If it throws, the old
/// folder is back in its place.
void replace_folder(const std::filesystem::path& fresh, const std::filesystem::path& target,
                    bool exchange = true);
/// Ends what a crash left of replace_folder() in `parent`: an `.<name>.old-<pid>` goes back to
/// `<name>` if that is missing, else it is removed.
void recover_replaced(const std::filesystem::path& parent);

/// `.<name>.<kind>-<digits>` → name, else "". With kind "tmp" or "old".
std::string name_behind(std::string_view file_name, std::string_view kind);

}  // namespace sinter
