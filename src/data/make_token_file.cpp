// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>
#include <vector>

#include "data/file_identity.hpp"
#include "data/require_text.hpp"
#include "data/token_file_header.hpp"
#include "data/tokenizer/line_cut.hpp"
#include "files/json.hpp"
#include "files/system.hpp"
#include "hardware/processors.hpp"
#include "sinter/data/token_file.hpp"
#include "sinter/error.hpp"
#include "sinter/files/decompress.hpp"

namespace sinter::detail {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t piece_bytes = std::size_t(1) << 20;
constexpr std::uint64_t max_journal_bytes = std::uint64_t(1) << 30;

/// How far the work has come: all files before `file`, and so many bytes of that one.
struct Place {
  std::size_t file = 0;
  std::int64_t offset = 0;
};

fs::path with_ending(const fs::path& path, const char* ending) { return path.string() + ending; }

/// The unfinished file, and beside it a journal of how much of it is whole.
class Part {
  fs::path name, journal;
  Descriptor file;
  std::string origin;
  std::uint32_t token_bytes;
  std::vector<std::uint64_t> documents;
  std::uint64_t tokens = 0;
  std::vector<std::uint16_t> narrow;
  std::chrono::steady_clock::time_point noted = std::chrono::steady_clock::now();

  void write(const void* data, std::size_t bytes) {
    for (const auto* next = static_cast<const char*>(data); bytes > 0;) {
      const ssize_t put = uninterrupted([&] { return ::write(file.get(), next, bytes); });
      if (put <= 0) throw_file_error("write", name, put < 0 ? errno : ENOSPC);
      next += put;
      bytes -= std::size_t(put);
    }
  }
  void sync() {
    if (uninterrupted([&] { return ::fsync(file.get()); }) != 0)
      throw_file_error("write", name, errno);
  }
  std::uint64_t size() const { return sizeof(TokenFileHeader) + tokens * token_bytes; }
  void lock() {
    if (uninterrupted([&] { return ::flock(file.get(), LOCK_EX | LOCK_NB); }) != 0)
      throw FileError(fmt::format("Another process is making {} just now. Wait until it has ended.",
                                  name.string()));
  }

  Place read_journal() try {
    if (!fs::exists(journal)) return {};
    Json json = parse_json(read_file(journal, max_journal_bytes));
    if (!json.is_object() || json.value("origin", "") != origin) return {};
    const std::string checksum = json.value("checksum", "");
    json.erase("checksum");
    if (checksum != hash_of(json.dump())) return {};
    struct stat status{};
    if (::fstat(file.get(), &status) != 0) throw_file_error("look at", name, errno);
    const auto done = integer_of<std::uint64_t>(json.at("tokens"), "tokens");
    if (sizeof(TokenFileHeader) + done * token_bytes > std::uint64_t(status.st_size)) return {};
    tokens = done;
    documents = json.at("documents").get<std::vector<std::uint64_t>>();
    return {integer_of<std::size_t>(json.at("file"), "file"),
            integer_of<std::int64_t>(json.at("offset"), "offset")};
  } catch (const JsonError&) {
    return {};  // damaged: all is done again
  } catch (const Json::exception&) {
    return {};
  }

 public:
  Place begin{};  // where to go on

  Part(const fs::path& out, std::string origin_, std::int64_t vocabulary)
      : name(with_ending(out, ".part")),
        journal(with_ending(out, ".part.json")),
        file(open_regular(name, O_RDWR | O_CREAT, Links::refused, "create")),
        origin(std::move(origin_)),
        token_bytes(token_bytes_for(vocabulary)) {
    lock();
    begin = read_journal();
    if (begin.file == 0 && begin.offset == 0) {
      tokens = 0;
      documents.clear();
    }
    const auto end = static_cast<off_t>(size());
    if (::ftruncate(file.get(), end) != 0 || ::lseek(file.get(), end, SEEK_SET) != end)
      throw_file_error("write", name, errno);
  }

