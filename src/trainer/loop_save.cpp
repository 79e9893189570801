// SPDX-License-Identifier: Apache-2.0
// When a loop saves checkpoints, and what it does if it cannot.
#include <fmt/format.h>

#include <utility>

#include "sinter/error.hpp"
#include "sinter/files/run_folder.hpp"
#include "sinter/trainer/loop.hpp"
#include "trainer/loop_state.hpp"

namespace sinter {
using namespace detail;

/// Saves if a checkpoint is due. If ranks save together, all of them agree on that.
void Loop::save_if(bool due, const LoopOptions& options) {
  if (due && (save_ || save_.is_together())) save(options);
}

/// Begins to save the current state, once an earlier checkpoint is complete.
void Loop::save(const LoopOptions& options) {
  end_save(options, false);
  clock_.pause([&] {
    times_.measure(LoopStage::save, trainer_.steps(), [&] {
      const bool as_asked = save_.begin({state_, data_, best_is_new_, [this] { record_.sync(); }},
                                        options.save_in_background);
      if (!as_asked && !std::exchange(told_of_waiting_, true) && options.on_warning)
        options.on_warning(
            "the machine does not have the memory for a copy of what is to be saved, so training "
            "waits for each checkpoint.");
    });
  });
  const std::string note = save_.take_note();
  if (!note.empty() && options.on_warning) options.on_warning(note);
  saves_best_ = std::exchange(best_is_new_, false);
  unsaved_ = false;
  saved_at_ = Clock::now();
  retry_at_ = Clock::time_point::max();
}

/// Waits for the checkpoint that is being saved, if there is one.
void Loop::end_save(const LoopOptions& options, bool must_succeed) {
  if (!save_.is_busy()) return;
  std::filesystem::path saved;
  try {
    clock_.pause([&] {
      saved = times_.measure(LoopStage::save, trainer_.steps(), [&] { return save_.end(); });
    });
  } catch (const FileError& error) {
    unsaved_ = true;
    const std::filesystem::path good = save_.is_together() ? newest_good() : folder_->newest_good();
    if (must_succeed || good.empty()) throw;
    return save_has_failed(error, good, options);
  }
  if (save_ && options.on_save) options.on_save(saved);
}

/// Continues without the checkpoint, as an older one is good. If it was to be the best, the next
/// that is as good replaces it.
void Loop::save_has_failed(const FileError& error, const std::filesystem::path& good,
                           const LoopOptions& options) {
  constexpr std::chrono::seconds pause(10);
  if (saves_best_) state_.best = LoopState{}.best;
  retry_at_ = Clock::now() + pause;
  if (options.on_warning)
    options.on_warning(
        fmt::format("a checkpoint could not be saved: {} Training goes on, as {} is good, and "
                    "saves again after "
                    "a later step.",
                    error.what(), good.string()));
}

/// True if this process should save after a step for another reason than a new best.
bool Loop::save_is_due(const LoopOptions& options, std::int64_t step) const {
  const auto now = Clock::now();
  const std::chrono::duration<double, std::ratio<60>> minutes(options.save_minutes);
  return save_ && (now >= retry_at_ || (options.save_every > 0 && step % options.save_every == 0) ||
                   (options.save_minutes > 0 && now - saved_at_ >= minutes));
}

/// Votes, for the next step: whether a checkpoint is due, by the clock and options of rank 0, and
/// how far this rank's part of the current checkpoint is.
void Loop::vote(const LoopOptions& options) {
  if (!save_.is_together()) return;
  own_votes_ = {.stop = own_votes_.stop,
                .save = double(save_is_due(options, trainer_.steps() + 1))};
  save_.vote(own_votes_);
  trainer_.vote(own_votes_);
}

/// Saves the current state, if the disk permits, before the error is thrown.
void Loop::log_has_failed(const FileError& error, const LoopOptions& options) {
  const std::string step = "step " + std::to_string(trainer_.steps());
  if (trainer_.has_shards_elsewhere())
    throw FileError(fmt::format(
        "{} The state after {} is not saved, as other processes have parts of it; the last good "
        "checkpoint is {}.",
        error.what(), step, folder_->newest_good().string()));
  std::string saved;
  try {
    if (!save_.is_together()) end_save(options, false);
    saved = " The state after " + step + " is saved in " +
            save_.save_alone({state_, data_, best_is_new_, nullptr}).string() + ".";
  } catch (const FileError& other) {
    saved = " The state after " + step + " could not be saved either: " + other.what();
  }
  throw FileError(error.what() + saved);
}

}  // namespace sinter
