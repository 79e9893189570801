// SPDX-License-Identifier: Apache-2.0
// The seam to the device that a binary computes on: its memory, and what passes between it and the
// host. Everything else that touches device memory is a kernel. Implemented in src/hardware/<device>.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "sinter/base/element.hpp"

namespace sinter {

namespace kernel {
class Stream;
}

/// Memory of the device, all zeros at first.
class DeviceMemory {
 public:
  /// throws    Error if the device does not have so much memory
  explicit DeviceMemory(std::int64_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

/// What the host does with the memory.
enum class Access : std::uint8_t { read, write };

/// A part of the device's memory that host code may reach as long as this lives. The host sees what
/// all earlier work of the stream has left there. With Access::write, the device has what the host
/// made of it once this is gone. (On the CPU it is the memory itself; elsewhere, a copy.)
class [[nodiscard]] OnHost {
 public:
  /// Waits for all earlier work of the stream.
  OnHost(kernel::Stream& stream, std::byte* at, std::int64_t bytes, Access access);
  ~OnHost();
  OnHost(OnHost&& other) noexcept;
  OnHost& operator=(OnHost&&) = delete;

  /// Where the host finds the bytes.
  std::byte* data() const { return data_; }
  /// The same, as elements T.
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  std::byte* data_;
};

/// Memory of the host, and a copy of parts of the device's memory that is made there beside the
/// stream's work: evaluations go on, and so do steps, up to where they would change those parts. (On
/// the CPU it is made at once.)
class BackgroundCopy {
 public:
  /// throws    std::bad_alloc if the host does not have so much memory for copies
  explicit BackgroundCopy(std::size_t bytes);
  /// Waits for the copy.
  ~BackgroundCopy();
  BackgroundCopy(const BackgroundCopy&) = delete;
  BackgroundCopy& operator=(const BackgroundCopy&) = delete;

  /// Begins to copy parts of the device's memory, one behind the other, as all earlier work of the
  /// stream leaves them. Waits for the copy before this one.
  /// requires  the parts have no more bytes than this. What changes them afterwards comes behind
  ///           order_after_copies() or is written by an OnHost; before their memory is given back,
  ///           finish_copies() is called
  void begin(kernel::Stream& stream, std::span<const std::span<const std::byte>> parts);
  /// Waits until the copy is made. Any thread may call it that computes on the device
  /// (RecipeView::open_device).
  /// throws    Error if the device has failed
  void wait() const;
  /// Where the copy is, once it is made, and all room for it.
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
  std::shared_ptr<kernel::Stream> stream_;  // of a copy that may not be made yet
};

/// Work that comes to the stream from now on begins once all background copies that were begun on
/// it are made. In a graph, these are the ones that were begun before each of its runs.
/// requires  it is not called within Stream::only_if
void order_after_copies(kernel::Stream& stream);
/// Waits for these copies, or until the device has failed.
void finish_copies(kernel::Stream& stream) noexcept;

/// Copies from one part of the device's memory to another.
/// requires  the two do not overlap
void copy_on_device(kernel::Stream& stream, const std::byte* from, std::byte* to,
                    std::int64_t bytes);
/// Sets bytes of the device to zero.
void clear_on_device(kernel::Stream& stream, std::byte* at, std::int64_t bytes);
/// Copies ids from the host to the device, and sets the `padding` ids behind them to `value`.
void put_ids(kernel::Stream& stream, std::span<const std::int32_t> ids, std::byte* to,
             std::int64_t padding, std::int32_t value);
/// Copies numbers from the host to the device, rounded to such elements, and sets the `padding`
/// elements behind them to zero.
/// throws    Error if the element is an integer
void put_values(kernel::Stream& stream, std::span<const float> values, std::byte* to,
                Element element, std::int64_t padding);
/// Lets kernels that are launched from now on read ids of the host, and returns where: on the CPU,
/// where they are, else at `to`.
/// requires  the ids stay as they are for as long as such kernels run
const std::int32_t* show_ids(kernel::Stream& stream, std::span<const std::int32_t> ids,
                             std::byte* to);

}  // namespace sinter
