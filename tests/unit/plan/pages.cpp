// SPDX-License-Identifier: Apache-2.0
// docs/design.md and docs/life_of_a_step.md show the plan of one recipe; this is that recipe's plan.
#include <doctest/doctest.h>

#include <fstream>
#include <sinter/sinter.hpp>
#include <sstream>

namespace sinter::detail::testing {
namespace {

struct curve : Recipe<Mlp<{.in = 1, .hidden = 64, .out = 1, .layers = 3}>, AdamW<{.lr = 3e-3}>,
                      Batch<{.global = 64, .micro = 32}>> {};

/// A page, each run of blanks one blank.
std::string page(const std::string& name) {
  std::ifstream in(std::string(SINTER_SOURCE_DIR) + "/" + name);
  REQUIRE(in);
  std::string text, word;
  while (in >> word) text += word + " ";
  return text;
}
std::string with_commas(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (int at = int(digits.size()) - 3; at > 0; at -= 3) digits.insert(std::size_t(at), ",");
  return digits;
}

TEST_CASE("the pages show the recipe's instructions, in order") {
  const PlanView& plan = Plan<curve>::view;
  for (const char* name : {"docs/design.md", "docs/life_of_a_step.md"}) {
    const std::string text = page(name);
    CAPTURE(name);
    CHECK(text.find("Recipe<Mlp<{.in = 1, .hidden = 64, .out = 1, .layers = 3}>, "
                    "AdamW<{.lr = 3e-3}>, Batch<{.global = 64, .micro = 32}>>") != text.npos);
    std::size_t from = text.find(" 0 loop 2 micro-batches");
    REQUIRE(from != text.npos);
    for (std::size_t t = 1; t < plan.training.program.size(); ++t) {
      const Instruction& i = plan.training.program[t];
      std::string line = " " + std::to_string(t) + " " + i.kind->name + " ";
      if (const std::string on = subject(plan.model, i); !on.empty()) line += on + " ";
      CAPTURE(line);
      const std::size_t at = text.find(line, from);
      REQUIRE(at != text.npos);
      from = at + 1;
    }
  }
  CHECK(page("docs/design.md").find("one arena of " + with_commas(Plan<curve>::bytes) + " bytes") !=
        std::string::npos);
}

TEST_CASE("the page on a step shows where buffers lie, and how long") {
  const PlanView& plan = Plan<curve>::view;
  const std::string text = page("docs/life_of_a_step.md");
  const std::string units[]{"input", "hidden.0", "output"};
  int found = 0;
  for (const auto& buffer : plan.training.buffers) {
    const char* space = buffer.space < Space::region
                            ? space_names[int(buffer.space)]
                            : plan.model.regions[int(buffer.space) - int(Space::region)].name;
    const std::string offset = "at " + with_commas(buffer.offset);
    const bool always = buffer.opened_by < 0;
    const std::string life =
        always ? "always" : std::to_string(buffer.first) + " to " + std::to_string(buffer.last);
    const std::string name = always ? space : space + std::string(" of ") + units[buffer.index];
    const std::size_t line = text.find(" " + name + " ");
    if (line == text.npos) continue;  // the page shows some
    CAPTURE(name);
    found += text.find(offset + " " + life, line) != text.npos;
  }
  CHECK(found == 10);
}

}  // namespace
}  // namespace sinter::detail::testing
