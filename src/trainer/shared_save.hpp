// SPDX-License-Identifier: Apache-2.0
// Checkpoints that ranks, which are processes, write together.
#pragma once
#include <atomic>
#include <filesystem>
#include <functional>
#include <future>
#include <string>
#include <thread>

#include "files/shared_file.hpp"
#include "sinter/files/run_folder.hpp"
#include "trainer/slices.hpp"

namespace sinter::detail {

/// The part of a file that a rank has written.
struct Written {
  ChunkSum sum;
  std::uint64_t bytes = 0;
};

/// Saves a checkpoint that ranks write together. Rank 0 makes empty files under a checkpoint's
/// hidden name. Each rank opens them, copies its part of them, and a thread of it writes the copy.
/// When all have voted that their parts are on the disk, they sum the hashes, and rank 0 makes a
/// checkpoint of the files. So a rank that dies, or whose disk is full, leaves the older
/// checkpoint, and no other under a checkpoint's name. All ranks call the same functions at the
/// same time. They exchange what only one knows as sums or, while training continues, as votes in a
/// step.
class SharedSave {
 public:
  /// Prepares to save.
  /// requires  all outlive it; ranks are processes, and each has a folder, which rank 0 writes
  SharedSave(TrainerCore& trainer, RunFolder& folder, Snapshot& snapshot);
  /// Abandons an incomplete checkpoint, without the others.
  ~SharedSave();
  SharedSave(const SharedSave&) = delete;
  SharedSave& operator=(const SharedSave&) = delete;

  /// Begins, as SaveStage::begin(). end() throws what goes wrong.
  bool begin(const std::string& info, bool best, const std::function<void()>& before,
             bool in_background);
  bool is_busy() const { return phase_ != Phase::idle; }
  /// Votes with `done` and `failed` on the progress of this rank.
  /// requires  is_busy(); the next two functions also require this
  void vote(kernel::Votes& own);
  /// Reads the votes of all ranks. When all are done, continues: first lets rank 0 make a
  /// checkpoint of the files.
  void count(const kernel::Votes& all);
  /// True if the checkpoint is complete, or has failed, on all ranks.
  bool has_ended() const { return phase_ == Phase::complete || phase_ == Phase::failed; }
  /// Waits for the end, as SaveStage::end().
  std::filesystem::path end();
  std::string take_note() { return std::exchange(note_, {}); }

 private:
  class FolderWork;
  enum class Phase : std::uint8_t { idle, writing, completing, complete, failed };

  bool is_first() const { return world_.rank == 0; }
  double sum(double value) { return trainer_.sum_over_processes(value); }
  bool is_any(bool value) { return sum(value) > 0; }
  double begin_folder(const std::string& info, bool best, const std::function<void()>& before);
  std::vector<SharedFile> open_files(double mark, int process) const;
  /// The memory that holds the slices to be written.
  enum class Source : std::uint8_t { device, host, snapshot };
  Source take(std::vector<SlicedFile>& files, bool all_see, bool in_background);
  void write(std::vector<SlicedFile> files, std::vector<SharedFile> open, Source source,
             bool in_background);
  void wait();
  void take_result();
  void end_folder_work();
  void fail();
  void complete();
  void give_up() noexcept;

  TrainerCore& trainer_;
  RunFolder& folder_;
  Snapshot& snapshot_;
  const World& world_;
  std::int64_t step_ = 0;
  Phase phase_ = Phase::idle;
  std::vector<std::pair<std::string, std::uint64_t>> files_;  // names and sizes
  std::vector<Written> written_;                              // by this rank
  std::string problem_;  // this rank's problem; after a failure, that of all
  std::string note_;
  bool has_told_ = false;  // true if it has reported that a rank does not see the folder
  std::atomic<bool> given_up_ = false;
  std::unique_ptr<FolderWork> folder_work_;  // only on rank 0
  std::future<std::vector<Written>> writing_;
  std::jthread thread_;  // its destructor waits for it
};

/// Returns, on all ranks, the text of the lowest rank that has one, with its number; empty if none
/// has. All ranks call it at the same time.
std::string first_text(TrainerCore& trainer, const std::string& own);

}  // namespace sinter::detail
