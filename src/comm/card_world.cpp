// SPDX-License-Identifier: Apache-2.0
#include "comm/card_world.hpp"

#include <chrono>
#include <cstring>
#include <vector>

#include "sinter/comm/hosts.hpp"
#include "sinter/error.hpp"

namespace sinter::detail {
namespace {

/// Interval at which ranks check that all live. The communicator, when it waits, is what notices a
/// loss.
constexpr std::chrono::milliseconds between_looks{200};

/// The first rank's text, in all.
std::string text_of_first(Communicator& ranks, const CardWorld::Id& make) {
  std::string text = ranks.rank() == 0 ? make() : "";
  double size = double(text.size());
  ranks.sum(&size);
  text.resize(std::size_t(size));
  std::vector<float> numbers(text.size() / sizeof(float) + 1);  // whatever they mean
  std::memcpy(numbers.data(), text.data(), text.size());
  ranks.start_broadcast(numbers.data(), std::ssize(numbers), 0);
  ranks.wait(numbers.data());
  std::memcpy(text.data(), numbers.data(), text.size());
  return text;
}

}  // namespace

CardWorld::CardWorld(const World& world, const Id& make_id, Lost lost)
    : hosts_(process_rank(world)), lost_(std::move(lost)), id_(text_of_first(*hosts_, make_id)) {
  if (world.ranks > 1) thread_ = std::thread([this] { watch(); });
}

CardWorld::~CardWorld() {
  set(State::ends);
  if (thread_.joinable()) thread_.join();
}

void CardWorld::abort() noexcept {
  set(State::aborted);
  hosts_->abort();
}

/// The first that is said stays.
void CardWorld::set(State state) noexcept {
  {
    const std::scoped_lock lock(mutex_);
    if (state_ == State::lives) state_ = state;
  }
  changed_.notify_one();
}

CardWorld::State CardWorld::next_state() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, between_looks, [this] { return state_ != State::lives; });
  return state_;
}

void CardWorld::watch() {
  try {
    for (;;) {
      const State state = next_state();
      if (state == State::aborted) return;  // the others know
      double ending = state == State::ends ? 1 : 0;
      hosts_->sum(&ending, 1);
      if (ending > 0) return;
    }
  } catch (const Error& error) {
    std::unique_lock lock(mutex_);
    const bool unasked = state_ == State::lives;
    lock.unlock();
    if (unasked) lost_(error.what());
  }
}

}  // namespace sinter::detail
