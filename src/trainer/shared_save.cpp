// SPDX-License-Identifier: Apache-2.0
#include "trainer/shared_save.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <new>
#include <optional>
#include <system_error>

#include "files/system.hpp"
#include "sinter/comm/communicator.hpp"
#include "trainer/background.hpp"
#include "trainer/saved_tensors.hpp"
#include "trainer/shared_save_folder.hpp"

namespace sinter::detail {

namespace {

namespace fs = std::filesystem;

/// Writes slices in parts, so that it can give up soon.
class SliceWriter {
  const std::atomic<bool>& given_up;
  kernel::Stream* stream;  // if the slices are in the device's memory

 public:
  SliceWriter(const std::atomic<bool>& stop, kernel::Stream* of_device)
      : given_up(stop), stream(of_device) {}

  Written write(const SlicedFile& file, SharedFile& to) const {
    Written written;
    if (!file.head.empty()) {
      to.write(0, file.head.data(), file.head.size());
      written.sum.add_chunk(0, file.head.data(), file.head.size());
      written.bytes = file.head.size();
    }
    for (const Slice& slice : file.slices) {
      write(slice, to, written.sum);
      written.bytes += slice.bytes;
    }
    to.finish();
    return written;
  }

 private:
  void write(const Slice& slice, SharedFile& to, ChunkSum& sum) const {
    std::optional<OnHost> host;
    const std::byte* data = slice.data;
    if (stream)
      data = host.emplace(*stream, const_cast<std::byte*>(data), std::int64_t(slice.bytes),
                          Access::read)
                 .data();
    constexpr std::size_t part = std::size_t(1) << 20;  // whole chunks of all types
    for (std::size_t done = 0; done < slice.bytes; done += part) {
      if (given_up) throw FileError("The checkpoint is given up.");
      const std::size_t bytes = std::min(part, slice.bytes - done);
      sum.add_elements(slice.at + done, data + done, bytes, slice.type);
      to.write(slice.at + done, data + done, bytes);
    }
  }
};

}  // namespace

std::string first_text(TrainerCore& trainer, const std::string& own) {
  const World& world = trainer.settings().world;
  for (int rank = 0; rank < world.ranks; ++rank) {
    std::string text = rank == world.rank ? own.substr(0, 1000) : "";
    text.resize(std::size_t(trainer.sum_over_processes(double(text.size()))));  // filled with zeros
    for (char& letter : text)
      letter = char(std::uint8_t(trainer.sum_over_processes(std::uint8_t(letter))));
    if (!text.empty()) return fmt::format("rank {}: {}", rank, text);
  }
  return "";
}

SharedSave::SharedSave(TrainerCore& trainer, RunFolder& folder, Snapshot& snapshot)
    : trainer_(trainer), folder_(folder), snapshot_(snapshot), world_(trainer.settings().world) {}

SharedSave::~SharedSave() { give_up(); }

void SharedSave::give_up() noexcept {
  given_up_ = true;
  if (folder_work_) folder_work_->give_up("The checkpoint is given up.");
  folder_work_.reset();
  thread_ = {};
}

bool SharedSave::begin(const std::string& info, bool best, const std::function<void()>& before,
                       bool in_background) {
  problem_.clear();
  written_.clear();
  given_up_ = false;
  step_ = trainer_.steps();
  std::vector<SlicedFile> files = slices_of(trainer_, world_.rank, world_.ranks);
  files_.clear();
  for (const SlicedFile& file : files) files_.emplace_back(file.name, file.bytes);
  const double mark = sum(is_first() ? begin_folder(info, best, before) : 0);
  const int process = int(sum(is_first() ? ::getpid() : 0));
  if (mark == 0) {
    fail();
    return true;
  }
  std::vector<SharedFile> open = open_files(mark, process);
  const double blind = sum(open.empty());
  if (blind > 0 && !std::exchange(has_told_, true))
    note_ = fmt::format(
        "{} of {} ranks do not see {}, which rank 0 has made, so rank 0 gathers and writes all of "
        "each checkpoint. Give a folder that all hosts share.",
        blind, world_.ranks, folder_.path().string());
  const Source source = take(files, blind == 0, in_background);
  const bool waits = is_any(!in_background || (source == Source::device && !files.empty()));
  phase_ = Phase::writing;
  if (blind > 0 && !is_first()) open.clear();
  write(std::move(files), std::move(open), source, in_background);
  if (waits) wait();
  return !waits || !in_background;
}

/// Lets rank 0 make the files. Returns the mark of the folder; 0 if it cannot.
double SharedSave::begin_folder(const std::string& info, bool best,
                                const std::function<void()>& before) try {
  folder_work_ = std::make_unique<FolderWork>();
  return folder_work_->begin(
      folder_, {step_, info, config_text(trainer_.recipe().hugging_face), best, before, files_});
} catch (const std::exception& error) {
  folder_work_.reset();
  problem_ = error.what();
  return 0;
}

/// Opens the files; none if this rank does not see them.
std::vector<SharedFile> SharedSave::open_files(double mark, int process) const try {
  const fs::path folder = temporary_sibling_of(process, folder_.path() / step_folder_name(step_));
  const InputFile found(folder / mark_of_folder, Links::refused);
  if (read_file(found, 32) != std::to_string(std::uint64_t(mark))) return {};
  std::vector<SharedFile> files;
  for (const auto& [name, bytes] : files_) files.push_back(SharedFile::opened(folder / name));
  return files;
} catch (const FileError&) {
  return {};
}

/// Decides what this rank writes, and copies it if that is to be written while training continues.
SharedSave::Source SharedSave::take(std::vector<SlicedFile>& files, bool all_see,
                                    bool in_background) {
  if (!all_see) {
    files.clear();
    if (trainer_.has_shards_elsewhere()) {
      if (!is_first()) trainer_.show_content([](const CheckpointContent&) {});
      if (!is_first()) return Source::host;
      trainer_.copy_content(snapshot_);
      files = slices_of(snapshot_.content());
      return Source::host;
    }
    if (is_first()) files = slices_of(trainer_, 0, 1);
  }
  if (!in_background || files.empty()) return Source::device;
  try {
    snapshot_.copy(trainer_.machine().stream(), content_of(files));
    return Source::snapshot;
  } catch (const std::bad_alloc&) {
    return Source::device;
  }
}

void SharedSave::write(std::vector<SlicedFile> files, std::vector<SharedFile> open, Source source,
                       bool in_background) {
  auto work = [this, files = std::move(files), open = std::move(open), source]() mutable {
    std::vector<Written> written(files_.size());
    if (files.empty()) return written;
    if (open.empty()) throw FileError("The files that this rank has made cannot be opened.");
    if (source == Source::snapshot) move_to(files, snapshot_.content());
    const SliceWriter writer(given_up_,
                             source == Source::device ? &trainer_.machine().stream() : nullptr);
    for (std::size_t k = 0; k < files.size(); ++k) written[k] = writer.write(files[k], open[k]);
    return written;
  };
  const auto task = std::make_shared<std::packaged_task<std::vector<Written>()>>(std::move(work));
  writing_ = task->get_future();
  if (!in_background || source == Source::device) return (*task)();
  try {
    thread_ = std::jthread([this, task] {
      yield_to_others();
      trainer_.recipe().open_device();
      (*task)();
    });
  } catch (const std::system_error&) {
    (*task)();  // runs here, as the machine has no thread to give
  }
}

void SharedSave::fail() {
  problem_ = first_text(trainer_, problem_);
  phase_ = Phase::failed;
  if (!folder_work_) return;
  folder_work_->give_up(problem_);
  folder_work_.reset();
}

void SharedSave::vote(kernel::Votes& own) {
  bool is_done = false;
  if (phase_ == Phase::writing) {
    take_result();
    is_done = !writing_.valid();
  } else if (phase_ == Phase::completing) {
    end_folder_work();
    is_done = !folder_work_;
  }
  own.done = is_done;
  own.failed = is_done && !problem_.empty();
}

void SharedSave::count(const kernel::Votes& all) {
  if (has_ended() || int(all.done) < world_.ranks) return;
  if (all.failed > 0) return fail();
  if (phase_ == Phase::writing) return complete();
  phase_ = Phase::complete;
}

/// Takes the result of the thread, if it is done.
void SharedSave::take_result() {
  if (!writing_.valid() || writing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    return;
  try {
    written_ = writing_.get();
  } catch (const std::exception& error) {
    problem_ = error.what();
  }
}

/// Takes the result of rank 0's work in the folder, if it is done.
void SharedSave::end_folder_work() {
  if (!folder_work_ || !folder_work_->has_ended()) return;
  try {
    folder_work_->end();
  } catch (const std::exception& error) {
    problem_ = error.what();
  }
  folder_work_.reset();
}

/// Sums the hashes of all ranks, and lets rank 0 make a checkpoint of the files.
void SharedSave::complete() {
  constexpr std::uint64_t half = std::uint64_t(1) << 32;
  std::vector<CheckpointFile> files;
  bool is_whole = true;
  for (std::size_t k = 0; k < files_.size(); ++k) {
    const Written& own = written_[k];
    Written all;
    for (const auto& [from, to] :
         {std::pair{own.sum.low, &all.sum.low}, {own.sum.high, &all.sum.high}})
      *to =
          std::uint64_t(sum(double(from % half))) + std::uint64_t(sum(double(from / half))) * half;
    all.bytes = std::uint64_t(sum(double(own.bytes)));
    is_whole = is_whole && all.bytes == files_[k].second;
    files.push_back({all.bytes, all.sum.text(), true});
  }
  phase_ = Phase::completing;
  if (!is_whole) {
    problem_ = "The ranks have not written all of the files.";
    return fail();
  }
  if (folder_work_) folder_work_->complete(std::move(files));
}

void SharedSave::wait() {
  constexpr std::chrono::milliseconds moment(100);
  while (!has_ended()) {
    if (phase_ == Phase::writing && writing_.valid()) writing_.wait_for(moment);
    if (phase_ == Phase::completing && folder_work_) folder_work_->wait_for(moment);
    kernel::Votes votes;
    vote(votes);
    double all[]{votes.done, votes.failed};
    trainer_.sum_over_processes(all);
    count({.done = all[0], .failed = all[1]});
  }
}

fs::path SharedSave::end() {
  wait();
  const bool is_complete = phase_ == Phase::complete;
  phase_ = Phase::idle;
  if (!is_complete) throw FileError(problem_);
  return folder_.path() / step_folder_name(step_);
}

}  // namespace sinter::detail
