// SPDX-License-Identifier: Apache-2.0
#include <ATen/CPUGeneratorImpl.h>

#include "sinter/autograd/torch.hpp"

namespace sinter::autograd {
namespace {

/// Returns the lock of LibTorch's one generator, which ranks that are threads share.
std::mutex& one_at_a_time() {
  static std::mutex mutex;
  return mutex;
}
at::Generator generator() { return at::detail::getDefaultCPUGenerator(); }

}  // namespace

Seeded::Seeded(std::uint64_t seed) : alone(one_at_a_time()) {
  at::Generator g = generator();
  const std::scoped_lock lock(g.mutex());
  before = g.get_state();
  g.set_current_seed(seed);
}

Seeded::~Seeded() {
  at::Generator g = generator();
  const std::scoped_lock lock(g.mutex());
  g.set_state(before);
}

}  // namespace sinter::autograd
