// SPDX-License-Identifier: Apache-2.0
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

namespace sinter::detail {

/// throws    FileError: "Cannot <action> <path>: <text of errno>. <what to do>"
[[noreturn]] void throw_file_error(std::string_view action, const std::filesystem::path& path,
                                   int error);

/// A name or a text from a file, made safe for a message. Control characters and bytes that are not
/// UTF-8 become \xNN, so that they can neither end the message nor control a terminal. What exceeds
/// `most` bytes becomes "…".
std::string printable(std::string_view text, std::size_t most = 200);

/// Owns a file descriptor.
class Descriptor {
  int value = -1;

 public:
  Descriptor() = default;
  /// Takes over an open descriptor, or -1.
  explicit Descriptor(int descriptor) : value(descriptor) {}
  /// Takes over the other's descriptor.
  Descriptor(Descriptor&& other) noexcept : value(std::exchange(other.value, -1)) {}
  /// Takes over the other's descriptor, and closes its own before.
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value, other.value);
    return *this;
  }
  ~Descriptor();

  /// The descriptor; -1 if there is none.
  int get() const { return value; }
  bool is_open() const { return value >= 0; }  ///< true if there is a descriptor
  /// Calls close(2) and gives the descriptor up, even if that fails. Returns 0 or errno.
  int close();
};

/// How a path that ends in a symbolic link is opened.
enum class Links {
  followed,  ///< The link is followed, as a user who gave the path may want.
  refused    ///< A link is an error. Files of a run's folder are opened this way, so that other
             ///< content of the folder, or its other writers, cannot direct the run to other files.
};

/// A regular file that is read at offsets with pread. It is never mapped, so that a shrinking file
/// or a failing disk gives a FileError instead of a signal.
class InputFile {
  std::filesystem::path name;
  Descriptor descriptor;
  std::uint64_t length = 0;
  std::int64_t changed = 0;

 public:
  /// throws    FileError if the file is missing, unreadable or not a regular file, or a link where
  ///           links are refused
  explicit InputFile(std::filesystem::path path, Links links = Links::followed);

  const std::filesystem::path& path() const { return name; }  ///< the path that was given
  /// The size in bytes when the file was opened.
  std::uint64_t size() const { return length; }
  /// Time of the last write before the file was opened, in nanoseconds since 1970.
  std::int64_t modified() const { return changed; }
  /// Copies bytes [offset, offset + bytes) to `into`.
  /// throws    FileError if the file ends before that
  void read_at(std::uint64_t offset, void* into, std::size_t bytes) const;
};

/// A file that is written from front to back and hashed on the way. It is whole and durable only
/// after finish(): bytes wait in a buffer of 1 MiB, and errors appear when that is full or in
/// finish(). All functions that open, write or sync throw FileError.
class OutputFile {
  struct State;
  std::filesystem::path name;
  Descriptor descriptor;
  std::unique_ptr<State> state;
  std::uint64_t written = 0;

 public:
  /// Creates the file, or empties an existing one; with Links::refused, that is an error.
  explicit OutputFile(std::filesystem::path path, Links links = Links::followed);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  const std::filesystem::path& path() const { return name; }  ///< the path that was given
  void write(const void* data, std::size_t bytes);            ///< Appends bytes.
  void write(std::string_view text) { write(text.data(), text.size()); }  ///< Appends a text.
  /// Writes the rest of the buffer, syncs and closes the file. Nothing may be written afterwards.
  void finish();

  /// The number of bytes that write() was given so far.
  std::uint64_t bytes() const { return written; }
  /// XXH3-128 of those bytes, as 32 hexadecimal digits.
  std::string hash() const;
};

/// XXH3-128 of a text, as 32 hexadecimal digits.
std::string hash_of(std::string_view text);
/// XXH3-128 of a file's content from byte `from` on; from 0, it equals OutputFile::hash() of when
/// the file was written.
/// requires  from <= file.size()
/// throws    FileError
std::string hash_of_file(const InputFile& file, std::uint64_t from = 0);
/// hash_of_file() of the whole file of this path.
std::string hash_of_file(const std::filesystem::path& path);

/// The content of a file.
/// throws    FileError, also if the file has more than `limit` bytes
std::string read_file(const InputFile& file, std::uint64_t limit = std::uint64_t(1) << 40);
/// read_file() of the file of this path.
std::string read_file(const std::filesystem::path& path, std::uint64_t limit = std::uint64_t(1)
                                                                               << 40);

/// Writes to a temporary sibling, syncs it, renames it to `path` and syncs the folder, so that
/// `path` always holds the old content or the new one, never a part of it.
/// throws    FileError, or what `fill` throws; the temporary file is then removed
void write_file_atomically(const std::filesystem::path& path,
                           const std::function<void(OutputFile&)>& fill);
/// write_file_atomically() of a text.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// `.<name>.tmp-<pid>` beside `path`. A file of such a name is never the only copy of anything.
std::filesystem::path temporary_sibling(const std::filesystem::path& path);
/// The folder that holds `path`; "." for a bare name. A slash at the end of `path` does not count.
std::filesystem::path parent_folder(const std::filesystem::path& path);

/// Makes the names in a folder durable. (A rename is not durable until its folder is synced.)
/// throws    FileError
void fsync_folder(const std::filesystem::path& folder);
/// throws    FileError
void rename_path(const std::filesystem::path& from, const std::filesystem::path& to);
/// Creates a folder and those above it, each durably; it may exist.
/// throws    FileError
void create_folders(const std::filesystem::path& folder);
/// Removes a file, or a folder with everything in it. It is no error if nothing is there.
/// throws    FileError
void remove_path(const std::filesystem::path& path);

/// Writes a folder. `fill` writes its files to the path that it is given; they appear in `folder`
/// only when all are durable. `folder` may exist if it is empty.
/// throws    FileError, or what `fill` throws; nothing is then left of it
void write_folder_atomically(const std::filesystem::path& folder,
                             const std::function<void(const std::filesystem::path&)>& fill);

/// Puts the folder `fresh` in the place of the folder `target`, durably, and only then removes the
/// old one. With `exchange` the two change places atomically (Linux' RENAME_EXCHANGE). Without it,
/// or if the file system cannot do that (NFS), the old folder is first moved to
/// `.<name>.old-<pid>`, where recover_replaced() finds it after a crash in between.
/// throws    FileError; the old folder is then back in its place
void replace_folder(const std::filesystem::path& fresh, const std::filesystem::path& target,
                    bool exchange = true);
/// Completes replace_folder() in `parent` after a crash: a `.<name>.old-<pid>` is renamed back to
/// `<name>` if that is missing, else it is removed. With `is_ours`, only names for which it returns
/// true count.
/// throws    FileError
void recover_replaced(const std::filesystem::path& parent,
                      const std::function<bool(const std::string&)>& is_ours = {});

/// The name in `.<name>.<kind>-<digits>`, or "" if `file_name` is not of that form. `kind` is "tmp"
/// or "old".
std::string name_behind(std::string_view file_name, std::string_view kind);

}  // namespace sinter::detail
