// SPDX-License-Identifier: Apache-2.0
// What goes over the cable between two hosts, as their interfaces count it, against the tables of docs/ranks.md.
// TCP and Ethernet add less than 5 %, but for what TCP sends again.
#include <functional>
#include <string>
#include <vector>

#include "sinter/comm/hosts.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/trainer/trainer.hpp"
#include "support/batches.hpp"
#include "support/network.hpp"
#include "support/rank_processes.hpp"
#include "support/recipes.hpp"

namespace sinter::detail::testing::hosts_volume_tests {

/// Bytes that go out of each of two hosts.
struct Bytes {
  double first = 0, second = 0;
};
/// What the interfaces of two hosts have counted, and how much of it TCP has sent a second time: it does so when
/// packets overtake each other, which they do here when a process moves to another core.
struct Sent {
  Bytes all, again;
};

/// What is sent when the ranks of two hosts, of which each has so many, do this.
Sent sent_when(const Network& network, int each, const std::function<void(const World&)>& work) {
  const auto counted = [&](auto of_host) { return Bytes{double(of_host(0)), double(of_host(1))}; };
  const auto all = [&] { return counted([&](int host) { return network.sent_by(host); }); };
  const auto again = [&] { return counted([&](int host) { return network.sent_again_by(host); }); };
  const Sent before{all(), again()};
  const auto on_host = [&](const World& world, const RankProcesses::Say&) -> std::string {
    network.enter(world.rank / each);
    work(world);
    return "done";
  };
  RankProcesses ranks(worlds_of(network, {each, each}), on_host);
  for (const std::string& said : ranks.results()) REQUIRE(said == "done");
  const auto since = [](Bytes now, Bytes then) {
    return Bytes{now.first - then.first, now.second - then.second};
  };
  return {since(all(), before.all), since(again(), before.again)};
}

void check_sent(const std::string& what, const Sent& sent, const Bytes& formula, double unit) {
  MESSAGE(what << ": the hosts send " << sent.all.first / unit << " and " << sent.all.second / unit
               << ", the formula is " << formula.first << " and " << formula.second
               << "; sent again are up to " << sent.again.first / unit << " and "
               << sent.again.second / unit);
  // In packets of 1,500 bytes 66 are headers, and every second one is acknowledged; in larger ones, which the
  // system makes if it finds the time, that is less. What ranks say of themselves is hardly anything.
  constexpr double overhead = 1.05, beside = .03;
  const auto check = [&](double all, double again, double expected) {
    CHECK(all / unit >= expected);
    CHECK((all - again) / unit < overhead * expected + beside);
  };
  check(sent.all.first, sent.again.first, formula.first);
  check(sent.all.second, sent.again.second, formula.second);
}

TEST_CASE("each transfer crosses the cable as often as the table says") {
  const Network network(2);
  if (!network.is_there()) return;
  constexpr int elements = 4 << 20;
  for (const int each : {1, 2}) {
    CAPTURE(each);
    const auto check = [&](const char* what, Bytes formula, const auto& start) {
      const Sent sent = sent_when(network, each, [&](const World& world) {
        const auto end = hosts_rank(world);
        std::vector<float> values(elements, 1);
        start(*end, values.data());
        end->wait(values.data());
        end->barrier();
      });
      check_sent(what, sent, formula, double(elements) * sizeof(float));
    };
    using End = Communicator;
    check("all-reduce", {1, 1}, [](End& end, float* x) { end.start_sum(x, elements); });
    check("all-reduce of half precision", {1, .5},
          [](End& end, float* x) { end.start_sum(reinterpret_cast<BFloat16*>(x), elements); });
    check("reduce-scatter", {1, .5},
          [](End& end, float* x) { end.start_reduce_scatter(x, elements); });
    check("all-gather", {.5, .5}, [](End& end, float* x) { end.start_all_gather(x, elements); });
    check("reduce to the first", {1, 1},
          [](End& end, float* x) { end.start_reduce(x, elements, 0); });
    check("reduce to the last", {1, 0},
          [](End& end, float* x) { end.start_reduce(x, elements, end.ranks() - 1); });
    check("broadcast by the first", {1, 0},
          [](End& end, float* x) { end.start_broadcast(x, elements, 0); });
    check("broadcast by the last", {0, 1},
          [](End& end, float* x) { end.start_broadcast(x, elements, end.ranks() - 1); });
    check("all-to-all", {.5 * each, .5 * each},
          [](End& end, float* x) { end.start_all_to_all(x, elements); });
    check("send and receive", {1, 0}, [](End& end, float* x) {
      if (end.rank() == 0) end.start_send(x, elements, end.ranks() - 1);
      if (end.rank() == end.ranks() - 1) end.start_receive(x, elements, 0);
    });
  }
}

constexpr int steps = 2, micro_batches = 2;
template <class Parallel>
struct Mode : Made<Mlp<{.in = 8, .hidden = 1024, .out = 1, .layers = 6}>, UpTo<1>, AdamW<>,
                   Batch<{.global = 8, .micro = 8 / 2 / micro_batches}>, Parallel> {};

/// `formula`: in steps of P parameters, of 4 bytes each.
template <class R>
void check_mode(const Network& network, const char* what, Bytes formula) {
  const Sent sent = sent_when(network, 1, [](const World& world) {
    Trainer<R> trainer({.seed = 1, .threads = 1, .world = world});
    for (int step = 0; step < steps; ++step)
      (void)trainer.step(regression_batch(std::vector(8, 1), 8, 1, 1));
  });
  check_sent(what, sent, formula, steps * 4. * double(Plan<R>::parameters));
}

TEST_CASE("a step of each mode moves as much as its page says") {
  const Network network(2);
  if (!network.is_there()) return;
  constexpr double m = micro_batches;
  check_mode<Mode<Ddp<{.bucket_bytes = 1}>>>(network, "Ddp", {1, 1});
  // Weights go from the root, the first, to the others.
  check_mode<Mode<SplitBatch<>>>(network, "SplitBatch", {2, 1});
  check_mode<Mode<Zero<{.bucket_bytes = 1}>>>(network, "Zero, stage 1", {1 + .5, .5 + .5});
  check_mode<Mode<Zero<{.stage = 2, .bucket_bytes = 1}>>>(network, "Zero, stage 2",
                                                          {m + .5, m * .5 + .5});
  // The last unit, which is small, is fetched once in a micro-batch, and all others twice.
  check_mode<Mode<Zero<{.stage = 3, .bucket_bytes = 1}>>>(network, "Zero, stage 3",
                                                          {m + m * 2 * .5, m * .5 + m * 2 * .5});
}

}  // namespace sinter::detail::testing::hosts_volume_tests
