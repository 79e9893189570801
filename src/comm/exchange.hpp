// SPDX-License-Identifier: Apache-2.0
// Sends and receives that are at work beside each other.
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "sinter/comm/communicator.hpp"

namespace sinter::detail {

/// A way for bytes from this rank to another and back. Nothing of it waits.
class Channel {
 public:
  virtual ~Channel() = default;
  /// Puts as many bytes on the way as there is room for, and returns how many.
  virtual std::int64_t put(const std::byte* from, std::int64_t size) = 0;
  /// Takes as many as have come, and returns how many.
  virtual std::int64_t take(std::byte* to, std::int64_t size) = 0;
  /// How many bytes were put in all, and how many of these the other has taken, or will, even if this rank
  /// ends.
  virtual std::uint64_t all_put() const = 0;
  virtual std::uint64_t all_taken() const = 0;
};
/// To each rank; none to this one.
using Channels = std::vector<std::unique_ptr<Channel>>;

/// Goes before the bytes of a message, so that a mistake is noticed.
struct Envelope {
  std::int64_t count = 0;  ///< of elements
  Element element{};
  std::uint8_t unused[7]{};  // so that no byte of it is without a value
  bool operator==(const Envelope&) const = default;
};

/// A send and a receive that do not fit.
struct Mismatch {
  std::int32_t sender = 0, receiver = 0;
  Envelope sent{}, received{};
  bool operator==(const Mismatch&) const = default;
};

/// The sends and receives of a rank that are at work. Those to one rank, or from one, go in their order.
class Exchange {
  struct Flow {
    Transfer transfer;
    bool follows;  // a receive of no more bytes than the send before it has put
    bool done = false;
    Envelope envelope{};     // its own; of a receive, what comes
    std::int64_t moved = 0;  // bytes, first those of the envelope
    std::uint64_t end = 0;   // of a send: what its channel has put when all of it is

    bool sends() const { return transfer.operation == Operation::send; }
    std::int64_t size() const {
      return std::int64_t(sizeof envelope) + transfer.count * bytes_of(transfer.element);
    }
  };
  const Channels& channels;
  const int me;
  std::vector<Flow> flows;
  std::vector<char> busy;  // for each rank and direction: an earlier flow goes there
  std::optional<Mismatch> wrong;
  std::chrono::steady_clock::time_point last{};

 public:
  /// requires  the channels outlive it
  Exchange(const Channels& of, int rank);

  /// Adds a transfer behind the others.
  void add(const Transfer& transfer);
  /// Adds the exchange of an array with another rank's, which has the same size and replaces it.
  void add_swap(const Transfer& array);
  int size() const { return int(flows.size()); }
  bool is_done(int k) const { return flows[std::size_t(k)].done; }
  void remove(int k) { flows.erase(flows.begin() + k); }
  bool are_all_done() const;
  void clear() { flows.clear(); }

  /// Moves what can be moved. Returns true if it moved anything.
  bool move();
  /// When something was moved, or added, the last time.
  std::chrono::steady_clock::time_point last_progress() const { return last; }
  /// The mismatch that was found, after which nothing moves.
  const std::optional<Mismatch>& mismatch() const { return wrong; }
  /// Calls visit(transfer, may_move) for each transfer that is not done, until it returns false.
  /// `may_move` is true if the transfer waits only for its channel, not for another transfer.
  template <class Visit>
  void each_open(const Visit& visit) const {
    for (std::size_t k = 0; k < flows.size(); ++k)
      if (!flows[k].done && !visit(flows[k].transfer, limit(k) > flows[k].moved)) return;
  }

 private:
  bool move(std::size_t k);
  /// The bytes of a flow that may be moved by now.
  std::int64_t limit(std::size_t k) const {
    return flows[k].follows ? flows[k - 1].moved : flows[k].size();
  }
  bool check_envelope(Flow& flow);
};

}  // namespace sinter::detail
