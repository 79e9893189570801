// SPDX-License-Identifier: Apache-2.0
// Groups of ranks, as the axes of a mesh make them: over threads, processes and hosts the same.
#include "sinter/comm/mesh.hpp"

#include <chrono>
#include <cstring>
#include <thread>

#include "sinter/comm/hosts.hpp"
#include "support/message_of.hpp"
#include "support/rank_processes.hpp"

namespace sinter::detail::testing::mesh_tests {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Say = RankProcesses::Say;

constexpr Mesh of_four{{Mesh::Axis{"data", 2}, Mesh::Axis{"tensor", 2}}};
constexpr Mesh of_six{{Mesh::Axis{"data", 2}, Mesh::Axis{"stage", 3}}};
constexpr Mesh of_twelve{{Mesh::Axis{"data", 2}, Mesh::Axis{"stage", 3}, Mesh::Axis{"tensor", 2}}};

// ---- the grid
static_assert(of_twelve.count() == 3 && of_twelve.ranks() == 12 && Mesh{}.ranks() == 1);
static_assert(of_twelve.axis("stage") == 1 && of_twelve.axis("expert") == -1);
static_assert(of_twelve.stride(0) == 6 && of_twelve.stride(1) == 2 && of_twelve.stride(2) == 1);
static_assert(of_twelve.group(7, 0) == std::vector{1, 7});
static_assert(of_twelve.group(7, 1) == std::vector{7, 9, 11});
static_assert(of_twelve.group(7, 2) == std::vector{6, 7});
constexpr bool groups_divide_the_ranks(const Mesh& mesh) {
  for (int axis = 0; axis < mesh.count(); ++axis)
    for (int rank = 0; rank < mesh.ranks(); ++rank) {
      const std::vector<int> group = mesh.group(rank, axis);
      if (group[std::size_t(mesh.coordinate(rank, axis))] != rank) return false;
      for (const int member : group)
        if (mesh.group(member, axis) != group) return false;
    }
  return true;
}
static_assert(groups_divide_the_ranks(of_four) && groups_divide_the_ranks(of_six) &&
              groups_divide_the_ranks(of_twelve));

// ---- transfers
float value_of(int rank, int k) { return float(rank + 1) / float(k % 97 + 3); }

/// What a rank has after transfers on all axes, which run beside each other, and then in all ranks.
std::string transfers_of(Communicator& whole, const Mesh& mesh) {
  const auto axes = axes_of(whole, mesh);
  constexpr int count = 30'000;
  std::string all;
  const auto add = [&](const auto& values) {
    all.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]);
  };
  std::vector<std::vector<float>> sums(axes.size());
  for (std::size_t a = 0; a < axes.size(); ++a) {
    REQUIRE(axes[a]->rank() == mesh.coordinate(whole.rank(), int(a)));
    REQUIRE(axes[a]->ranks() == mesh.axes[a].size);
    for (int k = 0; k < count; ++k) sums[a].push_back(value_of(whole.rank(), k));
    axes[a]->start_sum(sums[a].data(), count);
  }
  for (std::size_t a = 0; a < axes.size(); ++a) {
    Communicator& axis = *axes[a];
    axis.wait(sums[a].data());
    // Around the group, and a few numbers.
    std::vector<float> got(count);
    double few[]{.1 * (1 + whole.rank()), 1};
    if (axis.ranks() > 1) {
      axis.start_send(sums[a].data(), count, (axis.rank() + 1) % axis.ranks());
      axis.start_receive(got.data(), count, (axis.rank() + axis.ranks() - 1) % axis.ranks());
      axis.wait(sums[a].data());
      axis.wait(got.data());
    }
    axis.sum(few, 2);
    add(sums[a]);
    add(got);
    add(std::vector(few, few + 2));
  }
  whole.start_sum(sums[0].data(), count);
  whole.wait(sums[0].data());
  add(sums[0]);
  return all;
}
std::vector<std::string> over_threads(const Mesh& mesh) {
  auto ends = thread_ranks(mesh.ranks());
  std::vector<std::string> all(ends.size());
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < ends.size(); ++r)
    threads.emplace_back([&, r] { all[r] = transfers_of(*ends[r], mesh); });
  for (std::thread& thread : threads) thread.join();
  return all;
}
void check_as_threads(RankProcesses&& processes, const Mesh& mesh) {
  const std::vector<std::string> want = over_threads(mesh), got = processes.results();
  for (std::size_t r = 0; r < got.size(); ++r) {
    CAPTURE(r);
    if (got[r].size() < 1000) CAPTURE(got[r]);  // an error
    CHECK(got[r] == want[r]);
  }
}

