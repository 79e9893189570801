// SPDX-License-Identifier: Apache-2.0
#include "tune/tuned_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <regex>

#include "sinter/error.hpp"

namespace sinter::detail::tune {
namespace {

/// The name of the tuned recipe, without namespaces.
std::string tuned_name(const std::string& recipe) {
  const auto colon = recipe.rfind(':');
  return (colon == recipe.npos ? recipe : recipe.substr(colon + 1)) + "_tuned";
}

std::string struct_text(const std::string& recipe, const Row& row) {
  return fmt::format("struct {} : sinter::With<{}, {}> {{}};\n", tuned_name(recipe), recipe,
                     fmt::join(row.changed, ", "));
}

}  // namespace

std::string lines_to_paste(const std::string& recipe, const Row& row) {
  if (row.changed.empty()) return fmt::format("{} is the fastest as it is\n", recipe);
  return fmt::format(
      "the lines of the first:\n  {}  int main(int argc, char** argv) {{ return run<{}>(argc, "
      "argv); }}\n",
      struct_text(recipe, row), tuned_name(recipe));
}

std::string tuned_file(const std::string& text, const Row& row) {
  static const std::regex main_line("(^|\n)int main\\("),
      run_call("run<\\s*([A-Za-z_][A-Za-z_0-9:]*)\\s*>\\s*\\(");
  std::smatch begin, call;
  if (!std::regex_search(text, begin, main_line))
    throw Error(
        "--write changes a file that has a line which begins with 'int main(', and this has none.");
  const std::size_t at = std::size_t(begin.position()) + std::size_t(begin.length(1));
  const std::string before = text.substr(0, at), main = text.substr(at);
  if (!std::regex_search(main, call, run_call))
    throw Error(
        "--write changes a main() that names the recipe as in run<mine>(argc, argv), and this has "
        "none.");
  if (row.changed.empty()) return text;
  const std::string recipe = call[1];
  return before + struct_text(recipe, row) + "\n" + std::string(call.prefix()) + "run<" +
         tuned_name(recipe) + ">(" + std::string(call.suffix());
}

}  // namespace sinter::detail::tune
