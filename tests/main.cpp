// SPDX-License-Identifier: Apache-2.0
// main() of every doctest binary. SINTER_TEST_PROCESSOR lets one processor stand for others:
// support/processor.hpp.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "kernels/cpu/gemm.hpp"
#include "support/processor.hpp"

namespace sinter::detail::testing {

void imitate_processor(std::string_view words) {
  using kernel::Gemm;
  static const std::map<std::string_view, Gemm> products{
      {"vendor", Gemm::vendor}, {"tiles", Gemm::tiles}, {"pairs", Gemm::pairs}, {"amx", Gemm::amx}};
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(','));
    words.remove_prefix(std::min(words.size(), word.size() + 1));
    if (word == "avx2") {
      switch_off_avx512();
    } else if (auto product = products.find(word); product != products.end()) {
      if ((product->second == Gemm::vendor && !kernel::has_vendor()) ||
          (product->second == Gemm::pairs && !kernel::has_pairs()) ||
          (product->second == Gemm::amx && !kernel::has_amx())) {
        std::fprintf(stderr, "SINTER_TEST_PROCESSOR holds '%s': there is no such product here.\n",
                     std::string(word).c_str());
        std::exit(2);
      }
      kernel::force_gemm(product->second);
    } else {
      std::fprintf(stderr,
                   "SINTER_TEST_PROCESSOR holds '%s'. Expected, divided by commas: avx2, vendor, "
                   "tiles, pairs, amx.\n",
                   std::string(word).c_str());
      std::exit(2);
    }
  }
}

}  // namespace sinter::detail::testing

int main(int argc, char** argv) {
  if (const char* processor = std::getenv("SINTER_TEST_PROCESSOR"))
    sinter::detail::testing::imitate_processor(processor);
  return doctest::Context(argc, argv).run();
}
