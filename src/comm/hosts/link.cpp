// SPDX-License-Identifier: Apache-2.0
#include "comm/hosts/link.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace sinter::detail::hosts {

Link::Link(Descriptor connected, std::size_t max_pieces) : socket(std::move(connected)) {
  out.ring.resize(max_pieces);
  in.ring.resize(max_pieces);
}

std::uint64_t Link::Queue::add(Piece piece) {
  ring[std::size_t(said % ring.size())] = piece;
  return ++said;
}

std::uint64_t Link::send(const void* data, std::size_t size) {
  return out.add({static_cast<std::byte*>(const_cast<void*>(data)), size});
}
std::uint64_t Link::receive(void* data, std::size_t size) {
  return in.add({static_cast<std::byte*>(data), size});
}

bool Link::progress() {
  if (!is_there() || broken) return false;
  const bool came = move(in, [&](std::byte* at, std::size_t size) {
    return ::recv(socket.get(), at, size, MSG_DONTWAIT);
  });
  const bool went = move(out, [&](std::byte* at, std::size_t size) {
    return ::send(socket.get(), at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  });
  return came || went;
}

template <class Call>
bool Link::move(Queue& queue, const Call& call) {
  bool any = false;
  while (queue.done < queue.said) {
    const Piece& piece = queue.ring[std::size_t(queue.done % queue.ring.size())];
    if (queue.moved == piece.size) {
      ++queue.done;
      queue.moved = 0;
      continue;
    }
    const ssize_t moved = call(piece.at + queue.moved, piece.size - queue.moved);
    if (moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) break;
    if (moved <= 0) {
      broken = true;
      break;
    }
    queue.moved += std::size_t(moved);
    any = true;
  }
  return any;
}

short Link::events() const {
  return short((in.done < in.said ? POLLIN : 0) | (out.done < out.said ? POLLOUT : 0));
}

}  // namespace sinter::detail::hosts
