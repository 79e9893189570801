// SPDX-License-Identifier: Apache-2.0
// The folder of one run, with a lock, numbered checkpoints and the links `last` and `best`.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "sinter/files/checkpoint.hpp"
#include "sinter/files/io.hpp"

namespace sinter {

/// A run's folder, whose lock this object holds while it lives.
///
///   DIR/lock               locked with flock(2) by the live run; holds its pid and host, and a
///                          random name that all checkpoints of the run contain (Manifest::run)
///   DIR/step-00000040/     a checkpoint (checkpoint.hpp)
///   DIR/last, DIR/best     relative links to complete checkpoints; where the file system has no
///                          symbolic links, plain files with their names, and a warning
///   DIR/metrics.jsonl      the log (metrics_log.hpp)
///
/// These files are not opened through links, and nothing else in DIR is written, renamed or
/// removed, except temporaries of these names: `.step-00000040.tmp-123`, `.last.tmp-123`.
class RunFolder {
 public:
  /// How a run starts.
  enum class Mode {
    fresh,   ///< Start a new run; it is an error if DIR holds checkpoints or metrics.
    resume,  ///< Resume; it is an error if DIR holds no good checkpoint.
    /// Resume if DIR holds checkpoints (an error if none is good), else start fresh. A fresh start
    /// then accepts metrics of a run that ended before its first checkpoint: a warning announces
    /// the new start, and the log (metrics_log.hpp) drops them.
    either
  };

  /// Creates DIR (except to resume), takes the lock, removes what crashed saves left, finds the
  /// newest checkpoint that verifies and points `last` to it. Damaged newer ones are renamed to
  /// `step-….damaged` and named in the warnings. The `keep` newest checkpoints are kept, and the
  /// one that `best` points to.
  /// throws    FileError if a live run holds the lock (the error names its pid and host; the lock
  ///           of a dead process is free), there is nothing to resume, something else has the name
  ///           of a run's file, a checkpoint is of another run or cannot be read, or DIR is used
  ///           already, not a folder or not writable; ArgumentError unless keep >= 2
  RunFolder(const std::filesystem::path& folder, Mode mode, int keep = 2);
  /// The folder for a rank that is not the first, where ranks are processes. Takes no lock, writes,
  /// renames and removes nothing, and ignores damaged checkpoints.
  /// throws    FileError if there is nothing to resume, or something cannot be read
  static RunFolder seen(const std::filesystem::path& folder, Mode mode);

  /// True if a folder holds checkpoints of a run, good or not, or what a crash left of one.
  /// throws    FileError if it cannot be listed
  static bool holds_checkpoints(const std::filesystem::path& folder);

  /// Returns the checkpoint of a run by its name: "best", "last", or the number of a step. It takes
  /// no lock, and verifies nothing (CheckpointReader does).
  ///   CheckpointReader best(RunFolder::checkpoint("runs/first", "best"));
  /// throws    FileError, with the steps that are there, if there is no such checkpoint;
  ///           ArgumentError for another name
  static std::filesystem::path checkpoint(const std::filesystem::path& run, std::string_view name);

  const std::filesystem::path& path() const { return folder; }  ///< path of the run's folder
  /// The path of the run's log.
  std::filesystem::path metrics_path() const { return folder / "metrics.jsonl"; }

  /// The verified checkpoint to continue from; a fresh run has none.
  const std::optional<CheckpointReader>& resume_point() const { return found; }
  /// The newest complete checkpoint, verified at the start or saved since; empty if there is none.
  const std::filesystem::path& newest_good() const { return newest; }
  /// True if this process writes to the folder; false after seen().
  bool writes() const { return is_written; }

  /// Saves the checkpoint of a step and returns its folder. `fill` adds its files, `info` is the
  /// JSON for its manifest. Once it is durable, `last` points to it (and `best`, if asked), and old
  /// checkpoints are removed; one that cannot be removed is only a warning. A step may be saved
  /// again; the older checkpoint stays until the new one is durable. If DIR has been renamed, its
  /// new name is used; if it has been removed, it is created again. Both give a warning.
  /// throws    FileError, also if another run has taken the folder's place, or what `fill`
  ///           throws; the older checkpoints then remain, and the links still point to complete
  ///           ones
  std::filesystem::path save(std::int64_t step, std::string_view info,
                             const std::function<void(detail::CheckpointWriter&)>& fill,
                             bool best = false);

  /// Keeps so many of the newest checkpoints from now on, in place of the constructor's number.
  /// throws    ArgumentError unless keep >= 2
  void keep_newest(int keep);
  /// Removes checkpoints that are older than those to be kept, as save() does. A loop calls it once
  /// it has restored the resume point. Does nothing in a folder that is only seen.
  void remove_old();
  /// Checks that the disk has room for a checkpoint of so many bytes. A file system that does not
  /// say how much is free counts as one that has room.
  /// throws    FileError with both sizes
  void require_room(std::uint64_t bytes) const;

  /// Returns the warnings for the user, one sentence per line, and clears them.
  [[nodiscard]] std::string take_warnings() { return std::exchange(warnings, {}); }

 private:
  std::filesystem::path folder;
  detail::Descriptor lock;
  std::optional<CheckpointReader> found;
  std::filesystem::path newest;
  std::string run;  // its random name
  std::string warnings;
  int keep;
  bool had_lock = false;  // a run has been here before
  bool is_written = true;
  bool told_of_links = false;  // that the file system has none

  void begin(Mode mode);
  void take_lock();
  void write_lock(int file) const;
  void find_again();
  bool has_metrics() const;
  void refuse_if_used() const;
  explicit RunFolder(const std::filesystem::path& seen_folder);
  void find_resume_point();
  void refuse_foreign();
  void set_aside(const std::filesystem::path& checkpoint, std::string_view as,
                 const std::string& why);
  void mend_links();
  void point(const char* link, const std::filesystem::path& checkpoint);
  void clean();
  void prune(std::int64_t reached);
  void discard(const std::filesystem::path& path);
};

}  // namespace sinter
