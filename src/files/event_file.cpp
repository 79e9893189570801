// SPDX-License-Identifier: Apache-2.0
// A TFRecord is a length, its checksum, the bytes and their checksum; here the bytes are an
// `Event`. Numbers below are those of the fields in tensorboard/compat/proto/event.proto,
// summary.proto and tensor.proto.
#include "sinter/files/event_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <boost/crc.hpp>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include "files/system.hpp"

namespace sinter::detail {
namespace {

namespace fs = std::filesystem;
using Crc32c = boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true>;

template <class Number>
std::string little_endian(Number number) {
  std::string bytes(sizeof number, '\0');
  for (std::size_t k = 0; k < sizeof number; ++k) bytes[k] = char(number >> 8 * k & 0xff);
  return bytes;
}

/// The checksum of a TFRecord: masked, as the record may itself hold checksums.
std::string checksum(std::string_view bytes) {
  Crc32c crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return little_endian(std::rotr(std::uint32_t(crc.checksum()), 15) + 0xa282ead8u);
}

std::string record(std::string_view event) {
  const std::string length = little_endian(std::uint64_t(event.size()));
  return length + checksum(length) + std::string(event) + checksum(event);
}

/// A protocol buffer's message: its fields, one after the other.
class Message {
  std::string bytes;

  void varint(std::uint64_t number) {
    for (; number > 0x7f; number >>= 7) bytes += char(0x80 | (number & 0x7f));
    bytes += char(number);
  }
  void tag(unsigned field, unsigned wire) { varint(field << 3 | wire); }

 public:
  Message& integer(unsigned field, std::int64_t value) {
    tag(field, 0);
    varint(std::uint64_t(value));
    return *this;
  }
  Message& number(unsigned field, double value) {
    tag(field, 1);
    bytes += little_endian(std::bit_cast<std::uint64_t>(value));
    return *this;
  }
  Message& single(unsigned field, float value) {
    tag(field, 5);
    bytes += little_endian(std::bit_cast<std::uint32_t>(value));
    return *this;
  }
  Message& text(unsigned field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    bytes += value;
    return *this;
  }
  Message& message(unsigned field, const Message& value) { return text(field, value.bytes); }
  std::string_view view() const { return bytes; }
};

Message event_at(std::int64_t step) {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  return Message().number(1, now.count()).integer(2, step);
}

/// The name of this host in the name of a file.
std::string host_in_file_name() {
  std::string host = host_name("host");
  std::replace(host.begin(), host.end(), '/', '_');
  return host;
}

AppendedFile new_file(const fs::path& folder) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::system_clock::now().time_since_epoch());
  std::error_code error;
  for (int n = 0;; ++n) {
    fs::path path = folder / fmt::format("events.out.tfevents.{:010}.{}.{}.{}", seconds.count(),
                                         host_in_file_name(), ::getpid(), n);
    if (fs::symlink_status(path, error).type() == fs::file_type::not_found)
      return {std::move(path), AppendedFile::Mode::created};
  }
}

}  // namespace

EventFile::EventFile(const fs::path& folder, std::int64_t steps_before)
    : file(new_file(folder)), reached(steps_before) {
  file.append(record(event_at(0).text(3, "brain.Event:2").view()));
  restart(steps_before + 1);
}

/// Has TensorBoard drop what there is of this step and those behind it.
void EventFile::restart(std::int64_t step) {
  constexpr std::int64_t start = 1;
  file.append(record(event_at(step).message(7, Message().integer(1, start)).view()));
}

void EventFile::scalars(std::int64_t step, std::span<const Scalar> values) {
  if (step <= reached) restart(step);
  Message summary;
  for (const Scalar& scalar : values)
    summary.message(1, Message().text(1, scalar.name).single(2, float(scalar.value)));
  file.append(record(event_at(step).message(5, summary).view()));
  reached = step;
}

void EventFile::text(std::int64_t step, std::string_view name, std::string_view markdown) {
  constexpr std::int64_t string_type = 7;
  const Message plugin = Message().message(1, Message().text(1, "text"));
  const Message shape = Message().message(2, Message().integer(1, 1));
  const Message tensor = Message().integer(1, string_type).message(2, shape).text(8, markdown);
  const Message value = Message().text(1, name).message(8, tensor).message(9, plugin);
  file.append(record(event_at(step).message(5, Message().message(1, value)).view()));
}

}  // namespace sinter::detail
