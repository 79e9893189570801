// SPDX-License-Identifier: Apache-2.0
// A file without a name, which two threads read and write.
#include "sinter/hardware/offload_memory.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "sinter/error.hpp"

namespace sinter::detail {
namespace {

/// True if a folder's files are in memory, so that nothing would leave it.
bool is_in_memory(const std::string& folder) {
  struct statfs system;
  if (statfs(folder.c_str(), &system) != 0) return false;  // opening a file there says why
  return system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC;
}

std::string usual_folder() {
  const char* named = std::getenv("TMPDIR");
  return named && *named && !is_in_memory(named) ? named : "/var/tmp";
}

constexpr const char* elsewhere =
    " Name a folder on a disk with room: --scratch FOLDER, TrainerSettings::scratch, or the "
    "environment variable TMPDIR.";

[[noreturn]] void refuse(const std::string& what, const std::string& folder, int error,
                         const std::string& then) {
  throw FileError("Cannot " + what + " the file of offloaded state in " + folder + ": " +
                  std::strerror(error) + "." + then);
}

/// A file of this folder that is gone when it is closed, whatever becomes of the process.
int open_nameless(const std::string& folder) {
  int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
  std::string name = folder + "/.sinter-state-XXXXXX";  // for file systems without unnamed files
  file = mkostemp(name.data(), O_CLOEXEC);
  if (file >= 0) unlink(name.c_str());
  return file;
}

/// Bytes of memory, and of a file.
struct Job {
  std::byte* memory;
  std::int64_t at, bytes;
};

/// Reads or writes all of a job. Returns 0 or errno.
int transfer(int file, bool reads, Job job) {
  while (job.bytes > 0) {
    const auto size = std::size_t(job.bytes);
    const ssize_t done =
        reads ? pread(file, job.memory, size, job.at) : pwrite(file, job.memory, size, job.at);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    if (done == 0) return EIO;
    job.memory += done;
    job.at += done;
    job.bytes -= done;
  }
  return 0;
}

/// Transfers in one direction, by a thread, in the order in which they come.
class Lane {
  const int file;
  const bool reads;
  std::mutex mutex;
  std::condition_variable comes, done;
  std::vector<Job> waiting, taken;  // by the thread, all at once: the two change places
  bool busy = false, ends = false;
  int error = 0;  // of the first that failed; none after it is begun
  std::thread thread;

 public:
  Lane(int f, bool r, int most) : file(f), reads(r) {
    waiting.reserve(std::size_t(most));
    taken.reserve(std::size_t(most));
    thread = std::thread([this] { run(); });
  }
  ~Lane() {
    {
      const std::scoped_lock lock(mutex);
      ends = true;
    }
    comes.notify_one();
    thread.join();
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  void start(const Job& job) {
    if (job.bytes == 0) return;
    {
      const std::scoped_lock lock(mutex);
      waiting.push_back(job);
    }
    comes.notify_one();
  }
  /// Waits for all that were started. Returns 0 or the errno of the first that failed.
  int wait() {
    std::unique_lock lock(mutex);
    done.wait(lock, [&] { return waiting.empty() && !busy; });
    return error;
  }

 private:
  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      comes.wait(lock, [&] { return ends || !waiting.empty(); });
      if (waiting.empty()) return;
      std::swap(taken, waiting);
      busy = true;
      int found = error;
      lock.unlock();
      for (const Job& job : taken)
        if (found == 0) found = transfer(file, reads, job);
      taken.clear();
      lock.lock();
      busy = false;
      error = found;
      if (waiting.empty()) done.notify_all();
    }
  }
};

}  // namespace

struct OffloadMemory::Place {
  const std::int64_t bytes;
  const int most;
  const std::string folder;
  int file = -1;
  std::byte* mapped = nullptr;
  std::unique_ptr<Lane> fetches, stores;

  Place(std::int64_t b, int m, std::string f) : bytes(b), most(m), folder(std::move(f)) {}
  ~Place() {
    fetches.reset();
    stores.reset();
    if (mapped) munmap(mapped, std::size_t(bytes));
    if (file >= 0) close(file);
  }

  /// Reserves all of the room at once, so that a full disk is an error before anything is done.
  void reserve() const {
    const int error = posix_fallocate(file, 0, bytes);
    if (error == 0) return;
    refuse("take " + std::to_string(bytes) + " bytes for", folder, error, elsewhere);
  }
};

OffloadMemory::OffloadMemory(kernel::Stream&, std::int64_t bytes, int most, std::string folder)
    : place_(std::make_unique<Place>(bytes, most,
                                     folder.empty() ? usual_folder() : std::move(folder))) {}
OffloadMemory::~OffloadMemory() = default;

bool OffloadMemory::is_open() const { return place_->stores != nullptr; }

void OffloadMemory::open() {
  if (is_open()) return;
  Place& place = *place_;
  if (is_in_memory(place.folder))
    throw FileError("state was to be offloaded to a file in " + place.folder +
                    ", whose files are in memory, so that it would not leave it." + elsewhere);
  if (place.file < 0) place.file = open_nameless(place.folder);
  if (place.file < 0) refuse("make", place.folder, errno, elsewhere);
  place.reserve();
  place.fetches = std::make_unique<Lane>(place.file, true, place.most);
  place.stores = std::make_unique<Lane>(place.file, false, place.most);
}

void OffloadMemory::start_fetch(std::int64_t from, std::byte* to, std::int64_t bytes) {
  place_->fetches->start({to, from, bytes});
}
void OffloadMemory::start_store(const std::byte* from, std::int64_t to, std::int64_t bytes) {
  place_->stores->start({const_cast<std::byte*>(from), to, bytes});  // it is only read
}

namespace {

constexpr const char* lost =
    " The step cannot be finished, so training ends here; go on from the last checkpoint.";

}  // namespace

void OffloadMemory::wait_for_fetches() {
  if (const int error = place_->fetches->wait()) refuse("read", place_->folder, error, lost);
}
void OffloadMemory::wait_for_stores() {
  if (const int error = place_->stores->wait()) refuse("write", place_->folder, error, lost);
}

std::span<std::byte> OffloadMemory::bytes() {
  open();
  wait_for_stores();
  Place& place = *place_;
  if (!place.mapped) {
    void* const at =
        mmap(nullptr, std::size_t(place.bytes), PROT_READ | PROT_WRITE, MAP_SHARED, place.file, 0);
    if (at == MAP_FAILED) refuse("map", place.folder, errno, "");
    place.mapped = static_cast<std::byte*>(at);
  }
  return {place.mapped, std::size_t(place.bytes)};
}

void OffloadMemory::clear(std::int64_t from) {
  if (!is_open()) return;
  wait_for_stores();
  if (ftruncate(place_->file, from) != 0) refuse("empty", place_->folder, errno, "");
  place_->reserve();
}

void OffloadMemory::copy(OffloadMemory& from) {
  if (!from.is_open()) return clear();
  std::memcpy(bytes().data(), from.bytes().data(), std::size_t(place_->bytes));
}

}  // namespace sinter::detail
