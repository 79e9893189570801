// SPDX-License-Identifier: Apache-2.0
// Memory of the host that the card copies from and to.
#include "sinter/hardware/offload_memory.hpp"

#include <cstring>
#include <string>

#include "hardware/cuda/queue.hpp"
#include "sinter/error.hpp"

namespace sinter::detail {

struct OffloadMemory::Place {
  kernel::Stream& stream;
  const std::size_t bytes;
  std::byte* memory = nullptr;

  Place(kernel::Stream& s, std::size_t b) : stream(s), bytes(b) {}
  ~Place() {
    if (memory) kernel::give_host_memory(memory);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
};

OffloadMemory::OffloadMemory(kernel::Stream& stream, std::int64_t bytes, int, std::string)
    : place_(std::make_unique<Place>(stream, std::size_t(bytes))) {}

/// The memory is given back when the card has copied. (Of one that has failed, there is nothing to wait for.)
OffloadMemory::~OffloadMemory() {
  if (!is_open()) return;
  try {
    wait_for_fetches();
    wait_for_stores();
    std::byte none;
    kernel::copy_out(place_->stream, &none, place_->memory, 0);
  } catch (const Error&) {
    return;
  }
}

bool OffloadMemory::is_open() const { return place_->memory != nullptr; }

void OffloadMemory::open() {
  if (is_open()) return;
  place_->memory = kernel::take_host_memory(place_->bytes);
  if (!is_open())
    throw Error(
        "the host gives no memory of " + std::to_string(place_->bytes) +
        " bytes for offloaded state, in which the card can copy. Use a host with more memory, "
        "an optimizer with less state, or leave Offload out.");
  std::memset(place_->memory, 0, place_->bytes);
}

void OffloadMemory::start_fetch(std::int64_t from, std::byte* to, std::int64_t bytes) {
  kernel::fetch_beside(place_->stream, to, place_->memory + from, std::size_t(bytes));
}
void OffloadMemory::start_store(const std::byte* from, std::int64_t to, std::int64_t bytes) {
  kernel::store_beside(place_->stream, place_->memory + to, from, std::size_t(bytes));
}
void OffloadMemory::wait_for_fetches() { kernel::join_fetches(place_->stream); }
void OffloadMemory::wait_for_stores() { kernel::join_stores(place_->stream); }

std::span<std::byte> OffloadMemory::bytes() {
  open();
  return {place_->memory, place_->bytes};
}

void OffloadMemory::clear(std::int64_t from) {
  if (is_open()) std::memset(place_->memory + from, 0, place_->bytes - std::size_t(from));
}

void OffloadMemory::copy(OffloadMemory& from) {
  if (!from.is_open()) return clear();
  std::memcpy(bytes().data(), from.bytes().data(), place_->bytes);
}

}  // namespace sinter::detail
