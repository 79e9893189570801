// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/sentencepiece_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "data/tokenizer/vocabulary.hpp"

namespace sinter::detail {
namespace {

using Kind = SentencePieceFile::Kind;
constexpr std::string_view blank = SentencePieceFile::blank;

[[noreturn]] void damaged(const std::string& how) {
  throw TokenizerProblem("it is damaged as a model of SentencePiece, " + how);
}

/// A message of protocol buffers, field by field.
class Message {
  std::string_view rest;
  const char* file;  // where positions are counted from

  [[noreturn]] void refuse(const char* what) const {
    damaged(fmt::format("{} at byte {}", what, rest.data() - file));
  }
  std::uint64_t varint() {
    std::uint64_t read = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest.empty()) refuse("which ends within a number");
      const auto byte = static_cast<unsigned char>(rest.front());
      rest.remove_prefix(1);
      read |= std::uint64_t(byte & 0x7f) << shift;
      if (byte < 0x80) return read;
    }
    refuse("with a number of too many bytes before what is");
  }
  std::string_view take(std::uint64_t size) {
    if (size > rest.size()) refuse("which ends within the field");
    const std::string_view taken = rest.substr(0, std::size_t(size));
    rest.remove_prefix(taken.size());
    return taken;
  }

 public:
  enum Type : unsigned { number = 0, eight_bytes = 1, text = 2, four_bytes = 5 };
  std::uint64_t field = 0;  // that next() has read, its type, and what of these it holds
  Type type{};
  std::uint64_t value = 0;
  std::string_view bytes;

  Message(std::string_view all, const char* begin) : rest(all), file(begin) {}

  bool next() {
    if (rest.empty()) return false;
    const std::uint64_t tag = varint();
    field = tag >> 3;
    type = Type(tag & 7);
    if (field == 0) refuse("with a field 0 before what is");
    switch (type) {
      case number:
        value = varint();
        break;
      case eight_bytes:
        bytes = take(8);
        break;
      case text:
        bytes = take(varint());
        break;
      case four_bytes:
        bytes = take(4);
        break;
      default:
        refuse("with a field of no known type before what is");
    }
    return true;
  }
  /// The field must be of this type.
  void require(Type wanted) const {
    if (type != wanted) refuse("with a field of another type than expected before what is");
  }
  bool flag() const {
    require(number);
    return value != 0;
  }
  Message message() const {
    require(text);
    return {bytes, file};
  }
};

std::uint32_t word_at(std::string_view bytes, std::size_t index) {
  unsigned char byte[4];
  std::memcpy(byte, bytes.data() + 4 * index, 4);
  return byte[0] | std::uint32_t(byte[1]) << 8 | std::uint32_t(byte[2]) << 16 |
         std::uint32_t(byte[3]) << 24;
}

/// The rules of a normaliser: its size in bytes, a double array of darts-clone, which leads from
/// what is replaced to places in what is behind it, texts that end with a zero.
class Rules {
  std::string_view units, texts;
  std::vector<bool> seen;  // states that were met: the place, and whether a newline led there
  struct State {
    std::size_t place;
    bool newline;
  };
  std::vector<State> open;
  bool newline_in_longer = false;

  std::uint32_t unit(std::size_t place) const { return word_at(units, place); }
  std::size_t behind(std::size_t place) const {
    const std::uint32_t here = unit(place);
    return place ^ ((here >> 10) << ((here & (1u << 9)) >> 6));
  }
  bool is_end(std::size_t place) const { return unit(place) >> 8 & 1; }
  std::size_t text_at(std::size_t place) const { return unit(place) & 0x7fffffff; }
  bool leads(std::size_t place, unsigned char byte) const {
    return (unit(place) & 0x800000ff) == byte;
  }

  /// Goes to the state behind the unit at `place`, in whose block all its followers must lie.
  void enter(std::size_t place, bool newline, bool alone) {
    const std::size_t next = behind(place);
    if ((next | 255) >= units.size() / 4) damaged("whose normaliser leads out of its rules");
    if (is_end(place) && text_at(next) >= texts.size())
      damaged("whose normaliser leads out of its texts");
    newline_in_longer |= is_end(place) && newline && !alone;
    const std::size_t state = 2 * next + newline;
    if (seen[state]) return;
    seen[state] = true;
    open.push_back({next, newline});
  }
  bool makes_a_blank_of(std::string_view text) const {
    std::size_t place = 0;
    for (char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      place = behind(place) ^ byte;
      if (!leads(place, byte)) return false;
    }
    return is_end(place) && texts.data() + text_at(behind(place)) == std::string_view(" ");
  }

