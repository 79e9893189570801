// SPDX-License-Identifier: Apache-2.0
// Each rule of the simulation of all ranks, broken by a program of one of them.
#include "sinter/proof/simulate.hpp"

#include <doctest/doctest.h>

#include <set>

#include "program/models.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/proof/proof.hpp"
#include "support/rules.hpp"

namespace sinter::detail::testing {
namespace {

using Reduced = Made<Letters, Gpt2<tiny>, Batch<{.global = 4, .micro = 1}>,
                     Ddp<{.bucket_bytes = 500, .ranks = 2}>>;
static_assert(ready<Reduced>());
const Model& model = Plan<Reduced>::model;

std::set<std::string> provoked;
WorldVerdict expect(std::vector<RankProgram> ranks, const char* rule) {
  const WorldVerdict verdict = simulate(model, ranks);
  CAPTURE(rule);
  REQUIRE(!verdict.fine());
  CHECK(std::string(verdict.what) == rule);
  CHECK(verdict.one.rank >= 0);
  CHECK(verdict.other.rank >= 0);
  provoked.insert(verdict.what);
  return verdict;
}
bool fine(const std::vector<RankProgram>& ranks) { return simulate(model, ranks).fine(); }

Program shipped() { return {Plan<Reduced>::program.begin(), Plan<Reduced>::program.end()}; }
/// The position of the n-th instruction of this kind.
int find(const Program& program, const Kind& kind, int n = 0) {
  for (int t = 0; t < int(program.size()); ++t)
    if (program[std::size_t(t)].kind == &kind && n-- == 0) return t;
  FAIL("no such instruction");
  return -1;
}
const Kind &reduce = reduce_kind<float>, &await = await_reduce_kind<float>;

TEST_CASE("ranks of a shipped program fit together, however many there are") {
  for (int ranks : {1, 2, 3, 5, 64})
    for (int iterations : {1, 2, 7}) {
      CAPTURE(ranks);
      CAPTURE(iterations);
      CHECK(simulate(model, Plan<Reduced>::program, ranks, iterations).fine());
    }
}

TEST_CASE("a bucket that one rank leaves out, doubles or swaps is found") {
  const Program p = shipped();
  const int first = find(p, reduce), second = find(p, reduce, 1);
  Program left_out = p, doubled = p, swapped = p, harmless = p;
  left_out.erase(left_out.begin() + first);
  doubled.insert(doubled.begin() + first, p[std::size_t(first)]);
  std::swap(swapped[std::size_t(first)], swapped[std::size_t(second)]);
  const char* others = "ranks differ in the instruction";
  const WorldVerdict verdict = expect({{p}, {p}, {swapped}}, others);
  CHECK(verdict.one == RankPlace{2, first, 0});
  CHECK(verdict.other.rank != 2);
  CHECK(verdict.other.position == first);
  expect({{p}, {left_out}}, others);
  expect({{doubled}, {p}}, others);
  expect({{doubled}, {doubled}}, "started and not waited for");
  const WorldVerdict early = expect({{left_out}, {left_out}}, "waits for what it has not started");
  CHECK(early.one.position == find(left_out, await));
  CHECK(early.other.position == int(left_out.size()));

  // What a rank does for itself may stand anywhere.
  std::swap(harmless[std::size_t(find(p, forward))], harmless[std::size_t(find(p, forward, 1))]);
  CHECK(fine({{p}, {harmless}}));
}

TEST_CASE("of ranks that speak alike one is judged as all of them are") {
  const Program p = shipped();
  const int first = find(p, reduce), wait = find(p, await);
  Program left_out = p, unawaited = p, doubled = p;
  left_out.erase(left_out.begin() + first);
  unawaited.erase(unawaited.begin() + wait);
  doubled.insert(doubled.begin() + wait, p[std::size_t(wait)]);
  for (const Program& program : {p, left_out, unawaited, doubled})
    for (int iterations : {1, 2}) {
      const WorldVerdict one = simulate(model, program, 3, iterations, true);
      const WorldVerdict all = simulate(model, program, 3, iterations, false);
      CHECK(one.fine() == (program == p));
      CHECK(one.fine() == all.fine());
      if (all.fine()) continue;
      CHECK(std::string(one.what) == all.what);
      CHECK(one.one.position == all.one.position);
    }
}

/// Has rank r say what all say, or nothing where it is none of `Who`; `Shift` and `More` change the array on
/// the last rank, as the other arguments do.
template <Operation O, Traffic::Does Does, int Shift = 0, int More = 0, bool Doubles = false>
void say(const Model&, const Instruction& i, const OnRank& on, TrafficList& out) {
  const bool last = on.rank == on.ranks - 1;
  out.push_back({O, Does, Space::gradient, i.what + (last ? Shift : 0), 8 + (last ? More : 0),
                 last && Doubles ? Element::f64 : Element::f32});
}
constexpr Kind kind_of(decltype(Kind::traffic) traffic) {
  return {.name = "own", .touch = touches::nothing, .traffic = traffic};
}
constexpr auto all = Operation::all_reduce;

TEST_CASE("operations that ranks do together must be the same") {
  static constexpr Kind sum = kind_of(say<all, Traffic::both>),
                        gather = kind_of(say<Operation::all_gather, Traffic::both>),
                        shifted = kind_of(say<all, Traffic::both, 8>),
                        longer = kind_of(say<all, Traffic::both, 0, 1>),
                        wider = kind_of(say<all, Traffic::both, 0, 0, true>);
  const Program sums{{&sum, 0}}, gathers{{&gather, 0}}, elsewhere{{&shifted, 0}},
      more{{&longer, 0}}, doubles{{&wider, 0}};
  CHECK(fine({{sums}, {sums}, {sums}}));
  expect({{sums}, {gathers}}, "ranks differ in the operation");
  expect({{elsewhere}, {elsewhere}}, "ranks differ in the array");
  expect({{more}, {more}}, "ranks differ in the size");
  expect({{doubles}, {doubles}}, "ranks differ in the type");
  const Program none;
  const WorldVerdict verdict = expect({{sums}, {none}}, "waits for a rank at its end");
  CHECK(verdict.one == RankPlace{0, 0, 0});
  CHECK(verdict.other == RankPlace{1, 0, 0});
}

TEST_CASE("in the loop, all ranks have as many iterations") {
  static constexpr Kind sum = kind_of(say<all, Traffic::both>);
  const Program always{{&loop}, {&sum, 0}, {&end_loop}},
      first{{&loop}, {&sum, 0, 1, When::first}, {&end_loop}},
      last{{&loop}, {&sum, 0, 1, When::last}, {&end_loop}};
  CHECK(fine({{always, 2}, {always, 2}}));
  expect({{always, 1}, {always, 2}}, "waits for a rank at its end");
  expect({{first, 2}, {last, 2}}, "ranks differ in the micro-batch");
  CHECK(fine({{first, 1}, {last, 1}}));
  CHECK(telling_iterations(always) == 2);
  CHECK(telling_iterations(last) == 1);
}

template <bool Sends, Traffic::Does Does, int To, int Count = 8>
void pass(const Model&, const Instruction& i, const OnRank&, TrafficList& out) {
  out.push_back({Sends ? Operation::send : Operation::receive, Does, Space::value, i.what, Count,
                 Element::f32, 0, To});
}
template <bool Sends, Traffic::Does Does, int To, int Count = 8>
constexpr Kind passes = kind_of(pass<Sends, Does, To, Count>);

TEST_CASE("a send from one rank must fit the receive of another") {
  constexpr auto both = Traffic::both;
  const Instruction to_1{&passes<true, both, 1>}, from_0{&passes<false, both, 0>},
      to_0{&passes<true, both, 0>}, from_1{&passes<false, both, 1>}, to_2{&passes<true, both, 2>},
      from_2{&passes<false, both, 2>};
  const Program forth{to_1, from_1}, back{from_0, to_0};
  CHECK(fine({{forth}, {back}}));
  // A ring in which all send first, and each waits until the next one takes it.
  const Program at_0{to_1, from_2}, at_1{to_2, from_0}, at_2{to_0, from_1};
  expect({{at_0}, {at_1}, {at_2}}, "ranks wait for each other");
  CHECK(fine({{at_0}, {Program{from_0, to_2}}, {Program{from_1, to_0}}}));
  // Both wait for what the other sends only then.
  const WorldVerdict both_first =
      expect({{Program{from_1, to_1}}, {Program{from_0, to_0}}}, "ranks wait for each other");
  CHECK(both_first.one == RankPlace{0, 0, 0});
  CHECK(both_first.other == RankPlace{1, 0, 0});
  const Instruction longer{&passes<false, both, 0, 9>};
  expect({{Program{to_1}}, {Program{longer}}}, "ranks differ in the size");
  expect({{Program{to_1}}}, "names a rank that is not there");
  expect({{Program{to_0}}, {Program{}}}, "names itself as another rank");
}

template <bool Sends, int To, int Count = 8>
constexpr Instruction starts{&passes<Sends, Traffic::starts, To, Count>};
template <bool Sends, int To, int Count = 8>
constexpr Instruction waits{&passes<Sends, Traffic::waits, To, Count>};

TEST_CASE("sends and receives that are started one after the other run beside each other") {
  const Program crossed_0{starts<true, 1>, starts<false, 1>, waits<true, 1>, waits<false, 1>},
      crossed_1{starts<true, 0>, starts<false, 0>, waits<false, 0>, waits<true, 0>};
  CHECK(fine({{crossed_0}, {crossed_1}}));
  CHECK(fine({{crossed_0},
              {Program{starts<false, 0>, waits<false, 0>, starts<true, 0>, waits<true, 0>}}}));
  // A ring in which all start to send first, and then to receive.
  CHECK(fine({{Program{starts<true, 1>, starts<false, 2>, waits<false, 2>, waits<true, 1>}},
              {Program{starts<true, 2>, starts<false, 0>, waits<false, 0>, waits<true, 2>}},
              {Program{starts<true, 0>, starts<false, 1>, waits<false, 1>, waits<true, 0>}}}));
  // What the first send comes to waits for the second: of a group, all are waited for.
  const Program both_at_once{starts<true, 1>,    starts<true, 2>,   waits<true, 1>,
                             starts<true, 1, 9>, waits<true, 1, 9>, waits<true, 2>},
      first{starts<false, 0>,   waits<false, 0>, starts<false, 0, 9>,
            waits<false, 0, 9>, starts<true, 2>, waits<true, 2>},
      second{starts<false, 1>, waits<false, 1>, starts<false, 0>, waits<false, 0>};
  expect({{both_at_once}, {first}, {second}}, "ranks wait for each other");
  const Program one_by_one{starts<true, 1>,   waits<true, 1>,  starts<true, 1, 9>,
                           waits<true, 1, 9>, starts<true, 2>, waits<true, 2>};
  CHECK(fine({{one_by_one}, {first}, {second}}));
  // In one direction they go in their order.
  expect({{Program{starts<true, 1>, starts<true, 1, 9>, waits<true, 1>, waits<true, 1, 9>}},
          {Program{starts<false, 0, 9>, starts<false, 0>, waits<false, 0>, waits<false, 0, 9>}}},
         "ranks differ in the size");
  expect({{Program{starts<true, 1>}}, {Program{starts<false, 0>}}}, "started and not waited for");
}

/// A second for each transfer, and nothing for all else.
struct Seconds {
  static constexpr bool timed = true;
  static double before(int, std::size_t) { return 0; }
  static double transfer(const Traffic&) { return 1; }
  static double taken() { return 0; }
};
double seconds(const std::vector<RankProgram>& ranks, int rank) {
  const Simulation<Seconds> world(model, ranks, true, false);
  REQUIRE(world.verdict.fine());
  return world.time(rank).end;
}

TEST_CASE("a rank sends while it receives, but one after the other each") {
  static constexpr Kind sum = kind_of(say<all, Traffic::both>);
  const Instruction all_sum{&sum, 0};
  const Program one{starts<true, 1>, starts<false, 1>, waits<true, 1>, waits<false, 1>},
      other{starts<true, 0>, starts<false, 0>, waits<true, 0>, waits<false, 0>};
  CHECK(seconds({{one}, {other}}, 0) == 1);
  const Program sends{all_sum,        starts<true, 1>, starts<true, 2>,
                      waits<true, 1>, waits<true, 2>,  all_sum},
      receives{all_sum, starts<false, 0>, waits<false, 0>, all_sum};
  for (int r = 0; r < 3; ++r) CHECK(seconds({{sends}, {receives}, {receives}}, r) == 4);
}

TEST_CASE("transfers between two ranks must stay between the same transfers of all") {
  static constexpr Kind sum = kind_of(say<all, Traffic::both>),
                        parts = kind_of(say<Operation::all_to_all, Traffic::both>),
                        start = kind_of(say<all, Traffic::starts>),
                        wait = kind_of(say<all, Traffic::waits>),
                        longer = kind_of(say<Operation::all_to_all, Traffic::both, 0, 1>);
  const Instruction all_sum{&sum, 0}, exchange{&parts, 0}, start_sum{&start, 0}, wait_sum{&wait, 0};
  const Program sends{exchange, starts<true, 1>, all_sum, waits<true, 1>};
  CHECK(fine({{sends}, {Program{exchange, starts<false, 0>, waits<false, 0>, all_sum}}}));
  const WorldVerdict verdict =
      expect({{sends}, {Program{exchange, all_sum, starts<false, 0>, waits<false, 0>}}},
             "ranks wait for each other");
  CHECK(verdict.one == RankPlace{0, 1, 0});
  CHECK(verdict.other == RankPlace{1, 1, 0});
  // What is behind a sum runs when the last rank has come to that.
  CHECK(fine({{Program{start_sum, starts<true, 1>, wait_sum, waits<true, 1>}},
              {Program{start_sum, starts<false, 0>, waits<false, 0>, wait_sum}},
              {Program{start_sum, wait_sum}}}));
  const Program exchanges{{&longer, 0}};
  CHECK(fine({{Program{exchange}}, {Program{exchange}}, {Program{exchange}}}));
  expect({{exchanges}, {exchanges}}, "ranks differ in the size");
  CHECK(simulate(model, Program{exchange}, 1024, 1).fine());
}

TEST_CASE("a broadcast comes from one rank") {
  constexpr auto root = [](const Model&, const Instruction& i, const OnRank& on, TrafficList& out) {
    out.push_back({Operation::broadcast, Traffic::both, Space::master, 0, 8, Element::f32, 0,
                   i.count == 2 ? on.rank : 0});
  };
  static constexpr Kind broadcast = kind_of(root);
  const Program same{{&broadcast}}, own{{&broadcast, 0, 2}};
  CHECK(fine({{same}, {same}}));
  expect({{own}, {own}}, "ranks differ in the root");
}

TEST_CASE("a reduction goes to one rank") {
  constexpr auto root = [](const Model&, const Instruction& i, const OnRank& on, TrafficList& out) {
    out.push_back({Operation::reduce, Traffic::both, Space::gradient, 0, 8, Element::f32, 0,
                   i.count == 2 ? on.rank : i.count - 1});
  };
  static constexpr Kind collect = kind_of(root);
  const Program same{{&collect}}, own{{&collect, 0, 2}}, nobody{{&collect, 0, 3}};
  CHECK(fine({{same}, {same}}));
  CHECK(simulate(model, same, 4, 1).fine());
  expect({{own}, {own}}, "ranks differ in the root");
  expect({{nobody}, {nobody}}, "names a rank that is not there");
  static constexpr Kind astray = kind_of([](const Model&, const Instruction&, const OnRank&,
                                            TrafficList& out) {
    out.push_back({Operation::all_reduce, Traffic::both, Space::gradient, 0, 8, Element::f32, 1});
  });
  const Program nowhere{{&astray}};
  expect({{nowhere}, {nowhere}}, "names an axis that is not there");
}

/// What one instruction says along an axis.
template <Operation O, Traffic::Does Does, int Axis, int Peer = -1>
constexpr Kind along =
    kind_of([](const Model&, const Instruction& i, const OnRank&, TrafficList& out) {
      out.push_back({O, Does, Space::value, i.what, 8, Element::f32, Axis, Peer});
    });

TEST_CASE("ranks of a mesh wait along each axis for those that differ on it alone") {
  constexpr auto both = Traffic::both;
  constexpr Mesh mesh{{Mesh::Axis{"data", 2}, {"tensor", 3}}};
  static constexpr auto gather = Operation::all_gather;
  const Instruction data{&along<all, both, 0>}, tensor{&along<gather, both, 1>};
  const auto run = [&](const std::vector<Program>& programs) {
    std::vector<RankProgram> ranks;
    for (const Program& program : programs) ranks.push_back({program});
    return simulate(model, ranks, false, mesh);
  };
  const Program p{data, tensor, data}, late{tensor, data, data}, none;
  CHECK(run({p, p, p, p, p, p}).fine());
  CHECK(simulate(model, p, 6, 1).what == std::string("names an axis that is not there"));
  CHECK(run({p, p, p, p, p, late})
            .fine());  // along "tensor" 3 and 4 wait for 5, which waits for nobody
  // The first waits along "data" for 3, that along "tensor" for 4, that along "data" for 1, that for the first.
  const WorldVerdict crossed = run({p, late, p, late, p, late});
  REQUIRE(!crossed.fine());
  CHECK(crossed.what == std::string("ranks wait for each other"));
  CHECK(crossed.one == RankPlace{0, 0, 0});
  CHECK(crossed.other == RankPlace{3, 0, 0});
  // A rank that says nothing stops the two groups that it is in, and no other.
  const Program only_data{data}, only_tensor{tensor};
  CHECK(run({only_data, only_data, none, only_data, only_data, none}).fine());
  CHECK(run({none, none, none, only_tensor, only_tensor, only_tensor}).fine());
  const WorldVerdict missing = run({only_data, only_data, only_data, only_data, none, only_data});
  REQUIRE(!missing.fine());
  CHECK(missing.what == std::string("waits for a rank at its end"));
  CHECK(missing.one.rank == 1);
  CHECK(missing.other.rank == 4);
}

TEST_CASE("a peer in a mesh is a coordinate on the axis") {
  constexpr auto both = Traffic::both;
  constexpr Mesh mesh{{Mesh::Axis{"pipeline", 2}, {"data", 2}}};
  static constexpr auto sends = Operation::send, receives = Operation::receive;
  const Instruction on{&along<sends, both, 0, 1>}, in{&along<receives, both, 0, 0>},
      beyond{&along<sends, both, 0, 2>}, itself{&along<sends, both, 0, 0>},
      sum{&along<all, both, 1>}, from_second{&along<Operation::broadcast, both, 1, 1>};
  const auto run = [&](const std::vector<Program>& programs) {
    std::vector<RankProgram> ranks;
    for (const Program& program : programs) ranks.push_back({program});
    const WorldVerdict verdict = simulate(model, ranks, false, mesh);
    return std::string(verdict.fine() ? "fine" : verdict.what);
  };
  // Ranks 0 and 1 are the first stage, 2 and 3 the second.
  const Program first{on, sum, from_second}, second{in, sum, from_second};
  CHECK(run({first, first, second, second}) == "fine");
  CHECK(run({first, second, first, second}) == "names itself as another rank");
  CHECK(run({Program{beyond}, {}, {}, {}}) == "names a rank that is not there");
  CHECK(run({Program{itself}, {}, {}, {}}) == "names itself as another rank");
  // Of the second stage one receives behind a sum, to which the other comes when it has received.
  CHECK(run({first, first, Program{sum, in, from_second}, Program{in, sum, from_second}}) ==
        "fine");
  CHECK(run({first, first, Program{sum, in, from_second}, Program{in, from_second, sum}}) ==
        "ranks differ in the operation");
}

TEST_CASE("instructions that depend on the decision are simulated both ways") {
  static constexpr Kind start{.name = "start",
                              .touch = touches::nothing,
                              .if_applied = true,
                              .traffic = say<all, Traffic::starts>},
      wait = kind_of(say<all, Traffic::waits>);
  const Program p{{&start, 0}, {&wait, 0}};
  CHECK(Simulation<>(model, std::vector<RankProgram>{{p}, {p}}, true, false).verdict.fine());
  expect({{p}, {p}}, "waits for what it has not started");
}

TEST_CASE("places are named for people") {
  const Program p = shipped();
  const auto named = [&](int position) {
    return std::string(place_letters(model, p, {0, position, 1}).view());
  };
  CHECK(named(find(p, forward, 1)) == "forward of h.0, in micro-batch 2");
  const int norm = find(p, norm_kind<ClipNorm<>>);
  CHECK(named(norm) == "norm of wte+wpe+drop to ln_f");
  CHECK(named(int(p.size())) == "the end");
}

TEST_CASE("no rule is left out") {
  CHECK(check_rules("sinter/proof/simulation.hpp", provoked) >= 13);
}

}  // namespace
}  // namespace sinter::detail::testing
