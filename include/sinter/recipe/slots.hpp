// The slots of a recipe.
#pragma once
#include <concepts>
#include <string_view>
#include <type_traits>

namespace sinter {

/// A slot is a type with a name; flags and printed plans use it.
namespace slot {
struct model {
  static constexpr std::string_view name = "model";
};
struct data {
  static constexpr std::string_view name = "data";
};
struct precision {
  static constexpr std::string_view name = "precision";
};
struct optimizer {
  static constexpr std::string_view name = "optimizer";
};
struct schedule {
  static constexpr std::string_view name = "schedule";
};
struct clipping {
  static constexpr std::string_view name = "clipping";
};
struct batch {
  static constexpr std::string_view name = "batch";
};
struct memory {
  static constexpr std::string_view name = "memory";
};
struct parallel {
  static constexpr std::string_view name = "parallel";
};
}  // namespace slot

template <class P, class Slot>
concept Policy = std::is_empty_v<P> && std::same_as<typename P::slot, Slot>;

template <class P>
concept HasOptions = requires { P::options; };

}  // namespace sinter
