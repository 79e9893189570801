// SPDX-License-Identifier: Apache-2.0
// docs/policies.md: its tables of options are those that the policies reflect, for every policy.
//
//   SINTER_REWRITE=1 ctest -R unit/recipe/policies_page    writes them anew
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sinter/sinter.hpp>
#include <sstream>

namespace sinter::detail::testing {
namespace {

namespace fs = std::filesystem;

const fs::path source_dir = SINTER_SOURCE_DIR;
const fs::path page = source_dir / "docs/policies.md";

std::string text_of_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE_MESSAGE(in, "cannot read ", path.string());
  return (std::stringstream() << in.rdbuf()).str();
}

/// A recipe of one policy, as far as its options go.
template <class P>
struct Alone {
  using all = PolicyList<P>;
};

std::set<std::string> shown;  // the policies of all tables

template <class P>
std::string rows_of() {
  std::string name = detail::short_type_name<P>(), rows;
  shown.insert(name);
  OptionSet<Alone<P>> set;
  for (const Option& option : set.list()) {
    const TextBuilder range = option.range ? option.range->text() : TextBuilder();
    rows += "| " + (rows.empty() ? "`" + name + "`" : "") + " | `" + std::string(option.name) +
            "` | " + text_of(option) + " | " + std::string(range.view()) + " | " +
            (option.adjustable ? "`--" + option.dotted() + "`" : "") + " |\n";
  }
  if constexpr (requires { P::options.list_fields(); })
    for_each_field(P::options, [&](const Field& field, const auto& value) {
      if (is_said(value)) return;
      rows += "| " + (rows.empty() ? "`" + name + "`" : "") + " | `" + std::string(field.name) +
              "` |  | " + std::string(field.range.text().view()) + " |  |\n";
    });
  return rows;
}

template <class... Policies>
std::string table(PolicyList<Policies...>) {
  std::string rows = (rows_of<Policies>() + ...);
  return rows.empty()
             ? ""
             : "| policy | option | default | may be | flag |\n|---|---|---|---|---|\n" + rows;
}

struct Section {
  const char* name;
  std::string table;
};
std::vector<Section> sections() {
  return {
      {"model", table(shipped::model{})},           {"data", table(shipped::data{})},
      {"batching", table(shipped::batching{})},     {"objective", table(shipped::objective{})},
      {"precision", table(shipped::precision{})},   {"optimizer", table(shipped::optimizer{})},
      {"parameters", table(shipped::parameters{})}, {"clipping", table(shipped::clipping{})},
      {"schedule", table(shipped::schedule{})},     {"batch", table(shipped::batch{})},
      {"generation", table(shipped::generation{})}, {"memory", table(shipped::memory{})},
      {"parallel", table(shipped::parallel{})},     {"device", table(shipped::device{})},
      {"recovery", table(shipped::recovery{})},     {"metric", table(shipped::metric{})},
      {"stopping", table(shipped::stopping{})},     {"evaluation", table(shipped::evaluation{})},
  };
}

/// The page with each section's table between its marks replaced.
std::string with_tables(std::string text, const std::vector<Section>& tables) {
  for (const auto& [name, table] : tables) {
    const std::string begin = "<!-- options: " + std::string(name) + " -->\n";
    const std::string end = "<!-- end of options -->";
    const std::size_t first = text.find(begin);
    REQUIRE_MESSAGE(first != text.npos, "docs/policies.md has no mark ", begin);
    const std::size_t from = first + begin.size(), last = text.find(end, from);
    REQUIRE_MESSAGE(last != text.npos, "docs/policies.md does not end its table after ", begin);
    text.replace(from, last - from, table);
  }
  return text;
}

TEST_CASE("the tables of options on the page of policies are those of the policies") {
  const std::string now = text_of_file(page), want = with_tables(now, sections());
  if (std::getenv("SINTER_REWRITE")) {
    std::ofstream(page, std::ios::binary) << want;
    return;
  }
  std::istringstream has(now), wants(want);
  std::string line, wanted;
  for (int number = 1; std::getline(wants, wanted); ++number) {
    std::getline(has, line);
    CAPTURE(number);
    REQUIRE_MESSAGE(line == wanted,
                    "docs/policies.md is not what the policies say; write it anew with "
                    "SINTER_REWRITE=1 ctest -R unit/recipe/policies_page");
  }
  CHECK(now == want);
}

TEST_CASE("every policy that a header defines is on the page") {
  sections();
  const std::string text = text_of_file(page);
  // A slot of ours or one's own: `struct Name {`, and in it `using slot = …;`.
  const std::regex policy("struct (\\w+) \\{\\n  using slot = slot::\\w+;");
  int found = 0;
  for (const auto& entry : fs::recursive_directory_iterator(source_dir / "include/sinter")) {
    if (entry.path().extension() != ".hpp") continue;
    const std::string header = text_of_file(entry.path());
    for (std::sregex_iterator at(header.begin(), header.end(), policy), end; at != end; ++at) {
      const std::string name = (*at)[1];
      CAPTURE(name);
      CHECK_MESSAGE(shown.contains(name),
                    "add it to sinter/recipe/all_policies.hpp or techniques.hpp");
      CHECK_MESSAGE(text.find('`' + name) != text.npos, "docs/policies.md does not say what it is");
      ++found;
    }
  }
  CHECK(found >= 36);  // as many as there were when this was written
}

}  // namespace
}  // namespace sinter::detail::testing