  void begin_document() { documents.push_back(tokens); }
  void append(const std::vector<std::int32_t>& ids) {
    if (token_bytes == 2) {
      narrow.assign(ids.begin(), ids.end());
      write(narrow.data(), narrow.size() * 2);
    } else {
      write(ids.data(), ids.size() * 4);
    }
    tokens += ids.size();
  }
  /// Makes durable what is there, if that was not done lately.
  void note(Place place, double seconds_between) {
    using namespace std::chrono;
    if (steady_clock::now() - noted < duration<double>(seconds_between)) return;
    sync();
    Json json{{"origin", origin},
              {"file", place.file},
              {"offset", place.offset},
              {"tokens", tokens},
              {"documents", documents}};
    json["checksum"] = hash_of(json.dump());
    write_file_atomically(journal, json.dump());
    noted = steady_clock::now();
  }
  void finish(const fs::path& out, std::int64_t vocabulary) {
    const std::uint64_t zeros = 0;
    write(&zeros, std::size_t(documents_offset(tokens, token_bytes) - size()));
    write(documents.data(), documents.size() * sizeof(std::uint64_t));
    TokenFileHeader header;
    header.token_bytes = token_bytes;
    header.tokens = tokens;
    header.documents = documents.size();
    header.vocabulary = std::uint64_t(vocabulary);
    const std::string content = hash_of_file(InputFile(name), sizeof header);
    std::ranges::copy(content, header.content_hash.begin());
    std::ranges::copy(origin, header.origin.begin());
    header.header_hash = header.hash();
    if (::lseek(file.get(), 0, SEEK_SET) != 0) throw_file_error("write", name, errno);
    write(&header, sizeof header);
    sync();
    rename_path(name, out);
    fsync_folder(parent_folder(out));
    remove_path(journal);
  }
};

/// Cuts the contents of files into pieces, from a place on. The pieces depend on the place alone.
class Pieces {
  const DataFiles& files;
  bool cuts;
  Place at;
  std::optional<DecompressedFile> file;
  bool ended = false;  // whether all of the file is read
  std::string text;    // of the file from `at` on, as far as it is read

 public:
  struct Piece {
    std::string text;
    Place begin, end;
  };

  Pieces(const DataFiles& all, bool cuts_at_lines, Place begin)
      : files(all), cuts(cuts_at_lines), at(begin) {}

  /// Nothing is left if there is no piece. A file that is empty gives an empty piece.
  std::optional<Piece> next() {
    if (at.file == files.files().size()) return {};
    if (!file) open();
    std::optional<std::size_t> cut;
    std::size_t from = piece_bytes;
    while (!cut) {
      if (cuts && text.size() > from) {
        cut = line_cut(text, from);
        from = text.size() - 1;  // of what there is now, only the end may yet turn out to be a cut
      }
      if (cut || ended) break;
      read(2 * piece_bytes);
    }
    return take(cut.value_or(text.size()));
  }

