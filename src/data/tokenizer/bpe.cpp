// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/bpe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "data/tokenizer/vocabulary.hpp"
#include "sinter/error.hpp"

namespace sinter::detail {
namespace {

/// Tokens, with room for more than there are.
class Output {
  std::vector<std::int32_t> values;
  std::size_t count = 0;

 public:
  explicit Output(std::size_t expected) : values(expected) {}

  /// Where the next tokens go, at least `more` of them; they count once they are added.
  std::int32_t* room(std::size_t more) {
    if (values.size() - count < more) values.resize(std::max(count + more, 2 * values.size()));
    return values.data() + count;
  }
  void add(std::size_t tokens) { count += tokens; }
  std::vector<std::int32_t> take() {
    values.resize(count);
    return std::move(values);
  }
};

/// A part of a text with its blanks as the tokens have them.
std::string with_blanks(std::string_view part, bool at_begin, const BpeParts& parts) {
  const std::string_view blank = parts.over_characters ? blank_mark : " ";
  const bool there = part.starts_with(' ') || part.starts_with(blank);
  const bool wanted = parts.prefix == Prefix::always ||
                      (parts.prefix == Prefix::unless_there && !there) ||
                      (parts.prefix == Prefix::at_begin_unless_there && at_begin && !there);
  std::string text(wanted ? blank : "");
  return parts.over_characters ? text.append(replaced(part, " ", blank)) : text.append(part);
}

/// Whether no merge joins ▁ to something before it. A text may then be cut there, and the pieces be
/// remembered.
bool never_cross_marks(const BpeParts& parts) {
  return parts.of_character.contains(code_point(blank_mark.data(), blank_mark.size())) &&
         std::ranges::none_of(parts.merges, [&](const Merge& merge) {
           return !parts.tokens[std::size_t(merge.left)].ends_with(' ') &&
                  parts.tokens[std::size_t(merge.right)].starts_with(' ');
         });
}

}  // namespace

/// The encoding of one text.
class Bpe::Encoding {
  const Bpe& bpe;
  const BpeParts& parts;
  const std::string_view text;
  std::unique_ptr<PieceCache> cache;
  Output out;

 public:
  Encoding(const Bpe& b, std::string_view whole_text)
      : bpe(b), parts(b.parts), text(whole_text), out(text.size() / 3 + 16) {
    const std::scoped_lock lock(bpe.mutex);
    if (bpe.idle.empty()) {
      cache = std::make_unique<PieceCache>();
    } else {
      cache = std::move(bpe.idle.back());
      bpe.idle.pop_back();
    }
  }
  ~Encoding() {
    const std::scoped_lock lock(bpe.mutex);
    bpe.idle.push_back(std::move(cache));
  }
  Encoding(const Encoding&) = delete;
  Encoding& operator=(const Encoding&) = delete;

  std::vector<std::int32_t> run() {
    bpe.early.cut(
        text, [&](std::string_view part) { normalise(part); },
        [&](std::int32_t token) { put(token); });
    return out.take();
  }

 private:
  void put(std::int32_t token) {
    *out.room(1) = token;
    out.add(1);
  }
  void normalise(std::string_view part) {
    const bool at_begin = part.data() == text.data();
    if (parts.normalizer.empty()) return find_late(part, at_begin);
    find_late(parts.normalizer.apply(std::string(part)), at_begin);
  }
  void find_late(std::string_view part, bool at_begin) {
    auto token = [&](std::int32_t id) { put(id); };
    if (parts.blanks_before_added) {
      const std::string normal = with_blanks(part, at_begin, parts);
      bpe.late.cut(normal, [&](std::string_view rest) { cut(rest); }, token);
    } else {
      auto rest_at_begin = [&](std::string_view rest) {
        return at_begin && rest.data() == part.data();
      };
      bpe.late.cut(
          part, [&](std::string_view rest) { add_blanks(rest, rest_at_begin(rest)); }, token);
    }
  }
  void add_blanks(std::string_view part, bool at_begin) {
    if (!parts.over_characters && parts.prefix == Prefix::none) return cut(part);
    cut(with_blanks(part, at_begin, parts));
  }
  void cut(std::string_view part) {
    if (parts.splits.empty()) return cut_piece(part);
    for (const std::string_view piece : cut_by(parts.splits, part)) cut_piece(piece);
  }
  void cut_piece(std::string_view part) {
    const char* const end = part.data() + part.size();
    // What the cache knows of pieces is fetched from memory while the next ones are cut off.
    std::array<Waiting, 16> waiting;
    std::size_t count = 0;
    auto put_all = [&] {
      for (std::size_t k = 0; k < count; ++k) put(waiting[k]);
      count = 0;
    };
    split(part, parts.pattern, [&](const char* at, std::size_t bytes) {
      Waiting& next = waiting[count++];
      next.text = {at, bytes};
      if (bytes <= ShortPiece::max_bytes) {
        next.key = ShortPiece(at, bytes, std::size_t(end - at));
        cache->prefetch(next.key);
      }
      if (count == waiting.size()) put_all();
    });
    put_all();
  }

