// SPDX-License-Identifier: Apache-2.0
// The host's side of the device's memory: what it reaches is a copy.
#include "sinter/hardware/memory.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "hardware/cuda/launch.hpp"
#include "hardware/cuda/queue.hpp"
#include "hardware/large_pages.hpp"
#include "sinter/base/with_element.hpp"
#include "sinter/error.hpp"

namespace sinter::detail {

DeviceMemory::DeviceMemory(std::int64_t bytes) {
  const std::size_t size = std::size_t(std::max<std::int64_t>(bytes, 1));
  std::byte* at = kernel::take_memory(size);
  if (!at)
    throw Error("the card gives no arena of " + std::to_string(size) +
                " bytes. The plan needs that much; use a smaller micro-batch, checkpointing, or a "
                "card with more memory.");
  bytes_ = {at, size};
}

DeviceMemory::~DeviceMemory() { kernel::give_memory(bytes_.data()); }

std::span<std::byte> in_large_pages(std::span<std::byte> arena, std::int64_t) { return arena; }

namespace {

/// What an OnHost must know at its end. It lies in front of the copy.
struct alignas(64) Origin {
  kernel::Stream* stream;
  std::byte* at;
  std::size_t bytes;
  Access access;
};

}  // namespace

OnHost::OnHost(kernel::Stream& stream, std::byte* at, std::int64_t bytes, Access access) {
  const std::size_t size = std::size_t(bytes);
  void* memory = ::operator new(sizeof(Origin) + size, std::align_val_t(alignof(Origin)));
  auto* origin = new (memory) Origin{&stream, at, size, access};
  data_ = reinterpret_cast<std::byte*>(origin + 1);
  kernel::copy_out(stream, data_, at, size);
}

OnHost::OnHost(OnHost&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}

OnHost::~OnHost() {
  if (!data_) return;
  Origin* origin = reinterpret_cast<Origin*>(data_) - 1;
  try {
    if (origin->access == Access::write) {
      kernel::join_copies(*origin->stream);
      kernel::copy_in(*origin->stream, origin->at, data_, origin->bytes);
    }
  } catch (const Error&) {
    // A card that has failed fails in all that comes after it, which is not in a destructor.
  }
  ::operator delete(origin, std::align_val_t(alignof(Origin)));
}

BackgroundCopy::BackgroundCopy(std::size_t bytes) : bytes_(kernel::take_host_memory(bytes), bytes) {
  if (!bytes_.data()) throw std::bad_alloc();
}

BackgroundCopy::~BackgroundCopy() {
  if (stream_) finish_copies(*stream_);
  kernel::give_host_memory(bytes_.data());
}

void BackgroundCopy::begin(kernel::Stream& stream,
                           std::span<const std::span<const std::byte>> parts) {
  wait();
  stream_ = std::make_shared<kernel::Stream>(stream, stream.matmul_inputs());
  kernel::copy_beside(stream, bytes_.data(), parts);
}

void BackgroundCopy::wait() const {
  if (stream_) kernel::wait_for_copies(*stream_);
}

void order_after_copies(kernel::Stream& stream) { kernel::join_copies(stream); }

void finish_copies(kernel::Stream& stream) noexcept {
  try {
    kernel::wait_for_copies(stream);
  } catch (const Error&) {
    // As above.
  }
}

void copy_on_device(kernel::Stream& stream, const std::byte* from, std::byte* to,
                    std::int64_t bytes) {
  kernel::copy_within(stream, to, from, std::size_t(bytes));
}

void clear_on_device(kernel::Stream& stream, std::byte* at, std::int64_t bytes) {
  kernel::clear(stream, at, std::size_t(bytes));
}

namespace {

/// Lets fill(place) write to host memory, and copies that to the device in the order of the stream.
/// In a graph, each run copies what it writes, from where the device copies it.
void put(kernel::Stream& stream, std::byte* to, std::size_t bytes, auto fill) {
  kernel::Stream::Pool& device = stream.device();
  if (device.mode != kernel::Mode::direct) {
    const kernel::ArgumentMemory::Room room = device.arguments.take(bytes);
    fill(room.host);
    return kernel::copy_within(stream, to, room.device, bytes);
  }
  const auto host = std::make_unique_for_overwrite<std::byte[]>(bytes);
  fill(host.get());
  kernel::copy_in(stream, to, host.get(), bytes);
}

}  // namespace

void put_ids(kernel::Stream& stream, std::span<const std::int32_t> ids, std::byte* to,
             std::int64_t padding, std::int32_t value) {
  const std::size_t bytes = ids.size_bytes() + std::size_t(padding) * sizeof(std::int32_t);
  put(stream, to, bytes, [&](std::byte* place) {
    auto* end = std::ranges::copy(ids, reinterpret_cast<std::int32_t*>(place)).out;
    std::fill_n(end, padding, value);
  });
}

const std::int32_t* show_ids(kernel::Stream& stream, std::span<const std::int32_t> ids,
                             std::byte* to) {
  put_ids(stream, ids, to, 0, 0);
  return reinterpret_cast<const std::int32_t*>(to);
}

void put_values(kernel::Stream& stream, std::span<const float> values, std::byte* to,
                Element element, std::int64_t padding) {
  with_element(element, [&]<class T>(T) {
    const std::size_t bytes = (values.size() + std::size_t(padding)) * sizeof(T);
    put(stream, to, bytes, [&](std::byte* place) {
      T* end = std::ranges::transform(values, reinterpret_cast<T*>(place), [](float x) {
                 return T(x);
               }).out;
      std::fill_n(end, padding, T(0));
    });
  });
}

}  // namespace sinter::detail
