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

/// What a rank has written of a file.
struct Written {
  ChunkSum sum;
  std::uint64_t bytes = 0;
};

/// The first rank makes the files, empty, under a checkpoint's hidden name. Each rank opens them there, copies
/// what it has of them, and a thread of it writes the copy. When all have said that theirs is on the disk,
/// they add up the hashes, and the first rank makes a checkpoint of the files. So a rank that dies, or whose
/// disk is full, leaves the older checkpoint, and nothing under a checkpoint's name. All ranks call the same
/// functions at the same time; what a rank knows alone goes to the others as sums, or while training goes on, as
/// its votes in a step.
class SharedSave {
 public:
  /// requires  all outlive it; ranks are processes, and each has a folder, which the first one writes
  SharedSave(TrainerCore& trainer, RunFolder& folder, Snapshot& snapshot);
  /// Gives up a checkpoint that is not complete, without the others.
  ~SharedSave();
  SharedSave(const SharedSave&) = delete;
  SharedSave& operator=(const SharedSave&) = delete;

  /// As SaveStage::begin(). Whatever goes wrong is told by end().
  bool begin(const std::string& info, bool best, const std::function<void()>& before,
             bool in_background);
  bool is_busy() const { return phase_ != Phase::idle; }
  /// Says in a rank's votes, `done` and `failed`, how far it has come.
  /// requires  is_busy(); so do the next two
  void vote(kernel::Votes& own);
  /// Takes what all ranks have said so, and when all are done, goes on: first lets rank 0 make a checkpoint of
  /// the files.
  void count(const kernel::Votes& all);
  /// Whether the checkpoint is complete, or has failed, on all ranks.
  bool has_ended() const { return phase_ == Phase::complete || phase_ == Phase::failed; }
  /// As SaveStage::end().
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
  /// Where slices are that are to be written.
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
  std::string problem_;  // of this rank; of all, when it has failed
  std::string note_;
  bool has_told_ = false;  // that one does not see the folder
  std::atomic<bool> given_up_ = false;
  std::unique_ptr<FolderWork> folder_work_;  // of the first rank
  std::future<std::vector<Written>> writing_;
  std::jthread thread_;  // its end waits for it
};

/// Returns the text of the lowest rank that has one, with its number, on all ranks; empty if none has. All
/// ranks call it at the same time.
std::string first_text(TrainerCore& trainer, const std::string& own);

}  // namespace sinter::detail
