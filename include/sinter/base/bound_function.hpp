// SPDX-License-Identifier: Apache-2.0
// A function bound to an object whose type is erased.
#pragma once

namespace sinter {

template <class Signature>
class BoundFunction;

/// A function bound to an object that it does not own, such as the options of a recipe. For each std::function
/// in its place some thirty functions would be compiled, and a recipe has many.
template <class Result, class... Arguments>
class BoundFunction<Result(Arguments...)> {
  void* object_ = nullptr;
  Result (*function_)(void*, Arguments...) = nullptr;

 public:
  BoundFunction() = default;
  /// ensures   (*this)(arguments…) is function(object, arguments…)
  BoundFunction(void* object, Result (*function)(void*, Arguments...))
      : object_(object), function_(function) {}

  /// requires  there is a function
  Result operator()(Arguments... arguments) const { return function_(object_, arguments...); }
  /// True if there is a function.
  explicit operator bool() const { return function_; }
};

}  // namespace sinter
