// SPDX-License-Identifier: Apache-2.0
// Arguments that change with each run of a graph, the mistakes that it shows, and the device's own memory.
#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <vector>

#include "emulated/alike.hpp"
#include "hardware/cuda/launch.hpp"
#include "hardware/cuda/queue.hpp"
#include "sinter/hardware/memory.hpp"
#include "support/ended.hpp"

using namespace sinter;
using namespace sinter::detail;
using namespace sinter::kernel;
using sinter::detail::testing::Ended;
using sinter::detail::testing::ended_by;

namespace {

__global__ void add_argument(double* to, Argument<double> value) { *to += *value; }
__global__ void add_number(double* to, double value) { *to += value; }

/// A number in the device's memory.
template <class T>
struct Place {
  Stream& stream;
  DeviceMemory memory{sizeof(T)};

  T* at() const { return reinterpret_cast<T*>(memory.bytes().data()); }
  T get() const { return *OnHost(stream, memory.bytes().data(), sizeof(T), Access::read).as<T>(); }
  void set(T value) const {
    *OnHost(stream, memory.bytes().data(), sizeof(T), Access::write).as<T>() = value;
  }
};

bool says(const Ended& ended, const std::string& what) {
  return ended.signal == SIGABRT && ended.error.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("a graph takes new arguments in each run") {
  Stream stream(1);
  const Place<double> sum{stream};
  for (double value : {1., 10., 100.})
    stream.as_graph(alike, [&] {
      launch(stream, {1, 1}, add_argument, sum.at(), stream.device().argument(value));
      launch(stream, {1, 1}, add_argument, sum.at(), stream.device().argument(value * 2));
    });
  CHECK(sum.get() == 333);
}

TEST_CASE("a number that is no argument is noticed when it changes") {
  auto run = [](double second) {
    return ended_by([=] {
      Stream stream(1);
      const Place<double> sum{stream};
      for (double value : {1., second})
        stream.as_graph(alike, [&] { launch(stream, {1, 1}, add_number, sum.at(), value); });
      if (sum.get() != 1 + second) std::abort();
    });
  };
  CHECK(run(1).signal == 0);
  CHECK(says(run(2), "differ from those that were recorded"));
}

TEST_CASE("an argument outside the device's memory, or memory of the host, is refused in a graph") {
  auto run = [](bool planned, bool on_host) {
    return ended_by([=] {
      Stream stream(1);
      const Place<double> sum{stream};
      double mine = 0;
      stream.as_graph(alike, [&] {
        const Argument<double> value =
            planned ? stream.device().argument(1.) : Argument<double>{1, nullptr};
        launch(stream, {1, 1}, add_argument, on_host ? &mine : sum.at(), value);
      });
    });
  };
  CHECK(run(true, false).signal == 0);
  CHECK(says(run(false, false), "an Argument that is not in the device's memory"));
  CHECK(says(run(true, true), "memory of the host"));
}

TEST_CASE("launches that come or stay away are noticed") {
  auto run = [](int first, int second) {
    return ended_by([=] {
      Stream stream(1);
      const Place<double> sum{stream};
      for (int launches : {first, second})
        stream.as_graph(alike, [&] {
          for (int k = 0; k < launches; ++k)
            launch(stream, {1, 1}, add_argument, sum.at(), stream.device().argument(1.));
        });
    });
  };
  CHECK(run(2, 2).signal == 0);
  CHECK(says(run(2, 3), "more launches"));
  CHECK(says(run(3, 2), "fewer launches"));
}

TEST_CASE("a part of a graph hangs on a number that kernels before it leave") {
  Stream stream(1);
  const Place<double> sum{stream};
  const Place<std::int32_t> condition{stream};
  for (int applied : {1, 0, 1}) {
    condition.set(applied);
    stream.as_graph(alike, [&] {
      stream.only_if(condition.at(), [&] {
        launch(stream, {1, 1}, add_argument, sum.at(), stream.device().argument(1.));
      });
      launch(stream, {1, 1}, add_argument, sum.at(), stream.device().argument(100.));
    });
  }
  CHECK(sum.get() == 302);
}

TEST_CASE("a graph takes more arguments than before, and no memory in its making") {
  Stream stream(1);
  const std::vector<std::int32_t> ids(100'000, 3);  // more than a block of arguments
  DeviceMemory memory(std::int64_t(ids.size() * sizeof ids[0]));
  for (int run = 0; run < 2; ++run)
    stream.as_graph(alike, [&] { put_ids(stream, ids, memory.bytes().data(), 0, 0); });
  const OnHost host(stream, memory.bytes().data(), 400'000, Access::read);
  CHECK(std::vector<std::int32_t>(host.as<std::int32_t>(), host.as<std::int32_t>() + ids.size()) ==
        ids);
  const auto ended = ended_by([] {
    Stream other(1);
    int calls = 0;
    other.as_graph(alike, [&] {
      if (++calls == 2) DeviceMemory taken(8);
    });
  });
  CHECK(says(ended, "memory that is taken while a graph is recorded"));
}

TEST_CASE("a condition within a condition is refused") {
  const auto ended = ended_by([] {
    Stream stream(1);
    const Place<std::int32_t> condition{stream};
    stream.as_graph(alike, [&] {
      stream.only_if(condition.at(), [&] { stream.only_if(condition.at(), [] {}); });
    });
  });
  CHECK(says(ended, "a condition within"));
}

TEST_CASE("the host reaches the device's memory by OnHost alone") {
  Stream stream(1);
  const Place<double> place{stream};
  CHECK(place.get() == 0);
  place.set(2.5);
  CHECK(place.get() == 2.5);
  CHECK(ended_by([&] { place.get(); }).signal == 0);
  volatile double* stolen = place.at();
  CHECK(ended_by([&] { (void)*stolen; }).signal == SIGSEGV);
  CHECK(ended_by([&] { *stolen = 1; }).signal == SIGSEGV);
  CHECK(place.get() == 2.5);
}

TEST_CASE("copies by the host are no part of a graph") {
  const auto ended = ended_by([] {
    Stream stream(1);
    const Place<double> place{stream};
    stream.as_graph(alike, [&] { place.set(1); });
  });
  CHECK(says(ended, "a copy to or from the host in a graph"));
}

TEST_CASE("copies and zeros on the device are launches like others") {
  Stream stream(1);
  DeviceMemory memory(64);
  std::byte *from = memory.bytes().data(), *to = from + 32;
  auto numbers = [&](std::byte* at) {
    const OnHost host(stream, at, 12, Access::read);
    return std::vector<std::int32_t>(host.as<std::int32_t>(), host.as<std::int32_t>() + 3);
  };
  for (int run = 0; run < 2; ++run) {
    const std::vector<std::int32_t> ids{run + 1, 7};
    put_ids(stream, ids, from, 1, -1);
    CHECK(numbers(from) == std::vector<std::int32_t>{run + 1, 7, -1});
    stream.as_graph(alike, [&] {
      copy_on_device(stream, from, to, 12);
      clear_on_device(stream, from, 8);
    });
    CHECK(numbers(to) == std::vector<std::int32_t>{run + 1, 7, -1});
    CHECK(numbers(from) == std::vector<std::int32_t>{0, 0, -1});
  }
}
