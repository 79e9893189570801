// SPDX-License-Identifier: Apache-2.0
// A model's config.json.
#include "fuzz/support.hpp"
#include "hugging_face/write_recipe.hpp"
#include "sinter/data/bytes.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/trainer/view_of.hpp"
#include "support/recipes.hpp"
#include "trainer/state_json.hpp"

using namespace sinter;
using namespace sinter::detail;

namespace {
using Net = testing::Made<Gpt2<{.layers = 1, .heads = 2, .width = 16, .positions = 8}>,
                          Bytes<{.context = 8}>>;
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::TemporaryFolder folder;
  static const auto recipe = view_of<Net>();
  try {
    require_same_architecture(fuzz::put(folder / "config.json", fuzz::text_of(data, size)),
                              recipe->hugging_face);
  } catch (const FileError&) {
  }
  try {
    (void)hugging_face::recipe_of_folder(folder.path());
  } catch (const FileError&) {
  }
  return 0;
}
