// SPDX-License-Identifier: Apache-2.0
// Disks that are full, read-only or not ours. The full disk is a real, small one: a tmpfs that only
// this process sees.
#include <doctest/doctest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <vector>

#include "files/gguf.hpp"
#include "sinter/files/metrics_log.hpp"
#include "sinter/files/run_folder.hpp"
#include "sinter/files/safetensors.hpp"
#include "sinter/files/weights.hpp"
#include "support/small_disk.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing::files_disk_tests {

using Mode = RunFolder::Mode;

/// Acts as a user without rights while it lives, if it is root that runs the test.
class Nobody {
  bool changed = ::geteuid() == 0 && ::seteuid(65534) == 0;

 public:
  ~Nobody() {
    if (changed) REQUIRE(::seteuid(0) == 0);
  }
};

void save(RunFolder& run, std::int64_t step, std::size_t bytes) {
  run.save(step, "{}", [&](CheckpointWriter& writer) {
    writer.add_file("model.safetensors", std::string(bytes, 'x'));
    writer.add_file("sampler.bin", "12");
  });
}

TEST_CASE("a disk that runs full in a save: an error, and what was there is untouched") {
  TemporaryFolder folder;
  fs::path disk = folder / "disk", path = disk / "run";
  if (!mount_small(disk, "1m")) {
    MESSAGE("skipped: mounting a tmpfs is not allowed here");
    return;
  }
  {
    RunFolder run(path, Mode::fresh);
    MetricsLog log(run.metrics_path(), 0);
    log.append(R"({"step":1})");
    CHECK_NOTHROW(run.require_room(900'000));
    CHECK(contains(message_of([&] { run.require_room(3 << 20); }),
                   "MiB free, and a checkpoint takes 3.0 MiB"));
    save(run, 10, 300'000);
    save(run, 20, 300'000);
    std::string text = message_of([&] { save(run, 30, 600'000); });
    CAPTURE(text);
    CHECK(contains(text, "Cannot write " + path.string()));
    CHECK(contains(text, "model.safetensors: No space left on device. Free space there"));
    CHECK(hidden_entries(path) == 0);
    CHECK(CheckpointReader(path / "last").step() == 20);
    CHECK_NOTHROW(CheckpointReader(path / "step-00000010"));

    CHECK_THROWS(write_file_atomically(disk / "large", std::string(600'000, 'x')));
    std::vector<char> zeros(600'000);
    std::vector<TensorView> tensors{{"a", Dtype::u8, {600'000}, zeros.data(), zeros.size()}};
    CHECK_THROWS_AS(write_safetensors(disk / "m.safetensors", tensors), FileError);
    const GgufTensor gguf{
        "m", Dtype::f32, {"a", Dtype::f32, {150'000}, zeros.data(), zeros.size()}};
    CHECK_THROWS_AS(write_gguf(disk / "m.gguf", {}, std::span(&gguf, 1)), FileError);
    CHECK(!fs::exists(disk / "m.gguf"));
    CHECK(!fs::exists(disk / "large"));
    CHECK(!fs::exists(disk / "m.safetensors"));
    CHECK(hidden_entries(disk) == 0);

    // The log: rows until the disk is full, of which each is whole.
    std::string row = "{\"step\":2,\"x\":\"" + std::string(1'000, 'x') + "\"}";
    std::size_t rows = 0;
    auto fill = [&] {
      for (;; ++rows) log.append(row);
    };
    CHECK(contains(message_of(fill), "metrics.jsonl: No space left on device"));
    CHECK(fs::file_size(run.metrics_path()) == 11 + rows * (row.size() + 1));
    CHECK(rows > 100);
    // And with no space at all not even a link can be made, or a folder.
    CHECK_THROWS_AS(save(run, 30, 1), FileError);
    CHECK(CheckpointReader(path / "last").step() == 20);
    fs::resize_file(run.metrics_path(), 0);
    save(run, 30, 100'000);
    CHECK(CheckpointReader(path / "last").step() == 30);
  }
  REQUIRE(::mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) == 0);
  {  // Nothing can be begun there now, but everything read.
    std::string resumed = message_of([&] { RunFolder run(path, Mode::resume); });
    CHECK(contains(resumed, "Read-only file system. Check the permissions"));
    CHECK(contains(message_of([&] { RunFolder run(disk / "b", Mode::fresh); }), "Read-only"));
    CHECK(CheckpointReader(resolve_weights(path).path).step() == 30);
  }
  CHECK(::umount2(disk.c_str(), MNT_DETACH) == 0);
}

TEST_CASE("a limit on file sizes is an error that tells of it") {
  TemporaryFolder folder;
  RunFolder run(folder / "run", Mode::fresh);
  save(run, 10, 1'000);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small{100'000, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::string text = message_of([&] { save(run, 20, 200'000); });
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  CHECK(contains(text, "File too large. The file size limit is too small"));
  CHECK(CheckpointReader(run.path() / "last").step() == 10);
  CHECK(step_folders(run.path()).size() == 1);
  CHECK(hidden_entries(run.path()) == 0);
}

TEST_CASE("a device that is always full is an error") {
  OutputFile out("/dev/full");
  out.write("x");
  CHECK(contains(message_of([&] { out.finish(); }), "/dev/full: No space left on device"));
}

TEST_CASE("folders and files without permissions are errors") {
  TemporaryFolder folder;
  {
    RunFolder run(folder / "run", Mode::fresh);
    save(run, 10, 10);
  }
  put(folder / "secret.safetensors", std::string("\x02\0\0\0\0\0\0\0{}", 10));
  fs::permissions(folder.path(), fs::perms(0555));
  fs::permissions(folder / "secret.safetensors", fs::perms(0));
  fs::permissions(folder / "run", fs::perms(0555));
  fs::permissions(folder / "run/lock", fs::perms(0444));
  {
    Nobody nobody;
    for (auto act : std::vector<std::function<void()>>{
             [&] { RunFolder run(folder / "new", Mode::fresh); },
             [&] { RunFolder run(folder / "run", Mode::resume); },
             [&] { CheckpointWriter writer(folder / "c"); },
             [&] { SafetensorsFile file(folder / "secret.safetensors"); },
             [&] { write_file_atomically(folder / "a", "x"); },
             [&] { MetricsLog log(folder / "m", 0); },
         }) {
      std::string text = message_of(act);
      CAPTURE(text);
      CHECK(contains(text, "Permission denied. Check the permissions"));
      CHECK(contains(text, folder.path().string()));
    }
    CHECK(CheckpointReader(folder / "run/last").step() == 10);
  }
  fs::permissions(folder.path(), fs::perms(0755));
  fs::permissions(folder / "run", fs::perms(0755));
}

}  // namespace sinter::detail::testing::files_disk_tests
