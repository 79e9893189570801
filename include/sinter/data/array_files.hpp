// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/data/data_view.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

struct ArrayFilesOptions {
  int in = 1;   ///< numbers in a row of inputs, such as 784 for images of 28 × 28 pixels
  int out = 1;  ///< numbers in a row of targets, or the number of classes
  /// True if targets are classes, one whole number from 0 to out - 1 for each row.
  bool classes = false;
  double divisor = 1;     ///< inputs are divided by this, such as by 255 for pixels of 8 bits
  double held_out = 0.1;  ///< share of the rows that is held out for validation
  int split_seed = 0;     ///< seed of the draw of held-out rows; independent of other seeds
  SINTER_FIELDS((in).at_least(1), (out).at_least(1), (classes), (divisor).above(0),
                (held_out).at_least(0).below(1).adjustable(), (split_seed).at_least(0).adjustable())
};

namespace detail {
/// Opens a file of inputs and a file of targets, whose first index counts rows. Files are NumPy's
/// .npy (versions 1 to 3, in C or Fortran order), IDX, the format of MNIST, or arrays of a .npz
/// file, as "PATH:NAME". A single .npz file has both, as x and y or as arr_0 and arr_1. Its members
/// may be deflated. Numbers of .npy are
/// little-endian: f2, f4, f8, i1 to i8, u1 to u8, and b1, whose truths are 0 and 1. Their bytes
/// show which; either may be compressed (DecompressedFile). A row may have any number of
/// dimensions, which become one. Numbers become floats; inputs are divided by options.divisor.
/// floor(held_out · rows) rows, drawn by split_seed, are held out, in their order. Both files are
/// kept in memory, as floats; a file in Fortran order also as it lies, while it is read.
/// throws    FileError for a file of another format, or one that is damaged, cut short, longer than
///           it states, or has rows of another width, a non-finite number or an invalid class; also
///           if the files have different numbers of rows, or need more memory than the machine has;
///           ArgumentError unless the request names two files or one .npz file with both arrays,
///           and if rows are too few to split
OpenedData open_array_files(const DataRequest& request, const ArrayFilesOptions& options);

/// The unit of rows with a class, whose loss is cross-entropy.
inline constexpr DataUnit class_unit{.loss = "nats"};
}  // namespace detail

/// Arrays of inputs and of targets in files, each row a sequence of its own, for regression, or for
/// classification with `classes`, such as with Mlp<{.classifier = true}>.
template <ArrayFilesOptions O = {}>
struct ArrayFiles {
  using slot = slot::data;
  using Options = ArrayFilesOptions;
  static constexpr Options options = O;
  static constexpr int context = 1, vocabulary = O.classes ? O.out : 0;

  static constexpr DataUnit unit = O.classes ? detail::class_unit : row_unit;
  static constexpr std::string_view paths_help =
      "Two files: that of the inputs, then that of the targets, as\n"
      "NumPy's .npy or MNIST's IDX, also compressed (gzip, xz, zstd).\n"
      "Or one .npz file with arrays x and y, or FILE.npz:NAME twice.\n"
      "The first index counts rows. What is held out is drawn by\n"
      "--data.split_seed, --data.held_out of all rows.";
  static OpenedData open(const Options& given, const DataRequest& request) {
    return detail::open_array_files(request, given);
  }
};

}  // namespace sinter
