// SPDX-License-Identifier: Apache-2.0
// A function and what it is called with, without their types.
#pragma once

namespace sinter {

template <class Signature>
class BoundFunction;

/// A function of an object that it does not own, such as the options of a recipe. A std::function does the same
/// for anything, but some thirty functions are compiled for each, and a recipe has many.
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
  /// Whether there is a function.
  explicit operator bool() const { return function_; }
};

}  // namespace sinter