 public:
  explicit Rules(std::string_view all) {
    if (all.size() < 4) damaged("whose normaliser has no size");
    const std::uint64_t size = word_at(all, 0);
    all.remove_prefix(4);
    if (size == 0 || size % 4 != 0 || size >= all.size() || all.back() != '\0')
      damaged("whose normaliser has another size than it says");
    units = all.substr(0, std::size_t(size));
    texts = all.substr(std::size_t(size));
    seen.resize(2 * (units.size() / 4));
    enter(0, false, true);
    for (bool alone = true; !open.empty(); alone = false) {
      const State from = open.back();
      open.pop_back();
      for (unsigned byte = 0; byte < 256; ++byte)
        if (const std::size_t place = from.place ^ byte;
            leads(place, static_cast<unsigned char>(byte)))
          enter(place, from.newline || byte == '\n', alone);
    }
  }
  /// Whether each newline becomes a blank, whatever is beside it, and so does what stands for a
  /// blank in pieces; and no rule makes two blanks.
  bool newlines_are_blanks() const {
    return makes_a_blank_of("\n") && !newline_in_longer && makes_a_blank_of(blank) &&
           texts.find(blank) == texts.npos && texts.find("  ") == texts.npos;
  }
};

SentencePieceFile::Piece piece_of(Message fields, std::size_t id) {
  SentencePieceFile::Piece piece;
  while (fields.next()) {
    if (fields.field == 1) {
      fields.require(Message::text);
      piece.text = fields.bytes;
    } else if (fields.field == 2) {
      fields.require(Message::four_bytes);
      piece.score = std::bit_cast<float>(word_at(fields.bytes, 0));
      if (!std::isfinite(piece.score))
        damaged(fmt::format("in which the score of piece {} is no number", id));
    } else if (fields.field == 3) {
      fields.require(Message::number);
      if (fields.value < 1 || fields.value > 6)
        damaged(fmt::format("in which piece {} is of the kind {}, and there are 1 to 6", id,
                            fields.value));
      piece.kind = Kind(fields.value);
    }
  }
  if (piece.text.empty() || piece.text.find('\0') != piece.text.npos)
    damaged(fmt::format("in which piece {} has no text, or a zero in it", id));
  return piece;
}

void read_trainer(Message fields, SentencePieceFile& file) {
  constexpr std::uint64_t bpe = 2;
  while (fields.next()) switch (fields.field) {
      case 3:
        fields.require(Message::number);
        if (fields.value < 1 || fields.value > 4)
          damaged(fmt::format("whose type is {}, and there are 1 to 4", fields.value));
        file.is_bpe = fields.value == bpe;
        break;
      case 24:
        file.blanks_behind = fields.flag();
        break;
      case 44:
        fields.require(Message::text);
        file.unknown_text = fields.bytes;
        break;
      default:
        break;
    }
}

void read_normalizer(Message fields, SentencePieceFile& file) {
  while (fields.next()) switch (fields.field) {
      case 2:
        fields.require(Message::text);
        file.has_rules = !fields.bytes.empty();
        file.newlines_are_blanks = file.has_rules && Rules(fields.bytes).newlines_are_blanks();
        break;
      case 3:
        file.adds_blank = fields.flag();
        break;
      case 4:
        file.removes_blanks = fields.flag();
        break;
      case 5:
        file.escapes_blanks = fields.flag();
        break;
      default:
        break;
    }
}

}  // namespace

bool looks_like_sentencepiece(std::string_view file) {
  const auto is_control = [](char c) {
    return c >= 0 && c < ' ' && c != '\t' && c != '\n' && c != '\r';
  };
  return file.starts_with('\n') && std::ranges::any_of(file.substr(0, 64), is_control);
}

SentencePieceFile read_sentencepiece_file(std::string_view text) {
  if (text.starts_with("IQ== "))
    throw TokenizerProblem(
        "it is a list of tokens for tiktoken, as Llama 3 has it, and no model of SentencePiece; "
        "the "
        "tokenizer.json of the same model is understood");
  SentencePieceFile file;
  Message fields(text, text.data());
  while (fields.next()) switch (fields.field) {
      case 1:
        if (file.pieces.size() > std::size_t(Vocabulary::largest_id))
          throw TokenizerProblem("it has too many pieces");
        file.pieces.push_back(piece_of(fields.message(), file.pieces.size()));
        break;
      case 2:
        read_trainer(fields.message(), file);
        break;
      case 3:
        read_normalizer(fields.message(), file);
        break;
      case 5: {
        SentencePieceFile decoded;
        read_normalizer(fields.message(), decoded);
        for (Message rules = fields.message(); rules.next();)
          file.changes_decoded |= rules.field == 2 && !rules.bytes.empty();
        break;
      }
      default:
        break;
    }
  if (file.pieces.empty()) damaged("which has no pieces");
  return file;
}

}  // namespace sinter::detail
