// What Sinter throws.
#pragma once
#include <stdexcept>
#include <string>

namespace sinter {

/// Something the caller or the machine did wrong. what() says what is wrong, where, what was
/// expected and what to do.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A file or folder that cannot be read or written, or whose content is not what it must be.
struct FileError : Error {
  using Error::Error;
};

/// An argument, option or batch outside what the recipe allows.
struct ArgumentError : Error {
  using Error::Error;
};

/// A loss or gradient that is not finite.
struct NonFiniteError : Error {
  using Error::Error;
};

}  // namespace sinter
