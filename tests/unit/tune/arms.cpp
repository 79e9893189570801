// SPDX-License-Identifier: Apache-2.0
// Which combinations take part in a race, and that a row's binary has the row's recipe.
#include "tune/arms.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "sinter/model/mlp.hpp"
#include "support/recipes.hpp"
#include "tune/arm_recipe.hpp"
#include "tune/tuned_file.hpp"

namespace sinter::detail::testing::arms_tests {
namespace {
using namespace tune;

struct mine : Recipe<Mlp<{.in = 8, .hidden = 16, .out = 1, .layers = 3}>,
                     Batch<{.global = 8, .micro = 4}>> {};

/// Three slots of three policies; policy k of a slot plans 1 + k MiB more, or less.
Grid cube() {
  Grid grid{"mine", {"a", "b", "c"}, {}};
  for (int k = 0; k < 27; ++k) {
    Row row;
    const int places[] = {k / 9, k / 3 % 3, k % 3};
    for (int slot = 0; slot < 3; ++slot) {
      row.policies.push_back("abc"[slot] + std::to_string(places[slot]));
      if (places[slot] > 0) row.changed.push_back(row.policies.back());
      row.arena += 10 - places[slot];
    }
    grid.rows.push_back(row);
  }
  return grid;
}

/// What rows cost if each policy changes it by a factor of its own. The cheapest is a2 b0 c1, row 19.
double cost_of(int row) {
  const double a[] = {1, 1.5, 0.5}, b[] = {1, 1.2, 1.1}, c[] = {1, 0.8, 1.3};
  return 7 * a[row / 9] * b[row / 3 % 3] * c[row % 3];
}

TEST_CASE("where all that fit may take part, they do, the recipe first") {
  const auto rows = first_arms(cube(), {}, 27);
  CHECK(rows.size() == 27);
  CHECK(rows.front() == 0);
}

TEST_CASE("the first rows have each policy, with one change each") {
  const Grid grid = cube();
  const auto rows = first_arms(grid, {}, 12);
  REQUIRE(rows.size() == 7);  // the recipe, and two more policies in each of three slots
  CHECK(rows.front() == 0);
  for (const int row : rows) CHECK(grid.rows[std::size_t(row)].changed.size() <= 1);
  CHECK(first_arms(grid, {}, 4).size() == 3);  // one is left for a forecast
  CHECK(first_arms(grid, {}, 1) == std::vector{0});
}

TEST_CASE(
    "where little memory leaves only rows with many changes, they have each policy that fits") {
  Grid grid = cube();
  const Limit limit{26};  // of 30 to 24
  const auto rows = first_arms(grid, limit, 6);
  REQUIRE(!rows.empty());
  CHECK(rows.size() <= 5);
  for (const int row : rows) CHECK(limit.allows(grid.rows[std::size_t(row)]));
  for (const std::string policy : {"a0", "a1", "a2", "b0", "b1", "b2", "c0", "c1", "c2"})
    CHECK_MESSAGE(std::ranges::any_of(
                      rows,
                      [&](int row) {
                        return std::ranges::count(grid.rows[std::size_t(row)].policies, policy) > 0;
                      }),
                  policy);
}

TEST_CASE("a row that is no recipe never takes part") {
  Grid grid = cube();
  grid.rows[0].reason = "it is odd";
  for (const int row : first_arms(grid, {}, 27)) CHECK(row != 0);
}

TEST_CASE("forecasts find the cheapest row where each policy has a factor") {
  const Grid grid = cube();
  std::map<int, double> costs;
  for (const int row : first_arms(grid, {}, 12)) costs[row] = cost_of(row);
  const auto next = forecast_arms(grid, {}, costs, {}, 20);
  REQUIRE(next.size() == 20);
  CHECK(next.front() == 19);
  for (std::size_t k = 1; k < next.size(); ++k)
    CHECK(cost_of(next[k - 1]) <= cost_of(next[k]) * 1.001);
  CHECK(forecast_arms(grid, {}, costs, {}, 2) == std::vector(next.begin(), next.begin() + 2));
  CHECK(forecast_arms(grid, {}, costs, {}, -1).empty());
}

TEST_CASE("rows with all changes of one that failed take no part") {
  const Grid grid = cube();
  std::map<int, double> costs;
  for (const int row : first_arms(grid, {}, 12)) costs[row] = cost_of(row);
  const int fast = 18;  // a2 alone
  costs.erase(fast);
  const auto next = forecast_arms(grid, {}, costs, {fast}, 27);
  CHECK(next.size() == 12);
  for (const int row : next) CHECK(row < 18);
  costs.erase(0);  // if the recipe itself failed, nothing follows for others
  CHECK(forecast_arms(grid, {}, costs, {0}, 27).size() == 21);
}

TEST_CASE("the binary of a row has the recipe that the grid plans") {
  using Lists = ListsOf<mine, "memory,batch", 1>;
  const Grid grid = grid_of<mine, "memory,batch", 1>();
  REQUIRE(grid.rows.size() == 12);
  const auto check = [&]<int Number>() {
    using Made = typename RowRecipe<Number, mine, Lists>::type;
    CHECK(grid.rows[Number].arena == Plan<Made>::bytes);
    CHECK(grid.rows[Number].policies[0] == policy_text<typename Made::memory>());
    CHECK(grid.rows[Number].policies[1] == policy_text<typename Made::batch>());
  };
  const auto check_all = [&]<int... Numbers>(std::integer_sequence<int, Numbers...>) {
    (check.template operator()<Numbers>(), ...);
  };
  check_all(std::make_integer_sequence<int, 12>{});
}

const std::string file = R"(#include <sinter/sinter.hpp>
using namespace sinter;
struct mine : Recipe<Mlp<>> {};

int main(int argc, char** argv) { return run<mine>(argc, argv); }
)";

TEST_CASE("the file of a row runs the recipe with its policies") {
  CHECK(tuned_file(file, {{"Bf16", "Ddp<>"}, {"Bf16", "Ddp<>"}, ""}) ==
        R"(#include <sinter/sinter.hpp>
using namespace sinter;
struct mine : Recipe<Mlp<>> {};

struct mine_tuned : sinter::With<mine, Bf16, Ddp<>> {};

int main(int argc, char** argv) { return run<mine_tuned>(argc, argv); }
)");
  CHECK(tuned_file(file, {{"Fp32"}, {}, ""}) == file);
}

TEST_CASE("a file without such a main() is refused") {
  const auto refuses = [](const std::string& text, const char* what) {
    CHECK_THROWS_WITH_AS((void)tuned_file(text, {}), doctest::Contains(what), Error);
  };
  refuses("struct mine {};\n", "begins with 'int main('");
  refuses("int main(int argc, char** argv) { return go(argc, argv); }\n", "run<mine>");
}

}  // namespace
}  // namespace sinter::detail::testing::arms_tests