TEST_CASE("sums on an axis are those of its ranks, in their order") {
  const std::vector<std::string> got = over_threads(of_six);
  for (int rank = 0; rank < 6; ++rank)
    for (int k : {0, 1, 29'999}) {
      float sum = 0;
      for (const int member : of_six.group(rank, 0)) sum += value_of(member, k);
      float value = 0;
      std::memcpy(&value, &got[std::size_t(rank)][std::size_t(k) * sizeof value], sizeof value);
      CHECK(value == sum);
    }
}
TEST_CASE("processes of a host have the bits of threads on each axis") {
  for (const Mesh* mesh : {&of_four, &of_six})
    check_as_threads(RankProcesses(mesh->ranks(),
                                   [&](const World& world, const Say&) {
                                     return transfers_of(*shared_memory_rank(world), *mesh);
                                   }),
                     *mesh);
}
TEST_CASE("processes of several hosts have the bits of threads, however a group lies on them") {
  const std::vector<std::vector<int>> layouts{{2, 2}, {1, 1, 1, 1}, {3, 1}};
  for (const auto& layout : layouts) {
    CAPTURE(layout.size());
    check_as_threads(RankProcesses(RankProcesses::worlds_of_hosts(layout),
                                   [&](const World& world, const Say&) {
                                     return transfers_of(*hosts_rank(world), of_four);
                                   }),
                     of_four);
  }
}
TEST_CASE("groups may have one rank, all ranks, or another order") {
  auto ends = thread_ranks(3);
  std::vector<std::thread> threads;
  for (int r = 0; r < 3; ++r)
    threads.emplace_back([&, r] {
      const auto alone = ends[std::size_t(r)]->group(std::vector{r});
      const auto turned = ends[std::size_t(r)]->group(std::vector{2, 0, 1});
      const auto again = turned->group(std::vector{0, 1, 2});
      CHECK(alone->ranks() == 1);
      CHECK(turned->rank() == (r + 1) % 3);
      CHECK(again->rank() == turned->rank());
      double one = 1;
      alone->sum(&one);
      again->sum(&one);
      CHECK(one == 3);
    });
  for (std::thread& thread : threads) thread.join();
}

// ---- what cannot be
TEST_CASE("meshes and groups that cannot be are refused") {
  const auto end = std::move(thread_ranks(2)[1]);
  const auto said = [&](const Mesh& mesh) {
    return message_of<ArgumentError>([&] { (void)axes_of(*end, mesh); });
  };
  CHECK(said(of_four) ==
        "ranks cannot be the mesh data 2 × tensor 2: it has 4 ranks, and there are 2. Give "
        "each axis a name and a size whose product is the number of ranks.");
  const auto check = [&](const Mesh& mesh, const char* what) {
    CHECK_MESSAGE(said(mesh).find(what) != std::string::npos, said(mesh));
  };
  check({{Mesh::Axis{"data", 2}, Mesh::Axis{"data", 1}}}, "the axis 'data' is there twice");
  check({{Mesh::Axis{"data", 0}}}, "the axis 'data' has 0 ranks, not at least 1");
  check({{Mesh::Axis{"", 2}}}, "an axis of several ranks has no name");
  check({{Mesh::Axis{}, Mesh::Axis{"data", 2}}}, "the axis 'data' comes behind one without a name");
  const auto refused = [&](std::vector<int> members, const char* what) {
    const std::string text = message_of<ArgumentError>([&] { (void)end->group(members); });
    CHECK_MESSAGE(text.find(what) != std::string::npos, text);
  };
  refused({0, 1, 2}, "asks for a group of the ranks 0, 1, 2: 2 is no rank. Name each rank");
  refused({1, 0, 1}, "1 is there twice.");
  refused({0}, "it is none of them.");
}

// ---- a rank is lost
TEST_CASE("threads that wait for one that has given up, in a group or for it, do not wait on") {
  for (const bool before : {false, true}) {
    auto ends = thread_ranks(2);
    std::thread other([&] {
      if (before) return ends[1]->abort();
      const auto pair = ends[1]->group(std::vector{0, 1});
      ends[1]->abort();
    });
    if (before) other.join();
    const auto pair = ends[0]->group(std::vector{0, 1});
    double one = 1;
    CHECK_THROWS_AS(pair->sum(&one), RankError);
    if (other.joinable()) other.join();
  }
}
TEST_CASE("a rank that dies is noticed by all that meet it on some axis") {
  for (const bool one_host : {true, false})
    for (const bool before : {true, false}) {
      CAPTURE(one_host);
      CAPTURE(before);
      const auto worlds =
          one_host ? RankProcesses::worlds_of(4) : RankProcesses::worlds_of_hosts({2, 2});
      RankProcesses ranks(worlds, [&](const World& world, const Say& say) -> std::string {
        const auto whole = one_host ? shared_memory_rank(world) : hosts_rank(world);
        double one = 1;
        whole->sum(&one);
        if (before) say("here");
        if (before && world.rank == 3) ::pause();
        const auto axes = axes_of(*whole, of_four);
        if (!before) say("here");
        for (;;)
          for (const auto& axis : axes) axis->sum(&one);
      });
      for (int r = 0; r < 4; ++r) REQUIRE(ranks.next_said(r) == "here");
      std::this_thread::sleep_for(50ms);
      const Clock::time_point begin = Clock::now();
      ranks.signal(3, SIGKILL);
      for (int r = 0; r < 3; ++r) {
        const std::string said = ranks.result(r);
        CAPTURE(said);
        CHECK(said.find("rank ") != std::string::npos);
      }
      CHECK(Clock::now() - begin < 5s);
    }
}

}  // namespace sinter::detail::testing::mesh_tests
