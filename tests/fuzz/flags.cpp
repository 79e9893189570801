// SPDX-License-Identifier: Apache-2.0
// The command line: each line of the input is a word.
#include "cli/arguments.hpp"
#include "fuzz/support.hpp"
#include "sinter/data/bytes.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/schedule/cosine_decay.hpp"
#include "sinter/trainer/view_of.hpp"
#include "support/recipes.hpp"

using namespace sinter;
using namespace sinter::detail;

namespace {
using Net = testing::Made<Gpt2<{.layers = 1, .heads = 2, .width = 16, .positions = 8}>,
                          Bytes<{.context = 8}>, CosineDecay<>>;
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto recipe = view_of<Net>();
  std::vector<std::string> words;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  try {
    const cli::Parsed parsed = cli::parse(*recipe, "program", words);
    fuzz::ensure(parsed.arguments || !parsed.text.empty(),
                 "words mean something or ask for a text");
  } catch (const cli::UsageError&) {
  }
  return 0;
}
