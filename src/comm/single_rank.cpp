// SPDX-License-Identifier: Apache-2.0
#include "sinter/comm/communicator.hpp"

namespace sinter {
using namespace detail;

namespace {

class SingleRank final : public Communicator {
 public:
  int rank() const override { return 0; }
  int ranks() const override { return 1; }
  void wait(const void*) override {}
  void sum(double*, int) override {}
  void abort() noexcept override {}

 private:
  void start_transfer(const Transfer&) override {}
  std::unique_ptr<Communicator> make_group(std::span<const int>, int) override {
    return single_rank();
  }
};

}  // namespace

std::unique_ptr<Communicator> single_rank() { return std::make_unique<SingleRank>(); }

}  // namespace sinter
