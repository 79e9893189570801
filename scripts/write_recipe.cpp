// SPDX-License-Identifier: Apache-2.0
// The program behind ./sinter recipe FOLDER [FILE.cpp].
#include "hugging_face/write_recipe.hpp"

#include "cli/output.hpp"
#include "sinter/error.hpp"

int main(int argc, char** argv) {
  using namespace sinter;
  using namespace sinter::detail;
  cli::prepare_standard_streams();
  try {
    if (argc != 2 && argc != 3)
      throw ArgumentError("Expected a folder and, if you like, the file to write.");
    const bool to_file = argc == 3;
    const hugging_face::WrittenRecipe recipe = to_file
                                                   ? hugging_face::write_recipe(argv[1], argv[2])
                                                   : hugging_face::recipe_of_folder(argv[1]);
    for (const std::string& text : recipe.notes) cli::note("note: " + text);
    if (!to_file) cli::print_result(recipe.text);
    return 0;
  } catch (const std::exception& error) {
    cli::note(std::string("error: ") + error.what());
    return 1;
  }
}
