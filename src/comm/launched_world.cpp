// SPDX-License-Identifier: Apache-2.0
#include "sinter/comm/launched_world.hpp"

#include <charconv>
#include <cstdlib>

#include "files/hexadecimal.hpp"
#include "sinter/error.hpp"

namespace sinter {

namespace {

using Text = std::optional<std::string>;

Text variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? Text(value) : Text();
}

/// What a launcher says to the processes that it starts.
class Variables {
  std::string launcher;

 public:
  explicit Variables(std::string name) : launcher(std::move(name)) {}

  std::string text(const char* name) const {
    const Text value = variable(name);
    if (!value || value->empty())
      refuse("the environment has no " + std::string(name) +
             ", which it gives each process that it starts");
    return *value;
  }
  int number(const char* name, int least) const {
    const std::string value = text(name);
    const char* const end = value.data() + value.size();
    int number = 0;
    const auto [rest, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc() || rest != end || number < least)
      refuse(std::string(name) + " is \"" + value + "\"; it must be a whole number from " +
             std::to_string(least));
    return number;
  }
  /// The world of these variables, or none if there is one rank.
  std::optional<LaunchedWorld> world(const char* rank_name, const char* ranks_name,
                                     const std::string& id) const {
    const int rank = number(rank_name, 0), ranks = number(ranks_name, 1);
    if (rank >= ranks)
      refuse(std::string(rank_name) + " is " + std::to_string(rank) + " and " + ranks_name + " " +
             std::to_string(ranks) + "; ranks are counted from 0");
    if (ranks == 1) return {};
    const std::string all = launcher + "\n" + id;
    return LaunchedWorld{
        {.rank = rank, .ranks = ranks, .id = hexadecimal(XXH3_128bits(all.data(), all.size()))},
        launcher};
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw ArgumentError("Sinter: this process seems to be started by " + launcher + ", but " +
                        what + ".");
  }
};

}  // namespace

std::optional<LaunchedWorld> launched_world() {
  if (variable("SINTER_RANK") || variable("SINTER_RANKS")) {
    const Variables sinter("./sinter launch");
    return sinter.world("SINTER_RANK", "SINTER_RANKS", sinter.text("SINTER_WORLD"));
  }
  return {};
}

}  // namespace sinter
