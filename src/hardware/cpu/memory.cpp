// SPDX-License-Identifier: Apache-2.0
// The device is the host: its memory is mapped pages, and the host reaches a part of it as it is.
#include "sinter/hardware/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "hardware/large_pages.hpp"
#include "sinter/base/with_element.hpp"
#include "sinter/error.hpp"
#include "sinter/hardware/available.hpp"

namespace sinter::detail {

/// Maps pages of zeros, which cost nothing until they are used.
DeviceMemory::DeviceMemory(std::int64_t bytes) {
  const std::size_t size = std::size_t(std::max<std::int64_t>(bytes, 1));
  void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    throw Error("the system gives no arena of " + std::to_string(size) +
                " bytes. The plan needs that much; use a smaller micro-batch, checkpointing, or a "
                "machine with more memory.");
  bytes_ = {static_cast<std::byte*>(at), size};
}

DeviceMemory::~DeviceMemory() { munmap(bytes_.data(), bytes_.size()); }

std::span<std::byte> in_large_pages(std::span<std::byte> arena,
                                    [[maybe_unused]] std::int64_t whole) {
#ifdef MADV_HUGEPAGE
  const auto bytes = std::clamp<std::int64_t>(whole, 0, std::int64_t(arena.size()));
  if (bytes > 0) madvise(arena.data(), std::size_t(bytes), MADV_HUGEPAGE);  // it may deny
#endif
  return arena;
}

AvailableMemory available_device_memory() { return available_memory(); }

OnHost::OnHost(kernel::Stream&, std::byte* at, std::int64_t, Access) : data_(at) {}
OnHost::OnHost(OnHost&& other) noexcept = default;
OnHost::~OnHost() = default;

BackgroundCopy::BackgroundCopy(std::size_t bytes) : bytes_(new std::byte[bytes], bytes) {}
BackgroundCopy::~BackgroundCopy() { delete[] bytes_.data(); }

void BackgroundCopy::begin(kernel::Stream&, std::span<const std::span<const std::byte>> parts) {
  std::byte* to = bytes_.data();
  for (std::span<const std::byte> part : parts) to = std::ranges::copy(part, to).out;
}

void BackgroundCopy::wait() const {}
void order_after_copies(kernel::Stream&) {}
void finish_copies(kernel::Stream&) noexcept {}

void copy_on_device(kernel::Stream&, const std::byte* from, std::byte* to, std::int64_t bytes) {
  std::copy_n(from, bytes, to);
}

void clear_on_device(kernel::Stream&, std::byte* at, std::int64_t bytes) {
  std::memset(at, 0, std::size_t(bytes));
}

void put_ids(kernel::Stream&, std::span<const std::int32_t> ids, std::byte* to,
             std::int64_t padding, std::int32_t value) {
  auto* end = std::copy_n(ids.data(), ids.size(), reinterpret_cast<std::int32_t*>(to));
  std::fill_n(end, padding, value);
}

const std::int32_t* show_ids(kernel::Stream&, std::span<const std::int32_t> ids, std::byte*) {
  return ids.data();
}

void put_values(kernel::Stream&, std::span<const float> values, std::byte* to, Element element,
                std::int64_t padding) {
  with_element(element, [&]<class T>(T) {
    T* end =
        std::ranges::transform(values, reinterpret_cast<T*>(to), [](float x) { return T(x); }).out;
    std::fill_n(end, padding, T(0));
  });
}

}  // namespace sinter::detail
