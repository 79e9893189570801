// SPDX-License-Identifier: Apache-2.0
// The work of rank 0 in the run's folder for a checkpoint that ranks write together.
#pragma once
#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <random>

#include "trainer/shared_save.hpp"

namespace sinter::detail {

/// The file whose number identifies the folder that rank 0 has made, among others of this name. It
/// is removed before the checkpoint is complete.
inline constexpr const char* mark_of_folder = "ranks";

/// Makes the files and completes the checkpoint, on a thread of its own, which waits for the ranks
/// in between.
class SharedSave::FolderWork {
 public:
  /// The content to be saved, beside the tensors.
  struct Checkpoint {
    std::int64_t step;
    std::string info, config;
    bool best;
    std::function<void()> before;
    std::vector<std::pair<std::string, std::uint64_t>> files;  // names and sizes
  };

  /// Makes the files. Returns the random number that marks the folder.
  /// throws    FileError, or whatever else prevents that
  double begin(RunFolder& folder, Checkpoint checkpoint) {
    std::future<double> made = made_.get_future();
    done_ = std::async(std::launch::async,
                       [this, &folder, c = std::move(checkpoint)] { return run(folder, c); });
    return made.get();
  }
  /// Lets the thread complete the checkpoint, from files with these hashes.
  void complete(std::vector<CheckpointFile> files) { decide(std::move(files), ""); }
  /// Lets the thread remove the files, for this reason.
  void give_up(const std::string& why) { decide({}, why); }
  bool has_ended() const {
    return done_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  void wait_for(std::chrono::milliseconds time) const { done_.wait_for(time); }
  /// Waits for the end, and throws the error, if any.
  void end() { done_.get(); }

 private:
  std::filesystem::path run(RunFolder& folder, const Checkpoint& c) {
    bool is_made = false;
    try {
      if (c.before) c.before();
      return folder.save(
          c.step, c.info,
          [&](CheckpointWriter& writer) {
            const double mark = make_files(writer, c);
            is_made = true;
            made_.set_value(mark);
            take_files(writer, c);
          },
          c.best);
    } catch (...) {
      if (!is_made) made_.set_exception(std::current_exception());
      throw;
    }
  }
  static double make_files(CheckpointWriter& writer, const Checkpoint& c) {
    if (!c.config.empty()) writer.add_file(CheckpointContent::config_file, c.config);
    for (const auto& [name, bytes] : c.files) SharedFile::made(writer.path_of(name), bytes);
    constexpr std::uint64_t largest = (std::uint64_t(1) << 52) - 1;  // a double holds it
    std::random_device chance;
    const std::uint64_t mark = std::uniform_int_distribution<std::uint64_t>(1, largest)(chance);
    OutputFile out(writer.path_of(mark_of_folder), Links::refused);
    out.write(std::to_string(mark));
    out.finish();
    return double(mark);
  }
  void take_files(CheckpointWriter& writer, const Checkpoint& c) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_decided_; });
    if (!why_.empty()) throw FileError(why_);
    remove_path(writer.path_of(mark_of_folder));
    for (std::size_t k = 0; k < c.files.size(); ++k)
      writer.add_written(c.files[k].first, written_[k]);
  }
  void decide(std::vector<CheckpointFile> files, const std::string& why) {
    const std::scoped_lock lock(mutex_);
    if (is_decided_) return;
    is_decided_ = true;
    written_ = std::move(files);
    why_ = why;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_decided_ = false;
  std::string why_;
  std::vector<CheckpointFile> written_;
  std::promise<double> made_;
  std::future<std::filesystem::path> done_;  // its destructor waits for the thread
};

}  // namespace sinter::detail
