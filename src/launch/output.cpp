// SPDX-License-Identifier: Apache-2.0
#include "launch/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <utility>

#include "files/system.hpp"
#include "sinter/error.hpp"

namespace sinter::detail::launch {
namespace {

enum { to_output, to_error };

[[noreturn]] void no_descriptor(int error) {
  throw Error(
      fmt::format("The system gives no descriptor for what ranks write: {}. Start fewer ranks, or "
                  "raise the limit "
                  "of open files (ulimit -n).",
                  std::generic_category().message(error)));
}

Descriptor opened(int descriptor) {
  if (descriptor < 0) no_descriptor(errno);
  return Descriptor(descriptor);
}

void count_up(int event) {
  const std::uint64_t one = 1;
  (void)!::write(event, &one, sizeof one);
}

}  // namespace

Output::Output(Shown shown)
    : shown(shown),
      null(opened(::open("/dev/null", O_WRONLY | O_CLOEXEC))),
      woken(opened(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))),
      all_written(opened(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))),
      sinks{{STDOUT_FILENO, "", ""}, {STDERR_FILENO, "", ""}} {
  if (shown == Shown::rank_0 && ::isatty(STDERR_FILENO)) sinks[to_error].before_text = "\r\033[K";
}

Output::~Output() {
  if (!thread.joinable()) return;
  finish();
  thread.join();
}

int Output::pipe_to(int sink, int rank) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) no_descriptor(errno);
  Descriptor from(ends[0]), to(ends[1]);
  ::fcntl(from.get(), F_SETFL, O_NONBLOCK);  // ranks write to the other end, which waits
  pipes.push_back({std::move(from), LabelledLines(fmt::format("[rank {}] ", rank)), sink});
  given.push_back(std::move(to));
  return given.back().get();
}

Output::Ends Output::ends_for(int rank) {
  if (shown == Shown::all) {
    const int output = pipe_to(to_output, rank);
    return {output, pipe_to(to_error, rank)};
  }
  if (rank == 0) return {STDOUT_FILENO, STDERR_FILENO};
  return {null.get(), pipe_to(to_error, rank)};
}

void Output::begin() {
  given.clear();
  thread = std::thread([this] { work(); });
}

void Output::say(std::string line) {
  {
    const std::lock_guard lock(mutex);
    said.push_back(std::move(line));
  }
  count_up(woken.get());
}

void Output::finish() {
  {
    const std::lock_guard lock(mutex);
    finishing = true;
  }
  count_up(woken.get());
}

void Output::work() {
  for (bool last = false; !last;) {
    std::vector<pollfd> waited{{woken.get(), POLLIN, 0}};
    for (const Pipe& pipe : pipes) waited.push_back({pipe.from.get(), POLLIN, 0});
    ::poll(waited.data(), waited.size(), -1);

    std::uint64_t count;
    (void)!::read(woken.get(), &count, sizeof count);
    // Text that ranks wrote before this goes first; it is in the pipes by now.
    std::vector<std::string> own;
    {
      const std::lock_guard lock(mutex);
      own.swap(said);
      last = finishing;
    }
    for (Pipe& pipe : pipes) read(pipe);
    std::erase_if(pipes, [](const Pipe& pipe) { return !pipe.from.is_open(); });
    if (last)
      for (Pipe& pipe : pipes) pipe.lines.end(sinks[pipe.to].text);
    for (const std::string& line : own) sinks[to_error].text += line + "\n";
    for (Sink& sink : sinks) write(sink);
  }
  count_up(all_written.get());
}

/// Reads at least what a pipe holds, and from one that is filled again and again not for ever.
void Output::read(Pipe& pipe) {
  std::array<char, 1 << 16> bytes;
  for (int round = 0; round < 16; ++round) {
    const ssize_t got =
        uninterrupted([&] { return ::read(pipe.from.get(), bytes.data(), bytes.size()); });
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      pipe.lines.end(sinks[pipe.to].text);
      pipe.from.close();
      return;
    }
    pipe.lines.add({bytes.data(), std::size_t(got)}, sinks[pipe.to].text);
  }
}

void Output::write(Sink& sink) {
  if (!sink.text.empty()) sink.text.insert(0, sink.before_text);
  std::string_view left = sink.text;
  while (!left.empty() && !sink.gone) {
    const ssize_t put =
        uninterrupted([&] { return ::write(sink.descriptor, left.data(), left.size()); });
    if (put >= 0) {
      left.remove_prefix(std::size_t(put));
    } else if (errno == EAGAIN) {  // another process that shares it has made it non-blocking
      pollfd room{sink.descriptor, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else {
      sink.gone = true;
    }
  }
  sink.text.clear();
}

}  // namespace sinter::detail::launch
