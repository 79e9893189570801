// SPDX-License-Identifier: Apache-2.0
// A stream's threads of the host, if it computes on a card: only the caller.
#include "sinter/hardware/stream.hpp"

namespace sinter::kernel {

int Stream::threads() const { return 1; }
void Stream::pin(const std::vector<int>&) {}
void Stream::run(int parts, Call call, const void* body) {
  for (int part = 0; part < parts; ++part) call(body, part);
}
void Stream::run_lanes(Call call, const void* body) { call(body, 0); }

}  // namespace sinter::kernel
