// SPDX-License-Identifier: Apache-2.0
// A recipe whose data policy breaks what open() promises: an order of another name, nothing to
// evaluate.
#include <sinter/sinter.hpp>
using namespace sinter;

struct Ones {
  SamplerState now{.order = "my own"};

  bool next(HostBatch& batch) {
    batch.starts = {0, 1};
    batch.values.assign(2, {1});
    ++now.items;
    return true;
  }
  SamplerState state() const { return now; }
  void restore(const SamplerState& saved) { now = saved; }
};

struct Stray {
  using slot = slot::data;
  static constexpr int context = 1, vocabulary = 0;

  static OpenedData open(const DataRequest& request) {
    OpenedData opened;
    if (request.paths.front() != "nothing") opened.training = AnySource(Ones());
    return opened;
  }
};

struct stray : Recipe<Mlp<>, Stray, Batch<{.global = 1, .micro = 1}>> {};

int main(int argc, char** argv) { return run<stray>(argc, argv); }
