// SPDX-License-Identifier: Apache-2.0
// The exceptions of Sinter.
#pragma once
#include <stdexcept>
#include <string>

namespace sinter {

/// A caller's request is invalid, or something is wrong with the machine. what() says what is
/// wrong, where, what was expected and what to do.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A file or folder cannot be read or written, or its content is not what it must be.
struct FileError : Error {
  using Error::Error;
};

/// An argument, an option or a batch is not what the recipe or the function allows.
struct ArgumentError : Error {
  using Error::Error;
};

/// Ranks cannot continue, because one of them has died, hangs, or does not do what the others do.
/// what() names it, its process and its host, and in a step the instruction that waited for it.
struct RankError : Error {
  using Error::Error;
};

/// Training has diverged, and no policy of the recipe handles it.
struct DivergedError : Error {
  using Error::Error;
};

/// A loss, a gradient or a prediction is not finite.
struct NonFiniteError : DivergedError {
  using DivergedError::DivergedError;
};

}  // namespace sinter
