// SPDX-License-Identifier: Apache-2.0
// What a manifest says of the trainer that wrote it.
#include "fuzz/support.hpp"
#include "sinter/data/bytes.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/precision/fp16.hpp"
#include "sinter/trainer/view_of.hpp"
#include "support/recipes.hpp"
#include "trainer/state_json.hpp"

using namespace sinter;
using namespace sinter::detail;

namespace {
using Net = testing::Made<Gpt2<{.layers = 1, .heads = 2, .width = 16, .positions = 8}>,
                          Bytes<{.context = 8}>, Fp16<>>;
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto recipe = view_of<Net>();
  try {
    const SavedState saved = read_state(fuzz::text_of(data, size), "step-00000001");
    require_same_recipe(saved, *recipe, "step-00000001");
    require_readable_state(saved, *recipe, "step-00000001");
    restore_state(saved, *recipe);
  } catch (const FileError&) {
  }
  return 0;
}
