// SPDX-License-Identifier: Apache-2.0
// The work of ./sinter recipe: a recipe that fits a downloaded folder.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace sinter::detail::hugging_face {

/// A recipe's file.
struct WrittenRecipe {
  std::string text;
  std::vector<std::string> notes;  // what it does not take over of the folder; they are in it, too
};

/// Makes a recipe for the model in a folder: its type from config.json, text as data if the folder
/// has a tokenizer, else only ids, and other policies as a start for fine-tuning. Reads no weights.
/// `file` is the recipe's future path, for its name and its comment; it may be empty. With `adapts` the
/// recipe has Lora, with PEFT's usual targets.
/// throws    FileError if the folder has no config.json, or one that no recipe fits; it lists all
///           that Sinter cannot do
WrittenRecipe recipe_of_folder(const std::filesystem::path& folder,
                               const std::filesystem::path& file = {}, bool adapts = false);

/// Does so, and writes `file`.
/// throws    FileError, too, if `file` is there already, has no name that ends in .cpp, or cannot
///           be written
WrittenRecipe write_recipe(const std::filesystem::path& folder, const std::filesystem::path& file,
                           bool adapts = false);

}  // namespace sinter::detail::hugging_face