  struct Waiting {
    std::string_view text;
    ShortPiece key;  // if the piece is short
  };
  void put(const Waiting& piece) {
    if (piece.text.size() <= ShortPiece::max_bytes)
      put_short(piece);
    else if (piece.text.size() <= PieceCache::long_bytes)
      put_long(piece.text);
    else
      put_merged(piece.text);
  }
  void put_short(const Waiting& piece) {
    if (const PieceCache::Short* known = cache->find(piece.key)) {
      std::copy_n(known->tokens.data(), PieceCache::short_tokens,
                  out.room(PieceCache::short_tokens));
      out.add(known->count);
      return;
    }
    const auto [tokens, count] = put_merged(piece.text);
    if (count > PieceCache::short_tokens) return;
    PieceCache::Short fresh{
        .low = piece.key.low, .high = piece.key.high, .count = std::uint32_t(count)};
    std::copy_n(tokens, count, fresh.tokens.data());
    cache->insert(fresh);
  }
  void put_long(std::string_view piece) {
    PieceCache::Long& entry = cache->at(piece);
    if (entry.holds(piece)) {
      std::copy_n(entry.tokens.data(), PieceCache::long_tokens, out.room(PieceCache::long_tokens));
      out.add(entry.count);
      return;
    }
    const auto [tokens, count] = put_merged(piece);
    if (count > PieceCache::long_tokens) return;
    entry.bytes = std::uint8_t(piece.size()), entry.count = std::uint8_t(count);
    std::ranges::copy(piece, entry.text.data());
    std::copy_n(tokens, count, entry.tokens.data());
  }
  std::pair<const std::int32_t*, std::size_t> put_merged(std::string_view piece) {
    std::int32_t* const tokens = out.room(piece.size());
    std::size_t count = 1;
    if (const std::int32_t token = whole_token(piece); token >= 0)
      *tokens = token;
    else
      count = bpe.merges.apply(tokens, first_tokens(piece, tokens));
    out.add(count);
    return {tokens, count};
  }
  std::int32_t whole_token(std::string_view piece) const {
    if (parts.whole.empty()) return -1;
    auto found = parts.whole.find(std::string(piece));
    return found == parts.whole.end() ? -1 : found->second;
  }
  /// The tokens of a piece before any merge. Returns how many there are.
  std::size_t first_tokens(std::string_view piece, std::int32_t* tokens) const {
    std::size_t count = 0;
    while (!piece.empty()) {
      const std::size_t bytes =
          parts.over_characters ? std::max<std::size_t>(1, well_formed(piece)) : 1;
      if (std::int32_t token = of_character(piece, bytes); token >= 0)
        tokens[count++] = token;
      else
        for (char byte : piece.substr(0, bytes)) tokens[count++] = of_byte(byte);
      piece.remove_prefix(bytes);
    }
    return count;
  }
  std::int32_t of_character(std::string_view piece, std::size_t bytes) const {
    if (!parts.over_characters || well_formed(piece) == 0) return -1;
    const std::uint32_t code = code_point(piece.data(), bytes);
    if (code < bpe.of_ascii.size()) return bpe.of_ascii[code];
    auto found = parts.of_character.find(code);
    return found == parts.of_character.end() ? -1 : found->second;
  }
  std::int32_t of_byte(char byte) const {
    const auto number = static_cast<unsigned char>(byte);
    if (parts.of_byte[number] >= 0) return parts.of_byte[number];
    throw ArgumentError(fmt::format(
        "The tokenizer has no token for the byte 0x{:02x} of the text. Use one that was "
        "trained with all 256 bytes in its alphabet.",
        number));
  }
};

Bpe::Bpe(BpeParts all) : parts(std::move(all)), merges(parts.merges) {
  early = AddedTokens(those(parts.added, false));
  std::vector<AddedToken> normalized =
      with_normal_texts(those(parts.added, true), parts.normalizer);
  if (parts.blanks_before_added)
    for (AddedToken& token : normalized) token.text = with_blanks(token.text, true, parts);
  for (const AddedToken& token : normalized)
    parts.tokens[std::size_t(token.id)] =
        parts.over_characters ? replaced(token.text, blank_mark, " ") : token.text;
  late = AddedTokens(std::move(normalized));
  of_ascii.fill(-1);
  for (auto [code, token] : parts.of_character)
    if (code < of_ascii.size()) of_ascii[code] = token;
  if (parts.over_characters && parts.pattern == Pattern::none && parts.whole.empty() &&
      never_cross_marks(parts))
    parts.pattern = Pattern::mark_runs;
}

std::vector<std::int32_t> Bpe::encode(std::string_view text) const {
  return Encoding(*this, text).run();
}

const std::string& Bpe::decode(std::int32_t token) const {
  return text_of_token(parts.tokens, token);
}

namespace {

/// The patterns match a newline that stands alone as one piece, or as the end of one. What spans
/// lines otherwise are prefixes of a text, and added tokens that take what stands before them.
bool cuts_at_lines(const BpeParts& parts) {
  const bool by_lines = parts.pattern == Pattern::gpt2 || parts.pattern == Pattern::llama3 ||
                        parts.pattern == Pattern::qwen2;
  return by_lines && parts.prefix == Prefix::none && !parts.over_characters &&
         parts.normalizer.keeps_space() &&
         std::ranges::all_of(parts.splits, &SplitStep::cuts_at_lines) &&
         std::ranges::none_of(parts.added, [](const AddedToken& token) {
           return token.strips_left || token.text.find('\n') != std::string::npos;
         });
}

}  // namespace

Tokenizer tokenizer_of(BpeParts parts) {
  Tokenizer tokenizer;
  tokenizer.cuts_at_lines = cuts_at_lines(parts);
  tokenizer.vocabulary = std::int32_t(parts.tokens.size());
  if (parts.strips_first_blank) tokenizer.lead.assign(1, ' ');
  tokenizer.special = parts.special;
  tokenizer.before = parts.around.before;
  tokenizer.behind = parts.around.behind;
  auto bpe = std::make_shared<const Bpe>(std::move(parts));
  tokenizer.encode = [bpe](std::string_view text) { return bpe->encode(text); };
  tokenizer.decode = [bpe](std::int32_t token) { return bpe->decode(token); };
  return tokenizer;
}

}  // namespace sinter::detail
