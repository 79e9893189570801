// SPDX-License-Identifier: Apache-2.0
// The command line of the benches that hold contests.
#pragma once
#include <hwy/targets.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "report.hpp"
#include "scratch_folder.hpp"
#include "sinter/error.hpp"

namespace sinter::detail::bench {

/// Whether ATen's kernels are kept to AVX2.
inline bool only_avx2() {
  const char* capability = std::getenv("ATEN_CPU_CAPABILITY");
  return capability && std::string_view(capability) == "avx2";
}
/// Keeps our kernels to AVX2 where ATen's are.
inline void obey_avx2() {
  if (!only_avx2()) return;
  hwy::SetSupportedTargetsForTest(hwy::SupportedTargets() & ~(HWY_AVX3 | HWY_AVX3_DL));
  hwy::GetChosenTarget().DeInit();
}

/// The Python that --peers names. For "new", makes an environment in the cache first.
inline std::string find_python(const std::string& peers) {
  if (peers != "new") return peers;
  const char* home = std::getenv("HOME");
  const char* cache = std::getenv("SINTER_CACHE");
  std::filesystem::path folder =
      (cache ? std::filesystem::path(cache)
             : std::filesystem::path(home ? home : ".") / ".cache/sinter") /
      "peers";
  std::string python = (folder / "bin/python3").string();
  std::string command = "python3 -m venv '" + folder.string() + "' && '" + python +
                        "' -m pip install --quiet -r '" SINTER_BENCH_DIR
                        "/peers/requirements.txt' >&2";
  if (std::system(command.c_str()) != 0)
    throw Error("The environment for --peers new could not be made in " + folder.string() +
                "; pip's messages are above. Or name a Python that has the packages of "
                "bench/peers/requirements.txt.");
  return python;
}

/// Reads --rounds, --peers, --only and --avx2; the last holds for all processes that are started.
struct Settings : CommandLine {
  std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  std::string python;  // of the peers; empty if they are not wanted
  std::string only;    // what the names of the wanted rows contain
  const ScratchFolder scratch;
  const std::filesystem::path& folder = scratch.path;
  int rounds;

  /// `add_flags` adds those of the bench itself.
  Settings(const char* question, int argc, char** argv, int usual_rounds,
           const std::function<void(CommandLine&)>& add_flags = {})
      : CommandLine(question), rounds(usual_rounds) {
    std::string peers;
    bool avx2 = false;
    add_count("--rounds", rounds, "Turns that each contestant takes");
    add_option("--peers", peers,
               "Python with the packages of bench/peers/requirements.txt, or 'new': pip "
               "installs them into the cache");
    add_option("--only", only, "Contests whose names have this");
    add_flag("--avx2", avx2, "No instructions beyond AVX2, for all");
    if (add_flags) add_flags(*this);
    read(argc, argv);
    if (avx2)
      for (auto [name, value] : {std::pair{"ATEN_CPU_CAPABILITY", "avx2"},
                                 {"ONEDNN_MAX_CPU_ISA", "AVX2"},
                                 {"MKL_ENABLE_INSTRUCTIONS", "AVX2"}})
        setenv(name, value, 1);
    obey_avx2();
    python = find_python(peers);
  }

  bool wants(const std::string& row) const { return row.find(only) != std::string::npos; }
  /// throws    Error that lists all names if --only leaves none
  void require_one_of(const std::vector<std::string>& names) const {
    std::string all;
    for (const std::string& name : names) {
      if (wants(name)) return;
      all += (all.empty() ? "" : "; ") + name;
    }
    throw Error("--only is '" + only + "', which is in none of these names: " + all + ".");
  }
};

}  // namespace sinter::detail::bench
