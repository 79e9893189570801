// SPDX-License-Identifier: Apache-2.0
// Copies to the host that are made beside a stream's work, and what must wait for them.
#include <doctest/doctest.h>

#include <cstring>
#include <new>
#include <string>
#include <thread>

#include "emulated/alike.hpp"
#include "hardware/cuda/launch.hpp"
#include "sinter/hardware/memory.hpp"
#include "support/ended.hpp"

using namespace sinter;
using namespace sinter::detail;
using namespace sinter::kernel;
using sinter::detail::testing::ended_by;

namespace {

__global__ void add_argument(double* to, Argument<double> value) { *to += *value; }

/// A number in the device's memory, 0 at first, and a copy of it.
struct Copied {
  Stream stream{1};
  DeviceMemory memory{sizeof(double)};
  BackgroundCopy copy{sizeof(double)};

  ~Copied() { finish_copies(stream); }
  std::byte* at() const { return memory.bytes().data(); }
  void begin(BackgroundCopy& to) {
    const std::span<const std::byte> part(at(), sizeof(double));
    to.begin(stream, {&part, 1});
  }
  void begin() { begin(copy); }
  void add(double value) {
    launch(stream, {1, 1}, add_argument, reinterpret_cast<double*>(at()),
           stream.device().argument(value));
  }
  double now() { return *OnHost(stream, at(), sizeof(double), Access::read).as<double>(); }
  static double value_of(const BackgroundCopy& copy) {
    copy.wait();
    double value;
    std::memcpy(&value, copy.bytes().data(), sizeof value);
    return value;
  }
  double copied() const { return value_of(copy); }
};

}  // namespace

TEST_CASE("a graph that waits for a copy leaves it as it was begun, in each of its runs") {
  Copied number;
  for (int run = 0; run < 3; ++run) {
    number.begin();
    number.stream.as_graph(alike, [&] {
      order_after_copies(number.stream);
      number.add(1);
    });
    CHECK(number.now() == run + 1);
    CHECK(number.copied() == run);
  }
}

TEST_CASE("conditional work waits for a copy, in a graph and in direct launches") {
  Copied number;
  const DeviceMemory condition(sizeof(std::int32_t));
  auto* at = reinterpret_cast<std::int32_t*>(condition.bytes().data());
  const auto step = [&] { number.stream.only_if(at, [&] { number.add(1); }); };
  *OnHost(number.stream, condition.bytes().data(), sizeof *at, Access::write).as<std::int32_t>() =
      1;
  for (int run = 0; run < 4; ++run) {
    number.begin();
    run % 2 ? step() : number.stream.as_graph(alike, step);
    CHECK(number.now() == run + 1);
    CHECK(number.copied() == run);
  }
}

TEST_CASE("a graph that does not wait changes what is still to be copied") {
  Copied number;
  for (int run = 0; run < 2; ++run) {
    number.begin();
    number.stream.as_graph(alike, [&] { number.add(1); });
    CHECK(number.copied() == run + 1);
  }
}

TEST_CASE("direct launches come after the copy where they wait for it, and only there") {
  Copied number;
  number.begin();
  order_after_copies(number.stream);
  number.add(1);
  CHECK(number.copied() == 0);
  number.begin();
  number.add(1);
  CHECK(number.copied() == 2);
}

TEST_CASE("writes of the host wait for the copy") {
  Copied number;
  number.begin();
  *OnHost(number.stream, number.at(), sizeof(double), Access::write).as<double>() = 5;
  CHECK(number.now() == 5);
  CHECK(number.copied() == 0);
}

TEST_CASE("copies of one stream are made in order") {
  Copied number;
  BackgroundCopy other(sizeof(double));
  number.begin();
  number.begin(other);
  order_after_copies(number.stream);
  number.add(1);
  number.begin();
  CHECK(Copied::value_of(other) == 0);
  CHECK(number.copied() == 1);
}

TEST_CASE("another thread may wait, and the stream may be gone by then") {
  BackgroundCopy copy(sizeof(double));
  {
    Copied number;
    number.add(3);
    number.begin(copy);
  }
  double value = 0;
  std::thread([&] { value = Copied::value_of(copy); }).join();
  CHECK(value == 3);
}

TEST_CASE("parts are copied one behind the other") {
  Stream stream(1);
  DeviceMemory memory(16);
  const std::byte* at = memory.bytes().data();
  {
    const OnHost host(stream, memory.bytes().data(), 16, Access::write);
    for (int k = 0; k < 4; ++k) host.as<int>()[k] = k;
  }
  BackgroundCopy copy(12);
  const std::span<const std::byte> parts[]{{at + 8, 8}, {at, 4}};
  copy.begin(stream, parts);
  copy.wait();
  int got[3];
  std::memcpy(got, copy.bytes().data(), sizeof got);
  CHECK(got[0] == 2);
  CHECK(got[1] == 3);
  CHECK(got[2] == 0);
}

TEST_CASE("a copy that the host has no memory for is refused") {
  CHECK_THROWS_AS(BackgroundCopy(std::size_t{1} << 60), std::bad_alloc);
}

TEST_CASE("a wait within a condition, and a copy within a graph, are refused") {
  auto error_of = [](auto work) {
    return ended_by([=] {
             Copied number;
             number.stream.as_graph(alike, [&] { work(number); });
           })
        .error;
  };
  const std::string wait = error_of([](Copied& number) {
    number.stream.only_if(reinterpret_cast<const std::int32_t*>(number.at()),
                          [&] { order_after_copies(number.stream); });
  });
  CHECK(wait.find("a wait for copies, or a condition within what hangs on one") != wait.npos);
  const std::string copy = error_of([](Copied& number) { number.begin(); });
  CHECK(copy.find("a copy to or from the host in a graph") != copy.npos);
}
