// SPDX-License-Identifier: Apache-2.0
// The program behind ./sinter recipe FOLDER [FILE.cpp] [--lora].
#include "hugging_face/write_recipe.hpp"

#include "cli/output.hpp"
#include "sinter/error.hpp"

int main(int argc, char** argv) {
  using namespace sinter;
  using namespace sinter::detail;
  cli::prepare_standard_streams();
  try {
    std::vector<std::string> words(argv + 1, argv + argc);
    const bool adapts = std::erase(words, "--lora") > 0;
    if (words.size() != 1 && words.size() != 2)
      throw ArgumentError("Expected a folder and, if you like, the file to write.");
    const bool to_file = words.size() == 2;
    const hugging_face::WrittenRecipe recipe =
        to_file ? hugging_face::write_recipe(words[0], words[1], adapts)
                : hugging_face::recipe_of_folder(words[0], {}, adapts);
    for (const std::string& text : recipe.notes) cli::note("note: " + text);
    if (!to_file) cli::print_result(recipe.text);
    return 0;
  } catch (const std::exception& error) {
    cli::note(std::string("error: ") + error.what());
    return 1;
  }
}
