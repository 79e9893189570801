// SPDX-License-Identifier: Apache-2.0
#include "sinter/hardware/stream.hpp"

#include <atomic>
#include <chrono>
#include <ctime>
#include <memory>
#include <thread>
#include <vector>

#include "unit/kernels/support.hpp"

using sinter::kernel::Stream;

TEST_CASE("every part runs once") {
  for (int threads : {-1, 1, 2, 3, 5}) {
    Stream stream(threads);
    CHECK(stream.threads() == std::max(threads, 1));
    for (int repeat = 0; repeat < 50; ++repeat) {
      for (int parts : {0, 1, 2, 3, 17}) {
        std::vector<std::atomic<int>> calls(parts);
        stream.parallel(parts, [&](int part) { ++calls[part]; });
        for (int part = 0; part < parts; ++part) CHECK(calls[part] == 1);
      }
    }
  }
  for (int parts : {65535 * 2, 65535 * 2 + 1, 300000}) {
    Stream stream(2);
    std::vector<char> calls(parts);
    stream.parallel(parts, [&](int part) { ++calls[part]; });
    CHECK(calls == std::vector<char>(parts, 1));
  }
}

TEST_CASE("a part runs on the thread that its number names, where that does not lag") {
  Stream stream(2);
  std::atomic<int> begun = 0;
  std::vector<std::thread::id> where(6);
  stream.parallel(6, [&](int part) {
    where[part] = std::this_thread::get_id();
    // Each waits for the other, which so takes no more than its own.
    for (++begun; begun < part / 2 * 2 + 2;) std::this_thread::yield();
  });
  CHECK(where[0] == std::this_thread::get_id());
  CHECK(where[1] != where[0]);
  for (int part = 2; part < 6; ++part) CHECK(where[part] == where[part % 2]);
}

TEST_CASE("parts that a lagging thread has not begun are run by the others") {
  for (int threads : {2, 3, 4})
    for (int laggard = 0; laggard < threads; ++laggard) {
      Stream stream(threads);
      constexpr int parts = 24;
      std::vector<std::atomic<int>> calls(parts);
      std::atomic<int> others = 0;
      // Without help this would never end: the laggard's other parts would wait for this one.
      stream.parallel(parts, [&](int part) {
        ++calls[part];
        if (part != laggard) {
          ++others;
        } else {
          while (others < parts - 1) std::this_thread::yield();
        }
      });
      for (const auto& count : calls) CHECK(count == 1);
    }
}

TEST_CASE("a lane of together() whose thread lags is run by another, as that lane") {
  Stream stream(3);
  for (int repeat = 0; repeat < 300; ++repeat) {
    if (repeat % 3 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // all sleep
    std::vector<int> calls(31);
    stream.together(true, [&] {
      const auto caller = std::this_thread::get_id();
      stream.parallel(31, [&](int part) { calls[part] += std::this_thread::get_id() == caller; });
    });
    CHECK(calls == std::vector<int>(31, 1));
  }
}

TEST_CASE("a thread that comes late to short calls touches none that is over") {
  Stream stream(4);
  for (int repeat = 0; repeat < 20000; ++repeat) {
    auto calls = std::make_unique<std::vector<int>>(repeat % 7 + 1);
    const int parts = int(calls->size());
    if (repeat % 3) {
      stream.parallel(parts, [calls = calls.get()](int part) { ++(*calls)[part]; });
    } else {
      stream.together(true, [&, calls = calls.get()] {
        stream.parallel(parts, [=](int part) { ++(*calls)[part]; });
      });
    }
    REQUIRE(*calls == std::vector<int>(parts, 1));
  }
}

TEST_CASE("writes of the parts are seen after parallel() returns") {
  Stream stream(4);
  std::vector<int> values(4000);
  for (int round = 1; round <= 2000; ++round) {
    stream.parallel(4, [&](int part) {
      for (int i = part; i < 4000; i += 400) values[i] += 1;
    });
    int sum = 0;
    for (int v : values) sum += v;
    REQUIRE(sum == round * 4 * 10);
  }
}

TEST_CASE("a nested call runs in order on the calling thread") {
  Stream stream(2);
  std::vector<std::vector<int>> order(2);
  std::atomic<int> elsewhere = 0;
  stream.parallel(2, [&](int part) {
    auto caller = std::this_thread::get_id();
    stream.parallel(3, [&](int inner) {
      order[part].push_back(inner);
      elsewhere += std::this_thread::get_id() != caller;
    });
  });
  CHECK(order == std::vector<std::vector<int>>{{0, 1, 2}, {0, 1, 2}});
  CHECK(elsewhere == 0);
}

TEST_CASE("together, every part runs once, and nobody waits between") {
  for (int threads : {1, 2, 3})
    for (bool worth : {false, true}) {
      Stream stream(threads);
      for (int repeat = 0; repeat < 200; ++repeat) {
        std::vector<int> first(17), second(5), nested(4);
        stream.together(worth, [&] {
          stream.parallel(17, [&](int part) { ++first[part]; });
          stream.parallel(0, [&](int) { FAIL("there is no part"); });
          stream.together(worth, [&] { stream.parallel(5, [&](int part) { ++second[part]; }); });
          stream.parallel(1, [&](int) { stream.parallel(4, [&](int part) { ++nested[part]; }); });
        });
        CHECK(first == std::vector<int>(17, 1));
        CHECK(second == std::vector<int>(5, 1));
        CHECK(nested == std::vector<int>(4, 1));
      }
    }
  Stream stream(2);
  std::atomic<bool> second_has_begun = false;
  stream.together(true, [&] {  // where one waits for the other, this would never end
    stream.parallel(2, [&](int part) {
      while (part == 0 && !second_has_begun) std::this_thread::yield();
    });
    stream.parallel(2, [&](int part) { part == 1 ? void(second_has_begun = true) : void(); });
  });
  CHECK(second_has_begun);
}

TEST_CASE("streams of several threads work at the same time") {
  std::atomic<int> sum = 0;
  std::vector<std::thread> users;
  for (int user = 0; user < 4; ++user)
    users.emplace_back([&] {
      Stream stream(2);
      for (int i = 0; i < 500; ++i) stream.parallel(5, [&](int part) { sum += part; });
    });
  for (auto& user : users) user.join();
  CHECK(sum == 4 * 500 * 10);
}

TEST_CASE("threads live as long as any stream that has them") {
  auto first = std::make_unique<Stream>(3);
  Stream second(*first, sinter::kernel::MatmulInputs::rounded);
  first.reset();
  CHECK(second.threads() == 3);
  std::atomic<int> calls = 0;
  second.parallel(7, [&](int) { ++calls; });
  CHECK(calls == 7);
}

TEST_CASE("an idle stream sleeps") {
  Stream stream(4);
  stream.parallel(4, [](int) {});
  auto processor_seconds = [] { return double(std::clock()) / CLOCKS_PER_SEC; };
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  double before = processor_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK(processor_seconds() - before < 0.1);
}
