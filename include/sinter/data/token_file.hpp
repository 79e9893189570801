// SPDX-License-Identifier: Apache-2.0
// Texts that were turned into tokens once, in a file.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "sinter/data/data_files.hpp"
#include "sinter/data/tokenizer/tokenizer.hpp"

namespace sinter {

/// A file of tokens, which is mapped and not read, so that it may be larger than the memory and
/// opening it takes no time. It is a TokenStore (token_view.hpp). The numbers in it are
/// little-endian:
///
///   offset      bytes                    what
///   0           8                        "SINTERTK"
///   8           4                        the version of this format, 1
///   12          4                        bytes of a token: 2 if the vocabulary is at most 65,536, else 4
///   16          8                        tokens, n
///   24          8                        documents, d: the files that the text came from
///   32          8                        vocabulary: each token is below it
///   40          32                       XXH3-128 of all behind the header, in hexadecimal digits
///   72          32                       likewise of what the file was made of; zeros if unknown
///   104         8                        XXH3-64 of the bytes before it
///   112         16                       zeros
///   128         n × bytes, zeros to 8    the tokens
///   then        8 × d                    the first token of each document
class TokenFile {
 public:
  /// Maps the file.
  /// throws    FileError that says what is wrong, where it is no token file, its header is damaged,
  ///           or its size is not what the header says
  explicit TokenFile(std::filesystem::path path);

  /// Where the file is.
  const std::filesystem::path& path() const { return name; }
  /// The number of tokens.
  std::int64_t size() const { return count; }
  /// Every token is below it.
  std::int64_t vocabulary() const { return ids; }
  /// The first token of each document; the first document begins at 0.
  std::span<const std::uint64_t> documents() const;
  /// Says what the file was made of: a hash of the texts' places, sizes and times and of the
  /// tokenizer. Empty if unknown.
  const std::string& origin() const { return made_of; }

  /// Copies tokens [begin, begin + out.size()) to `out`.
  /// requires  0 <= begin and begin + out.size() <= size()
  void read(std::int64_t begin, std::span<std::int32_t> out) const;
  /// A hash of tokens and documents, from the header: none of them is read.
  std::uint64_t hash() const;
  /// Reads all of the file.
  /// throws    FileError where it is not what its hash says
  void verify() const;

 private:
  std::filesystem::path name;
  std::shared_ptr<const std::byte> mapped;
  std::int64_t count = 0, ids = 0, document_count = 0;
  std::size_t bytes = 0, token_bytes = 2;
  std::string content_hash, made_of;
};

/// How a token file is made.
struct TokenizeOptions {
  int threads = 0;  ///< that turn text into tokens; 0 stands for one for each processor
  double seconds_between_notes = 5;  ///< of how far the work has come, from where it may go on
  /// It is called now and then with the bytes of files that are done, as they lie on the disk; it
  /// may be left out, and what it throws ends the work.
  std::function<void(std::int64_t bytes)> progress{};
};

/// Turns files into a token file, one after the other and without separators. Compressed ones are
/// read as their content (DecompressedFile). Where lines can be
/// cut from each other without a change of tokens (Tokenizer::cuts_at_lines), pieces of a megabyte
/// are worked on at the same time; else a whole file is one piece, in memory. The result depends on
/// neither the threads nor on interruptions: what is done lies in `out` + ".part", and the next call
/// with the same files and tokenizer goes on from there. An existing file that was made of the same
/// is verified and left as it is.
/// throws    FileError, also if `out` exists and was made of something else; ArgumentError where the
///           tokenizer says no vocabulary, or has no token for a byte
void make_token_file(const DataFiles& files, const Tokenizer& tokenizer,
                     const std::filesystem::path& out, const TokenizeOptions& options = {});

/// The origin() of the file that make_token_file() makes of these.
std::string token_file_origin(const DataFiles& files, const Tokenizer& tokenizer);

/// Whether a file begins as token files do.
/// throws    FileError if it cannot be read
bool is_token_file(const std::filesystem::path& path);

}  // namespace sinter
