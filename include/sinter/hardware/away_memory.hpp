// SPDX-License-Identifier: Apache-2.0
// A rank's memory outside of the device's, and transfers between the two. Implemented in
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

/// Memory outside of the device's, all zeros at first. It is taken when it is opened. Transfers run beside the
/// stream's work: fetches in the order in which they are started, and stores in theirs, but neither waits
/// for the other. One thread at a time may use it.
class AwayMemory {
 public:
  ///   most     so many transfers in one direction may be under way at once without memory being taken for them
  ///   folder   of the file on the CPU; if it is empty, that is the folder that the environment variable TMPDIR
  ///            names if that is on a disk, else /var/tmp
  AwayMemory(kernel::Stream& stream, std::int64_t bytes, int most, std::string folder);
  /// Waits for transfers that were started.
  ~AwayMemory();
  AwayMemory(const AwayMemory&) = delete;
  AwayMemory& operator=(const AwayMemory&) = delete;

  /// Takes the memory, unless it has been taken.
  /// throws    FileError if the folder is not there, is itself in memory, or does not have the room; on a card
  ///           Error if the host does not have so much memory
  void open();
  bool is_open() const;  ///< whether it has been taken

  /// Starts to copy bytes from `from` here to the device's memory, once all earlier work of the stream is done.
  /// requires  it is open; so for all that follows
  void start_fetch(std::int64_t from, std::byte* to, std::int64_t bytes);
  /// Starts to copy bytes of the device's memory to `to` here, once all earlier work of the stream is done.
  void start_store(const std::byte* from, std::int64_t to, std::int64_t bytes);
  /// Work that comes to the stream from now on begins once all fetches are done that were started.
  /// throws    FileError if one has failed, and then also ever after; so does the next one
  void wait_for_fetches();
  /// The same for stores.
  void wait_for_stores();

  /// All of it, where the host may read and write it.
  /// requires  the stream has done all its work, and no transfer is under way
  /// throws    FileError if a store has failed: what is here is then of no one step
  std::span<std::byte> bytes();
  /// Sets all of it from a byte on to zeros, if it is open.
  /// requires  as bytes()
  void clear(std::int64_t from = 0);
  /// Makes it what another of the same size is.
  /// requires  as bytes(), of both
  void copy(AwayMemory& from);

 private:
  struct Place;
  std::unique_ptr<Place> place_;
};

}  // namespace sinter
