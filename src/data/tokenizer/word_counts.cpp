// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/word_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <mutex>
#include <optional>
#include <vector>

#include "hardware/processors.hpp"
#include "sinter/files/decompress.hpp"

namespace sinter::detail {
namespace {

/// Gives the files' text in chunks of whole lines, to any number of threads.
class LineChunks {
  static constexpr std::size_t chunk_bytes = std::size_t(1) << 20;

  const DataFiles& files;
  const std::function<void(std::int64_t)>& progress;
  std::mutex mutex;
  std::size_t at = 0;  // the file
  std::int64_t done = 0;
  std::optional<DecompressedFile> file;
  std::string rest;  // of the file, which is read but not given
  bool failed = false;

 public:
  LineChunks(const DataFiles& all, const std::function<void(std::int64_t)>& progress_)
      : files(all), progress(progress_) {}

  /// Replaces `chunk`. Returns false if nothing is left, or something went wrong in another thread.
  bool next(std::string& chunk) {
    const std::scoped_lock lock(mutex);
    try {
      while (!failed && at < files.files().size())
        if (take(chunk)) return true;
    } catch (...) {
      failed = true;
      throw;
    }
    return false;
  }

 private:
  /// Returns false where the file had nothing more.
  bool take(std::string& chunk) {
    const DataFiles::File& named = files.files()[at];
    if (!file) file.emplace(std::filesystem::path(named.path));
    chunk = std::move(rest);
    rest.clear();
    bool ended = false;
    std::size_t line = std::string::npos;
    while (!ended && line == std::string::npos) {
      const std::size_t had = chunk.size();
      chunk.resize(had + chunk_bytes);
      const std::size_t got = file->read(chunk.data() + had, chunk_bytes);
      chunk.resize(had + got);
      ended = got < chunk_bytes;
      line = std::string_view(chunk).substr(had).rfind('\n');
      if (line != std::string::npos) line += had + 1;
    }
    if (ended) {
      file.reset();
      ++at;
      done += named.bytes;
    } else {
      rest = chunk.substr(line);
      chunk.resize(line);
    }
    if (progress) progress(ended ? done : done + std::min(position(), named.bytes));
    return !chunk.empty();
  }
  std::int64_t position() const {
    return file->compression() == Compression::none ? std::int64_t(file->position()) : 0;
  }
};

void count_lines(std::string_view text, Pattern pattern, WordCounts& counts) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    split(text.substr(0, end), pattern, [&](const char* begin, std::size_t bytes) {
      const std::string_view word(begin, bytes);
      if (auto found = counts.find(word); found != counts.end())
        ++found->second;
      else
        counts.emplace(word, 1);
    });
    text.remove_prefix(end);
  }
}

}  // namespace

WordCounts count_words(const DataFiles& files, Pattern pattern, int threads,
                       const std::function<void(std::int64_t)>& progress) {
  LineChunks chunks(files, progress);
  auto count = [&] {
    WordCounts counts;
    for (std::string chunk; chunks.next(chunk);) count_lines(chunk, pattern, counts);
    return counts;
  };
  const int workers = threads > 0 ? threads : usable_processors();
  std::vector<std::future<WordCounts>> others;
  for (int k = 1; k < workers; ++k) others.push_back(std::async(std::launch::async, count));
  WordCounts all = count();
  for (std::future<WordCounts>& other : others)
    for (const auto& [word, number] : other.get()) all[word] += number;
  if (const std::string changed = files.changed(); !changed.empty())
    throw FileError(fmt::format("The data changed while they were read: {} Start again.", changed));
  return all;
}

}  // namespace sinter::detail
