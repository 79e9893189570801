// SPDX-License-Identifier: Apache-2.0
#include "sinter/files/event_file.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "unit/files/support.hpp"

namespace sinter::detail::testing::event_file_tests {

/// CRC-32C, a bit at a time.
std::uint32_t crc32c(const std::string& bytes) {
  std::uint32_t crc = ~0u;
  for (unsigned char byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? 0x82f63b78u ^ crc >> 1 : crc >> 1;
  }
  return ~crc;
}

template <class Number>
Number number_at(const std::string& bytes, std::size_t at) {
  Number number;
  REQUIRE(at + sizeof number <= bytes.size());
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

/// The content of each TFRecord, whose checksums must fit.
std::vector<std::string> records(const std::string& bytes) {
  const auto masked = [](const std::string& part) {
    const std::uint32_t crc = crc32c(part);
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
  };
  std::vector<std::string> result;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto size = number_at<std::uint64_t>(bytes, at);
    CHECK(number_at<std::uint32_t>(bytes, at + 8) == masked(bytes.substr(at, 8)));
    REQUIRE(at + 16 + size <= bytes.size());
    result.push_back(bytes.substr(at + 12, size));
    CHECK(number_at<std::uint32_t>(bytes, at + 12 + size) == masked(result.back()));
    at += 16 + size;
  }
  return result;
}

/// A record of an event, which begins with the time, without that.
std::string untimed(const std::string& event) {
  REQUIRE(event.size() >= 9);
  CHECK(event[0] == '\x09');
  CHECK(number_at<double>(event, 1) > 1.7e9);
  return event.substr(9);
}

std::string in_hexadecimal(const std::string& bytes) {
  std::string text;
  for (unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

constexpr std::array two{Scalar{"a", 1.5}, Scalar{"b", -2}};

TEST_CASE("the test's own checksum is CRC-32C") {
  CHECK(crc32c("123456789") == 0xe3069283u);            // the catalogue's check value
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aau);  // RFC 3720, B.4
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43u);
}

TEST_CASE("an event file is TFRecords of events") {
  TemporaryFolder folder;
  EventFile events(folder.path(), 0);
  events.scalars(300, two);
  events.text(2, "n", "*m*");
  const std::string name = events.path().filename().string();
  CHECK(name.starts_with("events.out.tfevents."));
  const auto found = records(get(events.path()));
  REQUIRE(found.size() == 4);
  CHECK(in_hexadecimal(untimed(found[0])) == "10001a0d" + in_hexadecimal("brain.Event:2"));
  // Written by hand: step = 1, session_log {status: START}
  CHECK(in_hexadecimal(untimed(found[1])) == "10013a020801");
  // step = 300; summary of two values, each of a tag and a simple_value
  CHECK(in_hexadecimal(untimed(found[2])) ==
        "10ac022a14"
        "0a080a0161150000c03f"
        "0a080a016215000000c0");
  // step = 2; value {tag, tensor {DT_STRING, shape {1}, string_val}, metadata {plugin "text"}}
  CHECK(in_hexadecimal(untimed(found[3])) ==
        "10022a1e0a1c0a016e"
        "420d080712041202080142032a6d2a"
        "4a080a060a0474657874");
}

TEST_CASE("a step that is not beyond the last one begins anew there") {
  TemporaryFolder folder;
  EventFile events(folder.path(), 10);
  for (int step : {10, 11, 12, 12, 11, 12}) events.scalars(step, two);
  std::vector<std::string> order;
  for (const std::string& event : records(get(events.path()))) {
    const std::string rest = untimed(event);
    if (rest[2] == '\x1a') continue;
    order.push_back((rest[2] == '\x3a' ? "from " : "") + std::to_string(int(rest[1])));
  }
  CHECK(order == std::vector<std::string>{"from 11", "from 10", "10", "11", "12", "from 12", "12",
                                          "from 11", "11", "12"});
}

TEST_CASE("each start of a run has an event file of its own") {
  TemporaryFolder folder;
  const EventFile one(folder.path(), 0), other(folder.path(), 5);
  CHECK(one.path() != other.path());
}

TEST_CASE("an event file that was removed is written again when it is made durable") {
  TemporaryFolder folder;
  EventFile events(folder.path(), 0);
  events.scalars(1, two);
  const std::string before = get(events.path());
  fs::remove(events.path());
  events.sync();
  CHECK(get(events.path()) == before);
  events.scalars(2, two);
  CHECK(records(get(events.path())).size() == 4);
}

TEST_CASE("an event file that cannot be written is an error that names it") {
  TemporaryFolder folder;
  CHECK(contains(message_of([&] { EventFile(folder / "none", 0); }), "none/events.out.tfevents."));
}

}  // namespace sinter::detail::testing::event_file_tests
