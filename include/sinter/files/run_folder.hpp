// The folder of one run: a lock, numbered checkpoints, the links `last` and `best`.
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

/// Holds the run folder's lock while it lives.
///
///   DIR/lock               flock(2)ed by the live run; its pid and host inside
///   DIR/step-00000040/     a checkpoint (checkpoint.hpp)
///   DIR/last, DIR/best     relative links to checkpoints that are complete
///   DIR/metrics.jsonl      (metrics_log.hpp)
class RunFolder {
 public:
  enum class Mode {
    fresh,   ///< a new run: an error if DIR holds checkpoints or metrics
    resume,  ///< an error if DIR holds no good checkpoint
    either   ///< resume if DIR holds checkpoints (an error if none is good), else fresh
  };

  /// Creates DIR (except to resume), takes the lock, removes what crashed saves left, finds the
  /// newest checkpoint that verifies and swings `last` to it. Newer ones that are damaged are then
  /// renamed to `step-….damaged` and named in the warnings. `keep` ≥ 2 checkpoints are kept, and
  /// what `best` points to.
  /// Throws FileError: a live run holds the lock (its pid and host are named; the lock of a dead
  /// process is free), nothing to resume, DIR already used, not a folder, not writable.
  RunFolder(const std::filesystem::path& folder, Mode mode, int keep = 2);

  const std::filesystem::path& path() const { return folder; }
  std::filesystem::path metrics_path() const { return folder / "metrics.jsonl"; }

  /// The verified checkpoint to go on from; none for a fresh run.
  const std::optional<CheckpointReader>& resume_point() const { return found; }
  /// The newest complete checkpoint: verified at the start, or saved since. Empty if none.
  const std::filesystem::path& newest_good() const { return newest; }

  /// Saves step's checkpoint: `fill` adds its files, `info` is the JSON of its manifest. When it is
  /// durable `last` (and `best`) swing to it, then old ones are pruned. A step may be saved again;
  /// the older checkpoint stays until the new one is durable. If it throws, the older checkpoints
  /// and the links are as before. (Old checkpoints that cannot be removed are only a warning.)
  std::filesystem::path save(std::int64_t step, std::string_view info,
                             const std::function<void(CheckpointWriter&)>& fill, bool best = false);

  /// What the user should be told, a sentence a line; empties it.
  std::string take_warnings() { return std::exchange(warnings, {}); }

 private:
  std::filesystem::path folder;
  Descriptor lock;
  std::optional<CheckpointReader> found;
  std::filesystem::path newest;
  std::string warnings;
  int keep;

  void take_lock();
  void refuse_if_used() const;
  void find_resume_point();
  void set_aside(const std::filesystem::path& damaged, const std::string& why);
  void mend_links();
  void clean();
  void prune();
  void discard(const std::filesystem::path& path);
};

/// Points the link `link` at `target` (a name in the same folder) in one atomic, synced step.
void swing_link(const std::filesystem::path& link, const std::filesystem::path& target);

}  // namespace sinter
