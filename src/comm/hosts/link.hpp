// SPDX-License-Identifier: Apache-2.0
// A connection with a rank of the next host, or of the one before, through which arrays go.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm/hosts/socket.hpp"

namespace sinter::detail::hosts {

/// Sends and receives that are announced beforehand, piece by piece, and move when there is time.
/// So neither end waits for the other to read before it reads itself.
class Link {
  struct Piece {
    std::byte* at;
    std::size_t size;
  };
  /// Pieces in order: how many were announced, and how many are done.
  struct Queue {
    std::vector<Piece> ring;
    std::uint64_t said = 0, done = 0;
    std::size_t moved = 0;  // bytes of the first that is not done

    std::uint64_t add(Piece piece);
  };
  Descriptor socket;
  Queue out, in;
  bool broken = false;

 public:
  /// None, over which nothing goes.
  Link() = default;
  /// requires  no more pieces wait at a time, in either direction
  Link(Descriptor connected, std::size_t max_pieces);

  bool is_there() const { return socket.get() >= 0; }
  bool is_broken() const { return broken; }
  bool is_cut(std::chrono::milliseconds silence) const { return hosts::is_cut(socket, silence); }
  /// Announces bytes to be sent, or received, after those announced before. Returns a number for
  /// has_sent() and has_received().
  /// requires  the bytes stay in place until then
  std::uint64_t send(const void* data, std::size_t size);
  std::uint64_t receive(void* data, std::size_t size);
  bool has_sent(std::uint64_t number) const { return out.done >= number; }
  bool has_received(std::uint64_t number) const { return in.done >= number; }
  /// The numbers of the last pieces.
  std::uint64_t sent() const { return out.said; }
  std::uint64_t received() const { return in.said; }

  /// Moves what can be moved without waiting. Returns true if it moved anything.
  bool progress();
  /// The events for which poll() must wait, and the descriptor, so that there is progress again.
  int descriptor() const { return socket.get(); }
  short events() const;

 private:
  template <class Call>
  bool move(Queue& queue, const Call& call);
};

}  // namespace sinter::detail::hosts
