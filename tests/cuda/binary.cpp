// SPDX-License-Identifier: Apache-2.0
// The default recipe as a binary for a card, on a machine that may have no driver for one.
#include <dlfcn.h>

#include <algorithm>

#include "binary/support.hpp"

namespace {

bool has_driver() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver) dlclose(driver);
  return driver;
}

TEST_CASE("without a driver, describe says so and describes the rest") {
  const Ended text = fine({"describe"});
  for (const char* part : {"842,496 parameters", "device  ", "device: Cuda", "cuBLASLt"})
    CHECK_MESSAGE(text.out.find(part) != text.out.npos, part);
  const Json json = fine({"describe", "--json"}).json();
  CHECK(json["matmul"]["library"] == "cublaslt");
  CHECK(json["device"]["problem"].get<std::string>().empty() == has_driver());
  if (has_driver()) return;
  CHECK(text.out.find("there is no driver for one here") != text.out.npos);
  CHECK(json["device"]["text"] == "");
  CHECK(json["matmul"]["flops_per_s"] == 0.0);
}

TEST_CASE("without a driver, what computes says in one line what is missing, and leaves nothing") {
  if (has_driver()) {
    MESSAGE("skipped: there is a driver here");
    return;
  }
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(100'000)), out = scratch / "out";
  const Ended ended = run({"train", "--data", text, "--steps", "1", "--out", out});
  check_refused(ended, 1, "there is no driver for one here");
  CHECK(std::ranges::count(ended.err, '\n') == 1);
  CHECK(!fs::exists(out));
}

TEST_CASE("threads of the host are not asked for where a card computes") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(1000));
  for (const Words& flag : {Words{"--threads", "2"}, Words{"--pin"}})
    check_refused(
        run(Words{"train", "--data", text, "--steps", "1", "--out", scratch / "out"} + flag), 2,
        "computes on a GPU");
  CHECK(!fs::exists(scratch / "out"));
}

std::string loaded_by(const std::string& binary) {
  FILE* pipe = popen(("readelf -d " + binary).c_str(), "r");
  REQUIRE(pipe);
  std::string needed;
  for (char line[512]; std::fgets(line, sizeof line, pipe);) needed += line;
  REQUIRE(pclose(pipe) == 0);
  return needed;
}

TEST_CASE("a binary for a card loads the CUDA libraries it needs, and no LibTorch or NCCL") {
  const std::string needed = loaded_by(SINTER_SMALL);
  for (const char* library : {"[libcublasLt.so.13]", "[libcudart.so.13]"})
    CHECK_MESSAGE(needed.find(library) != needed.npos, library);
  for (const char* library : {"libtorch", "libc10", "[libcuda.so", "[libnccl"})
    CHECK_MESSAGE(needed.find(library) == needed.npos, library);
}

TEST_CASE("a binary for ranks on cards loads NCCL if found, and each rank reports what it lacks") {
  CHECK((loaded_by(SINTER_RANKS).find("[libnccl.so.2]") != std::string::npos) == SINTER_HAS_NCCL);
  if (has_driver()) {
    MESSAGE("skipped: there is a driver here");
    return;
  }
  const Ended ended = run({"1"}, SINTER_RANKS);
  CHECK(ended.code == 1);
  for (const char* part : {"rank 0: ", "rank 1: ", "there is no driver for one here"})
    CHECK_MESSAGE(ended.err.find(part) != ended.err.npos, part);
}

}  // namespace
