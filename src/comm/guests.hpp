// SPDX-License-Identifier: Apache-2.0
// The wait of rank 0 for the others.
#pragma once
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

namespace sinter::detail {

/// Milliseconds from now on, at least 0, as poll() takes them.
inline int left_until(std::chrono::steady_clock::time_point end) {
  using namespace std::chrono;
  const auto left = duration_cast<milliseconds>(end - steady_clock::now()).count();
  return int(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

/// Such as "ranks 1, 2 of 5 have not come"; of many, the first 16.
/// requires  at least one is missing
inline std::string late_text(const std::vector<int>& missing, int ranks) {
  std::string text = missing.size() == 1 ? "rank" : "ranks";
  for (std::size_t k = 0; k < std::min<std::size_t>(missing.size(), 16); ++k)
    text += (k ? ", " : " ") + std::to_string(missing[k]);
  if (missing.size() > 16) text += " and more";
  return text + " of " + std::to_string(ranks) +
         (missing.size() == 1 ? " has not come" : " have not come");
}

/// Waits until all ranks but the first have come to rank 0, which is a Host and has
///   ranks(), end     their number, and the time by which they must come
///   socket(rank)     the connection with a rank that has come, else -1; no text follows
///   listener, admit()  the listening socket, and the function that accepts a rank
///   name(rank)       its name in messages
///   refuse(text)     sends all ranks, and throws, why they cannot begin
///   late(text)       the message if some ranks, which the text names, have not come
template <class Host>
void await_guests(Host& host) {
  for (;;) {
    std::vector<pollfd> all{{host.listener.get(), POLLIN, 0}};
    std::vector<int> come, missing;
    for (int r = 1; r < host.ranks(); ++r) {
      const int socket = host.socket(r);
      (socket < 0 ? missing : come).push_back(r);
      if (socket >= 0) all.push_back({socket, POLLIN, 0});
    }
    if (missing.empty()) return;
    const int ready = poll(all.data(), all.size(), left_until(host.end));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 1) host.refuse(host.late(late_text(missing, host.ranks())));
    for (std::size_t k = 0; k < come.size(); ++k)
      if (all[k + 1].revents)  // which is its end
        host.refuse(host.name(come[k]) + " has ended before all ranks had come.");
    if (all[0].revents) host.admit();
  }
}

}  // namespace sinter::detail
