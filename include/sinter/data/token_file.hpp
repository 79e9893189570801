// SPDX-License-Identifier: Apache-2.0
// A file that holds texts as tokens.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sinter/data/data_files.hpp"
#include "sinter/data/tokenizer/tokenizer.hpp"

namespace sinter {

namespace detail {
class InputFile;
}

/// A file of tokens. They are read from the disk when they are asked for, so that the file may be
/// larger than the memory and opens at once. It is never mapped: a file that shrinks meanwhile
/// gives a FileError. It is a TokenStore (token_view.hpp). The numbers in it are little-endian:
///
///   offset      bytes                    what
///   0           8                        "SINTERTK"
///   8           4                        the version of this format, 1
///   12          4 bytes of a token: 2 if the vocabulary is at most 65,536, else 4
///   16          8                        tokens, n
///   24          8                        documents, d: the files that the text came from
///   32          8                        vocabulary: each token is below it
///   40          32                       XXH3-128 of all after the header, in hexadecimal digits
///   72          32                       XXH3-128 of what the file was made of; zeros if unknown
///   104         8                        XXH3-64 of the bytes before it
///   112         16                       zeros
///   128         n × bytes, zeros to 8    the tokens
///   then        8 × d                    the first token of each document
class TokenFile {
 public:
  /// Opens the file, and reads its header and where its documents begin.
  /// throws    FileError with the reason, if it is no token file, its header is damaged, or its
  ///           size differs from that in the header
  explicit TokenFile(std::filesystem::path path);

  /// The path of the file.
  const std::filesystem::path& path() const { return name; }
  /// Number of tokens.
  std::int64_t size() const { return count; }
  /// All tokens are below this.
  std::int64_t vocabulary() const { return ids; }
  /// The first token of each document; the first document begins at 0.
  std::span<const std::uint64_t> documents() const { return *starts; }
  /// A hash of what the file was made of: the texts (file_identity.hpp) and the tokenizer.
  /// Empty if unknown.
  const std::string& origin() const { return made_of; }

  /// Copies tokens [begin, begin + out.size()) to `out`.
  /// requires  0 <= begin and begin + out.size() <= size()
  /// throws    FileError if the file can no longer be read, or has been cut short
  void read(std::int64_t begin, std::span<std::int32_t> out) const;
  /// A hash of tokens and documents, from the header: none of them is read.
  std::uint64_t hash() const;
  /// Reads the whole file.
  /// throws    FileError if its content does not match its hash
  void verify() const;

 private:
  std::filesystem::path name;
  std::shared_ptr<const detail::InputFile> file;
  std::shared_ptr<const std::vector<std::uint64_t>> starts;  // of documents
  std::int64_t count = 0, ids = 0;
  std::size_t token_bytes = 2;
  std::string content_hash, made_of;
};

/// Settings of make_token_file().
struct TokenizeOptions {
  int threads = 0;  ///< threads that turn text into tokens; 0 for one per processor
  double seconds_between_notes = 5;  ///< interval of notes of progress, for the work to continue
  bool text_only = false;            ///< true if a NUL byte in a text is an error, as text has none
  /// Called now and then with the bytes of finished files, as on the disk. May be empty. What it
  /// throws ends the work.
  std::function<void(std::int64_t bytes)> progress{};
};

namespace detail {
/// Turns files into a token file, one after the other and without separators. Compressed ones are
/// read as their content (DecompressedFile). If lines can be separated without a change of tokens
/// (Tokenizer::cuts_at_lines), threads work on pieces of a megabyte at the same time; else a whole
/// file is one piece, in memory. The result depends neither on the threads nor on interruptions:
/// the next call with the same files and tokenizer continues from the work in `out` + ".part". An
/// existing file that was made of the same files and tokenizer is verified and left unchanged.
/// throws    FileError, also if `out` exists and was made of something else, or a text has a NUL
///           byte where options.text_only; ArgumentError if the tokenizer states no vocabulary, or
///           has no token for a byte
void make_token_file(const DataFiles& files, const Tokenizer& tokenizer,
                     const std::filesystem::path& out, const TokenizeOptions& options = {});

/// Returns the origin() of the file that make_token_file() makes of these.
std::string token_file_origin(const DataFiles& files, const Tokenizer& tokenizer);

/// True if a file begins as token files do.
/// throws    FileError if it cannot be read
bool is_token_file(const std::filesystem::path& path);
}  // namespace detail

}  // namespace sinter
