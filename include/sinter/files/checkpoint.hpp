// SPDX-License-Identifier: Apache-2.0
// A checkpoint folder, which is complete and durable, or absent.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sinter/error.hpp"
#include "sinter/files/safetensors.hpp"

namespace sinter {

namespace detail {
/// A file of a checkpoint, as the manifest describes it.
struct CheckpointFile {
  std::uint64_t bytes;  ///< size of the file
  std::string hash;     ///< XXH3-128 of the whole file, or a sum over its chunks (by_chunks)
  /// True if `hash` is the sum of the chunks' hashes, to which each writer of a part adds its own
  /// (docs/checkpoints.md).
  bool by_chunks = false;
};

/// The content of a checkpoint's manifest.json.
struct Manifest {
  std::int64_t step = 0;  ///< steps of training that were done
  std::string info;       ///< the caller's JSON
  std::string sinter;     ///< the version of Sinter that wrote it; empty in the oldest checkpoints
  /// The run that wrote it, as named by RunFolder: 32 random hexadecimal digits; or empty.
  std::string run;
  std::map<std::string, CheckpointFile, std::less<>> files{};  ///< by name
};

/// A checkpoint is not what was saved: a file is missing, cut short or changed. (A checkpoint that
/// merely cannot be read, now or by this program, gives a plain FileError.)
struct DamagedError : FileError {
  std::string problem;  ///< what is wrong with which checkpoint

  /// advice    what to use instead, as a sentence; empty for none
  explicit DamagedError(std::string what_is_wrong, const std::string& advice = "")
      : FileError(what_is_wrong + (advice.empty() ? "" : " " + advice)),
        problem(std::move(what_is_wrong)) {}
};

/// Writes a checkpoint into the temporary sibling `.<name>.tmp-<pid>`, which commit() renames to
/// the folder. Without commit() nothing remains of it.
class CheckpointWriter {
  std::filesystem::path target, temporary;
  std::map<std::string, CheckpointFile, std::less<>> files;
  bool committed = false;

  void require_new(std::string_view name) const;
  void write(std::string_view name, const std::function<CheckpointFile(OutputFile&)>& content);

 public:
  /// `folder` may exist if it is empty or a Sinter checkpoint; commit() then replaces it.
  /// throws    FileError if anything else is there
  explicit CheckpointWriter(std::filesystem::path folder);
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;
  ~CheckpointWriter();

  /// Writes, hashes and syncs one file.
  /// throws    FileError; ArgumentError unless `name` is a plain file name that is new here
  void add_file(std::string_view name, std::string_view content);
  /// Writes, hashes and syncs one file that `content` writes.
  void add_file(std::string_view name, const std::function<void(OutputFile&)>& content);
  /// Writes and syncs a safetensors file, which is hashed by chunks.
  /// throws    as add_file() and write_safetensors()
  void add_tensors(std::string_view name, std::span<const TensorView> tensors);
  /// Adds a file that other code has written to path_of(name) and synced.
  /// throws    ArgumentError unless `name` is a plain file name that is new here
  void add_written(std::string_view name, const CheckpointFile& file);
  /// The path of a file until commit().
  std::filesystem::path path_of(std::string_view name) const { return temporary / name; }

  /// Writes manifest.json (the size and hash of each file, the step, and the caller's JSON), syncs
  /// everything, renames the folder to its name and syncs its parent. `info` is any JSON text:
  /// recipe, sampler, generators, schedule. `run` becomes Manifest::run.
  /// throws    FileError, ArgumentError; the folder is then what it was before
  void commit(std::int64_t step, std::string_view info, std::string_view run = "");
};
}  // namespace detail

/// A checkpoint whose manifest, and the sizes and hashes of all files, have been verified. Files
/// that the manifest does not list are never looked at.
class CheckpointReader {
  std::filesystem::path real;
  detail::Manifest manifest;

 public:
  /// Reads all of the checkpoint. `links` applies to its files; the folder itself may be a link.
  /// throws    DamagedError that names the damaged or missing file and, where the checkpoint lies
  ///           in a run folder, another one whose manifest and sizes are good; FileError if it
  ///           cannot be read
  explicit CheckpointReader(const std::filesystem::path& folder,
                            detail::Links links = detail::Links::followed);

  /// The folder with all links resolved, so that it stays the same when `last` moves on.
  const std::filesystem::path& folder() const { return real; }
  std::int64_t step() const { return manifest.step; }  ///< Manifest::step
  /// The version of Sinter that wrote the checkpoint, as version() returns it. Empty if the
  /// manifest is too old to contain it.
  const std::string& written_by() const { return manifest.sinter; }
  /// The run that wrote it, as given to commit().
  const std::string& run() const { return manifest.run; }
  /// The JSON that was given to commit().
  const std::string& info() const { return manifest.info; }
  /// True if the manifest lists a file.
  bool has(std::string_view name) const { return manifest.files.contains(name); }
  /// The path of a file that the manifest lists.
  /// throws    FileError if the manifest does not list it
  std::filesystem::path file(std::string_view name) const;
};

namespace detail {
/// True if a folder holds a manifest that begins as Sinter's do. No other file is read.
[[nodiscard]] bool looks_like_checkpoint(const std::filesystem::path& folder);

/// The name of a step's checkpoint folder, such as "step-00000040".
std::string step_folder_name(std::int64_t step);
/// True if step_folder_name() returns this name for some step.
bool is_step_name(const std::string& name);

/// A checkpoint of a run, by its name.
struct StepFolder {
  std::int64_t step;             ///< the step in the folder's name
  std::filesystem::path folder;  ///< path of the folder
};
/// The folders `step-<digits>` in a run folder, the latest step first. Their content is not read.
/// throws    FileError
std::vector<StepFolder> step_folders(const std::filesystem::path& run);
}  // namespace detail

}  // namespace sinter
