// SPDX-License-Identifier: Apache-2.0
// In place of NCCL on the emulated device: transfers are those of ranks on the CPU that share memory, in the
// order of each rank's stream. They are who notices that a rank is lost.
#include <deque>

#include "comm/card_world.hpp"
#include "emulated/device/emulated_submit.hpp"
#include "sinter/comm/nccl.hpp"
#include "sinter/comm/shared_memory.hpp"

namespace sinter {
using namespace detail;
namespace {

using kernel::emulated::Opened;

class EmulatedRank final : public Communicator {
  kernel::Stream& stream;
  const std::unique_ptr<CardWorld> world;  // none of a group
  const std::unique_ptr<Communicator> end;
  std::deque<Opened> opened;  // one for each transfer under way, whose thread knows no device

 public:
  EmulatedRank(kernel::Stream& s, std::unique_ptr<Communicator> e,
               std::unique_ptr<CardWorld> w = nullptr)
      : stream(s), world(std::move(w)), end(std::move(e)) {}

  int rank() const override { return end->rank(); }
  int ranks() const override { return end->ranks(); }
  void wait(const void* data) override {
    const auto finish = [this, data] {
      end->wait(data);
      opened.pop_back();
    };
    kernel::emulated::submit(stream, finish, data);
  }
  void sum(double* values, int count) override {
    const auto sum = [this, values, count] { end->sum(values, count); };
    kernel::emulated::submit(stream, sum, values, count);
  }
  void barrier() override {
    kernel::emulated::submit(stream, [this] { end->barrier(); });
  }
  void abort() noexcept override {
    if (world) world->abort();
    end->abort();
  }

 private:
  void start_transfer(const Transfer& transfer) override {
    const auto begin = [this, transfer] {
      opened.emplace_back();
      end->start(transfer);
    };
    kernel::emulated::submit(stream, begin, transfer.data, transfer.count, transfer.operation,
                             transfer.element, transfer.peer);
  }
  std::unique_ptr<Communicator> make_group(std::span<const int> members, int) override {
    return std::make_unique<EmulatedRank>(stream, end->group(members));
  }
};

}  // namespace

std::unique_ptr<Communicator> nccl_rank(kernel::Stream& stream, const World& world) {
  auto hosts = std::make_unique<CardWorld>(world, shared_memory_world_id, [](const auto&) {});
  World cards;
  cards.rank = world.rank;
  cards.ranks = world.ranks;
  cards.id = hosts->id();
  cards.timeout = world.timeout;
  return std::make_unique<EmulatedRank>(stream, shared_memory_rank(cards), std::move(hosts));
}

}  // namespace sinter
