// What a recipe's header says of its matmuls, against what the system says of the processor.
#include <chrono>
#include <fstream>
#include <sstream>

#include "sinter/model/gpt2.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/precision/fp16.hpp"
#include "sinter/precision/fp64.hpp"
#include "support/matmul_text.hpp"
#include "support/recipes.hpp"

namespace sinter::testing {
namespace {

bool processor_has(const std::string& flag) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("flags")) continue;
    std::istringstream words(line);
    for (std::string word; words >> word;)
      if (word == flag) return true;
    return false;
  }
  return false;
}

TEST_CASE("bf16 is said to be multiplied by the unit that the processor has") {
  const std::string line = matmul_line<Bf16>();
  CAPTURE(line);
  const char* what = processor_has("amx_bf16")      ? "in tiles (AMX), summed in fp32"
                     : processor_has("avx512_bf16") ? "in pairs (AVX-512 BF16), summed in fp32"
                                                    : "this processor has no unit for it; widened";
  CHECK(line.starts_with("matmul  bf16: "));
  CHECK(line.find(what) != line.npos);
  CHECK(line.find("measured at ") != line.npos);
  CHECK(line.find("FLOP/s, fp32 at ") != line.npos);
}

TEST_CASE("fp16 is widened everywhere; fp32 and fp64 are multiplied as they are") {
  for (const std::string& line : {matmul_line<Fp16<>>(), matmul_line<Fp16<{.masters = false}>>()})
    CHECK(line.starts_with("matmul  fp16: no unit of a processor is used for it; widened to fp32"));
  CHECK(matmul_line<Fp64>().starts_with("matmul  fp64: multiplied as it is; measured at "));
  const std::string plain = matmul_line<Fp32>();
  CHECK(plain.starts_with("matmul  fp32: multiplied as it is; measured at "));
  CHECK(plain.find("fp32 at") == plain.npos);
}

TEST_CASE("matrices of odd sizes are named") {
  using Tokens = UpTo<8, 50>;
  constexpr Gpt2Options odd{.layers = 1, .heads = 2, .width = 16, .vocabulary = 50, .positions = 8};
  constexpr Gpt2Options padded{.layers = 1,
                               .heads = 2,
                               .width = 16,
                               .vocabulary = 50,
                               .positions = 8,
                               .vocabulary_multiple = 8};
  CHECK(cli::odd_sizes_text(view_of<Made<Gpt2<odd>, Tokens>>()) ==
        "        1 matrix has a side that is no multiple of 8, which matrix units want: wte.weight "
        "50 × 16\n");
  CHECK(cli::odd_sizes_text(view_of<Made<Gpt2<padded>, Tokens>>()) == "");
  using Narrow = Mlp<{.in = 3, .hidden = 10, .out = 2, .layers = 4}>;
  const std::string many = cli::odd_sizes_text(view_of<Made<Narrow>>());
  CHECK(many.find("4 matrices have") != many.npos);
  CHECK(many.ends_with("10 × 10, …\n"));
}

TEST_CASE("measuring takes two fortieths of a second, or a few products where those take longer") {
  const RecipeView view = matmul_recipe<Bf16>();
  cli::measure_matmul(view, 2);  // starts the library
  const auto begin = std::chrono::steady_clock::now();
  const cli::MatmulRate rate = cli::measure_matmul(view, 2);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  const double product = 2. * 512 * 512 * 512;
  // A machine that runs other things beside may be interrupted.
  CHECK(passed.count() < .3 + 4 * (product / rate.flops + product / rate.fp32_flops));
}

}  // namespace
}  // namespace sinter::testing
