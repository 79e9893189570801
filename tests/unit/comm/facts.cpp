// SPDX-License-Identifier: Apache-2.0
// Ranks that do not do the same are told so before they begin, all in the same words.
#include "support/message_of.hpp"
#include "support/rank_processes.hpp"

namespace sinter::detail::testing {
namespace {

using Facts = std::vector<Fact>;

/// What the ranks with these facts say: that all have begun, or why not, which must be the same in all.
/// Numbers of processes are left out, and this host's name.
std::string said_with(const std::vector<Facts>& facts) {
  std::vector<World> worlds = RankProcesses::worlds_of(int(facts.size()));
  for (std::size_t r = 0; r < facts.size(); ++r) worlds[r].facts = facts[r];
  RankProcesses ranks(worlds, [](const World& world, const RankProcesses::Say&) {
    const auto end = shared_memory_rank(world);
    double one = 1;
    end->sum(&one);
    return std::to_string(int(one)) + " have begun";
  });
  std::vector<std::string> names;
  for (int r = 0; r < ranks.size(); ++r) names.push_back(ranks.name(r));
  std::vector<std::string> said = ranks.results();
  for (std::string& text : said)
    for (std::size_t r = 0; r < names.size(); ++r)
      if (const std::size_t at = text.find(names[r]); at != std::string::npos)
        text.replace(at, names[r].size(), "RANK " + std::to_string(r));
  for (const std::string& text : said) CHECK(text == said[0]);
  return said[0];
}

TEST_CASE("ranks with the same facts begin") {
  CHECK(said_with({{}, {}}) == "2 have begun");
  const Facts facts{{"seed", "42"}, {"data", ""}, {"recipe", std::string(3 << 20, 'x')}};
  CHECK(said_with({facts, facts, facts}) == "3 have begun");
}

TEST_CASE("a fact that differs is named with both values") {
  CHECK(said_with({{{"seed", "42"}, {"data", "a"}}, {{"seed", "43"}, {"data", "a"}}}) ==
        "RANK 0 and RANK 1 are not of the same run: seed is \"42\" in rank 0 and \"43\" in "
        "rank 1. Start all ranks with the same seed.");
  CHECK(
      said_with({{{"recipe", "a"}, {"seed", "42"}, {"data", ""}},
                 {{"data", "b"}, {"seed", "43"}, {"recipe", "a"}}}) ==
      "RANK 0 and RANK 1 are not of the same run: seed is \"42\" in rank 0 and \"43\" in "
      "rank 1; data is \"\" in rank 0 and \"b\" in rank 1. Start all ranks with the same seed and "
      "data.");
}

TEST_CASE("all ranks that differ from rank 0 are named") {
  const Facts usual{{"seed", "1"}}, other{{"seed", "2"}};
  const std::string begin = "RANK 0 and RANK ";
  CHECK(said_with({usual, usual, other}) ==
        begin +
            "2 are not of the same run: seed is \"1\" in rank 0 and \"2\" in rank 2. Start all "
            "ranks with the same seed.");
  CHECK(said_with({usual, other, usual, other, other}) ==
        begin +
            "1 are not of the same run: seed is \"1\" in rank 0 and \"2\" in rank 1. Start all "
            "ranks with the same seed. From rank 0 also differ: 3, 4.");
}

TEST_CASE("a fact that only one rank has is named") {
  CHECK(said_with({{{"seed", "1"}, {"data", "text"}}, {{"seed", "1"}}}) ==
        "RANK 0 and RANK 1 are not of the same run: data is \"text\" in rank 0 alone. Start "
        "all ranks with the same data.");
  CHECK(said_with({{{"seed", "1"}}, {{"data", "text"}, {"seed", "1"}}}) ==
        "RANK 0 and RANK 1 are not of the same run: data is \"text\" in rank 1 alone. Start "
        "all ranks with the same data.");
}

TEST_CASE("long values are shown where they begin to differ") {
  const std::string x(300'000, 'x'), y(100, 'y');
  CHECK(said_with({{{"recipe", x + "64" + y}}, {{"recipe", x + "128\n" + y}}}) ==
        "RANK 0 and RANK 1 are not of the same run: recipe is \"…" + x.substr(0, 24) + "64" +
            y.substr(0, 54) + "…\" in rank 0 and \"…" + x.substr(0, 24) + "128 " + y.substr(0, 52) +
            "…\" in rank 1. Start all ranks with the same recipe.");
  CHECK(said_with({{{"recipe", x}}, {{"recipe", x + y}}}) ==
        "RANK 0 and RANK 1 are not of the same run: recipe is \"…" + x.substr(0, 24) +
            "\" in rank 0 and \"…" + x.substr(0, 24) + y.substr(0, 56) +
            "…\" in rank 1. Start all ranks with the same recipe.");
  std::string letters;  // of two bytes, which are not cut apart
  for (int k = 0; k < 50; ++k) letters += "ä";
  const std::string said =
      said_with({{{"recipe", letters + ".1" + letters}}, {{"recipe", letters + ".2" + letters}}});
  const std::string last = letters.substr(0, 24), next = letters.substr(0, 56);
  CHECK(said.find("…" + last + ".1" + next + "…\" in rank 0") != std::string::npos);
}

TEST_CASE("only the first of many differences are told") {
  std::vector<Facts> facts(2);
  for (char name = 'a'; name <= 'l'; ++name)
    for (int r : {0, 1}) facts[std::size_t(r)].push_back({{name}, std::to_string(r)});
  const std::string said = said_with(facts);
  CHECK(said.find("h is \"0\" in rank 0 and \"1\" in rank 1; and so on, in 4 more. Start all ranks "
                  "with the same a, b, c, d, e, f, g, h and 4 more.") != std::string::npos);
}

TEST_CASE("two facts of one name are refused") {
  CHECK(message_of<ArgumentError>([] {
          (void)shared_memory_rank(
              {.ranks = 2, .id = "a", .facts = {{"seed", "1"}, {"seed", "1"}}});
        }) == "two facts of a world are named \"seed\". Give each a name of its own.");
}

}  // namespace
}  // namespace sinter::detail::testing
