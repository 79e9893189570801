// SPDX-License-Identifier: Apache-2.0
// Offloaded memory of a rank, and transfers between it and the device's memory. Implemented in
// src/hardware/<device>: on the CPU it is a file without a name, on a card memory of the host.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace sinter {

namespace kernel {
class Stream;
}

namespace detail {
/// Memory outside the device's, all zeros at first, allocated by open(). Transfers run beside the
/// stream's work: fetches in the order in which they are started, and stores in theirs, but neither
/// waits for the other. One thread at a time may use it.
class OffloadMemory {
 public:
  ///   most     number of transfers in one direction that may be under way at once without
  ///            allocating memory
  ///   folder   folder of the file on the CPU; if empty, the folder in the environment variable
  ///            TMPDIR if that is on a disk, else /var/tmp
  OffloadMemory(kernel::Stream& stream, std::int64_t bytes, int most, std::string folder);
  /// Waits for all started transfers.
  ~OffloadMemory();
  OffloadMemory(const OffloadMemory&) = delete;
  OffloadMemory& operator=(const OffloadMemory&) = delete;

  /// Allocates the memory, unless it is open.
  /// throws    FileError if the folder is missing, is itself in memory, or does not have the room;
  ///           on a card Error if the host does not have so much memory
  void open();
  bool is_open() const;  ///< true if the memory is allocated

  /// Starts to copy from offset `from` of this memory to the device, after all earlier work of the
  /// stream.
  /// requires  it is open, as for start_store() and both waits
  void start_fetch(std::int64_t from, std::byte* to, std::int64_t bytes);
  /// Starts to copy from the device to offset `to` of this memory, after all earlier work of the
  /// stream.
  void start_store(const std::byte* from, std::int64_t to, std::int64_t bytes);
  /// Makes later work of the stream begin only after all started fetches are done.
  /// throws    FileError if a fetch has failed, also in every later call
  void wait_for_fetches();
  /// Makes later work of the stream begin only after all started stores are done; throws as
  /// wait_for_fetches().
  void wait_for_stores();

  /// All of the memory, for the host to read and write.
  /// requires  the stream has done all its work, and no transfer is under way
  /// throws    FileError if a store has failed: the content then belongs to no single step
  std::span<std::byte> bytes();
  /// Sets all bytes from offset `from` on to zero, if it is open.
  /// requires  as bytes()
  void clear(std::int64_t from = 0);
  /// Copies the content of another OffloadMemory of the same size.
  /// requires  as bytes(), of both
  void copy(OffloadMemory& from);

 private:
  struct Place;
  std::unique_ptr<Place> place_;
};
}  // namespace detail

}  // namespace sinter
