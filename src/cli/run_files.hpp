// The folder of a new run.
#pragma once
#include <filesystem>
#include <string>

namespace sinter::cli {

/// Makes runs/RECIPE-N in the current folder, N the first number that is free.
std::filesystem::path make_run_folder(const std::string& recipe);

}  // namespace sinter::cli
