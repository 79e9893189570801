// SPDX-License-Identifier: Apache-2.0
// A text as token numbers, however it is stored.
#pragma once
#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sinter {

/// A store of tokens that is not one array of numbers, such as shards or a compressed file.
///   size()            returns the number of tokens.
///   read(begin, out)  copies tokens [begin, begin + out.size()) to `out`; it may throw. A reader's
///                     workers may call it at the same time.
///   hash()            returns a hash of the content, which is the same on every machine.
template <class S>
concept TokenStore = requires(const S& store, std::int64_t begin, std::span<std::int32_t> out) {
  { store.size() } -> std::convertible_to<std::int64_t>;
  store.read(begin, out);
  { store.hash() } -> std::convertible_to<std::uint64_t>;
};

/// A view of tokens, whose memory must outlive the view. Copies are cheap. Numbers in memory are
/// viewed directly, 8, 16 or 32 bits wide; other tokens come as a TokenStore. The creator of the
/// tokens ensures that they are below the model's vocabulary.
class TokenView {
 public:
  TokenView(std::span<const unsigned char> bytes);  ///< each byte is a token
  /// Views each number as a token.
  TokenView(std::span<const std::uint16_t> tokens);
  /// Views each number as a token.
  TokenView(std::span<const std::int32_t> tokens);

  /// Views each number as a token; the vector must outlive the view, unchanged.
  template <class T>
  TokenView(const std::vector<T>& numbers) : TokenView(std::span<const T>(numbers)) {}
  template <class T>
  TokenView(const std::vector<T>&&) = delete;  // it would be gone before its first use

  /// Views a store, which must outlive the view and not move.
  template <TokenStore S>
  explicit TokenView(const S& store)
      : object(&store),
        count(store.size()),
        read_object([](const void* o, std::int64_t begin, std::span<std::int32_t> out) {
          static_cast<const S*>(o)->read(begin, out);
        }),
        hash_object([](const void* o, std::int64_t) -> std::uint64_t {
          return static_cast<const S*>(o)->hash();
        }) {}
  template <TokenStore S>
  explicit TokenView(const S&&) = delete;

  std::int64_t size() const { return count; }  ///< number of tokens

  /// requires  0 <= begin and begin + out.size() <= size()
  void read(std::int64_t begin, std::span<std::int32_t> out) const {
    read_object(object, begin, out);
  }

  /// Hashes all tokens, which takes about a tenth of a second per gigabyte in memory.
  std::uint64_t hash() const { return hash_object(object, count); }

  /// The name of the tokens in messages: "bytes" or "tokens".
  std::string_view unit() const { return name; }

 private:
  const void* object;
  std::int64_t count;
  void (*read_object)(const void*, std::int64_t, std::span<std::int32_t>);
  std::uint64_t (*hash_object)(const void*, std::int64_t);
  std::string_view name = "tokens";

  template <class T>
  TokenView(std::span<const T> numbers, std::string_view unit);
};

}  // namespace sinter
