// SPDX-License-Identifier: Apache-2.0
#include "comm/shared_memory/facts.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sinter/error.hpp"

namespace sinter::detail::shared_memory {

Descriptor memory_of(const std::vector<Fact>& facts) {
  const std::string all = bytes_of(facts);
  Descriptor memory(memfd_create("sinter facts", MFD_CLOEXEC));
  bool fine = memory.get() >= 0;
  for (std::size_t done = 0; fine && done < all.size();) {
    const ssize_t more = write(memory.get(), all.data() + done, all.size() - done);
    fine = more > 0 || (more < 0 && errno == EINTR);
    done += std::size_t(std::max<ssize_t>(more, 0));
  }
  if (!fine)
    throw Error("the system gives the ranks no " + std::to_string(all.size()) +
                " bytes of memory for what they compare: " + std::strerror(errno) + ".");
  return memory;
}

std::optional<std::vector<Fact>> facts_in(const Descriptor& memory) {
  struct stat status{};
  if (memory.get() < 0 || fstat(memory.get(), &status) != 0) return std::nullopt;
  std::string all(std::size_t(status.st_size), '\0');
  for (std::size_t done = 0; done < all.size();) {
    const ssize_t more = pread(memory.get(), all.data() + done, all.size() - done, off_t(done));
    if (more == 0 || (more < 0 && errno != EINTR)) return std::nullopt;
    done += std::size_t(std::max<ssize_t>(more, 0));
  }
  return facts_of(all);
}

}  // namespace sinter::detail::shared_memory
