// SPDX-License-Identifier: Apache-2.0
// A thread for each rank but the first, which runs on the caller's thread.
#pragma once
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "sinter/trainer/core.hpp"

namespace sinter {

class TrainerCore::RankThreads {
  std::mutex mutex;
  std::condition_variable changed;
  const std::function<void(int)>* work = nullptr;
  std::vector<std::exception_ptr> errors;
  std::int64_t round = 0;
  int running = 0;
  bool stop = false;
  std::vector<std::thread> threads;

 public:
  explicit RankThreads(int ranks) : errors(std::size_t(ranks)) {
    for (int r = 1; r < ranks; ++r) threads.emplace_back([this, r] { wait_for_work(r); });
  }
  ~RankThreads() {
    {
      std::scoped_lock lock(mutex);
      stop = true;
      changed.notify_all();
    }
    for (std::thread& thread : threads) thread.join();
  }

  /// Calls each(rank) for all ranks at once. Returns the failures by rank, null where there is
  /// none.
  /// requires  `each` itself reports a rank's failure to the others
  [[nodiscard]] const std::vector<std::exception_ptr>& run(const std::function<void(int)>& each) {
    {
      std::scoped_lock lock(mutex);
      work = &each;
      running = int(threads.size());
      ++round;
      changed.notify_all();
    }
    call(0);
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return running == 0; });
    return errors;
  }

 private:
  void call(int rank) {
    try {
      errors[std::size_t(rank)] = nullptr;
      (*work)(rank);
    } catch (...) {
      errors[std::size_t(rank)] = std::current_exception();
    }
  }
  void wait_for_work(int rank) {
    std::int64_t seen = 0;
    for (;;) {
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return stop || round != seen; });
        if (stop) return;
        seen = round;
      }
      call(rank);
      std::scoped_lock lock(mutex);
      --running;
      changed.notify_all();
    }
  }
};

}  // namespace sinter