 private:
  void open() {
    const DataFiles::File& named = files.files()[at.file];
    file.emplace(fs::path(named.path));
    ended = false;
    if (std::int64_t(file->file().size()) != named.bytes)
      throw FileError(fmt::format("{} has {} bytes now; it had {}. Start again.",
                                  printable(named.path, 4096), file->file().size(), named.bytes));
    for (std::int64_t left = at.offset; left > 0 && !ended; left -= std::int64_t(text.size())) {
      text.clear();
      read(std::size_t(std::min<std::int64_t>(left, 2 * piece_bytes)));
    }
    text.clear();
  }
  void read(std::size_t bytes) {
    const std::size_t had = text.size();
    text.resize(had + bytes);
    const std::size_t got = file->read(text.data() + had, bytes);
    text.resize(had + got);
    ended = got < bytes;
  }
  Piece take(std::size_t bytes) {
    Piece piece{text.substr(0, bytes), at, {at.file, at.offset + std::int64_t(bytes)}};
    text.erase(0, bytes);
    if (ended && text.empty()) {
      piece.end = {at.file + 1, 0};
      file.reset();
    }
    at = piece.end;
    return piece;
  }
};

std::vector<std::int32_t> encoded(const Tokenizer& tokenizer, const Pieces::Piece& piece,
                                  const std::string& path) try {
  return tokenizer.encode(piece.text);
} catch (const ArgumentError& error) {
  throw ArgumentError(fmt::format("{}, from byte {} on: {}", printable(path, 4096),
                                  piece.begin.offset, error.what()));
}

/// Of all files, how many bytes on the disk are done.
std::int64_t bytes_done(const DataFiles& files, Place place) {
  std::int64_t done = 0;
  for (std::size_t f = 0; f < place.file; ++f) done += files.files()[f].bytes;
  if (place.offset > 0) done += std::min(place.offset, files.files()[place.file].bytes);
  return done;
}

void fill(Part& part, const DataFiles& files, const Tokenizer& tokenizer,
          const TokenizeOptions& options) {
  struct Work {
    Place begin, end;
    std::future<std::vector<std::int32_t>> ids;
  };
  const auto threads = std::size_t(options.threads > 0 ? options.threads : usable_processors());
  Pieces pieces(files, tokenizer.cuts_at_lines, part.begin);
  std::deque<Work> ahead;
  auto begin_work = [&](Pieces::Piece piece) {
    const Place begin = piece.begin, end = piece.end;
    auto encode = [&, piece = std::move(piece)] {
      return encoded(tokenizer, piece, files.files()[piece.begin.file].path);
    };
    ahead.push_back({begin, end, std::async(std::launch::async, std::move(encode))});
  };
  for (bool more = true;;) {
    while (more && ahead.size() < threads)
      if (std::optional<Pieces::Piece> piece = pieces.next()) {
        if (options.text_only)
          refuse_nul(files.files()[piece->begin.file].path, piece->text, piece->begin.offset);
        begin_work(std::move(*piece));
      } else {
        more = false;
      }
    if (ahead.empty()) return;
    Work work = std::move(ahead.front());
    ahead.pop_front();
    if (work.begin.offset == 0) {
      part.begin_document();
      part.append(tokenizer.before);
    }
    part.append(work.ids.get());
    if (work.end.offset == 0) part.append(tokenizer.behind);
    part.note(work.end, options.seconds_between_notes);
    if (options.progress) options.progress(bytes_done(files, work.end));
  }
}

}  // namespace

std::string token_file_origin(const DataFiles& files, const Tokenizer& tokenizer) {
  Json list = Json::array();
  for (const DataFiles::File& file : files.files()) list.push_back(file_identity(file.path));
  Json origin{{"version", 2}, {"tokenizer", tokenizer.identity}, {"files", list}};
  if (!tokenizer.before.empty()) origin["before"] = tokenizer.before;
  if (!tokenizer.behind.empty()) origin["behind"] = tokenizer.behind;
  return hash_of(origin.dump());
}

void make_token_file(const DataFiles& files, const Tokenizer& tokenizer, const fs::path& out,
                     const TokenizeOptions& options) {
  if (tokenizer.vocabulary < 1)
    throw ArgumentError(
        "The tokenizer does not say its vocabulary, so that its tokens cannot be kept in a file.");
  const std::string origin = token_file_origin(files, tokenizer);
  if (fs::exists(out)) {
    const TokenFile there(out);
    if (there.origin() != origin)
      throw FileError(fmt::format(
          "{} was made of other files, of a former state of these, with another tokenizer, or with "
          "other special tokens around texts (--special-tokens). Name another file, or remove it.",
          out.string()));
    return there.verify();
  }
  Part part(out, origin, tokenizer.vocabulary);
  fill(part, files, tokenizer, options);
  if (const std::string changed = files.changed(); !changed.empty())
    throw FileError(fmt::format("The data changed while they were read: {} Start again.", changed));
  part.finish(out, tokenizer.vocabulary);
}

}  // namespace sinter::detail
