// SPDX-License-Identifier: Apache-2.0
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

namespace sinter::detail::testing::matmul_tests {

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

// It stands first, as whatever multiplies before it would start the library.
TEST_CASE("the rate of fp32 beside bf16 is that of a product, and not of the library's start") {
  const auto view = matmul_recipe<Bf16>();
  const double first = cli::measure_matmul(*view, 2).fp32_flops,
               later = cli::measure_matmul(*view, 2).fp32_flops;
  CHECK(first > later / 5);
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
  auto whole = [](std::string precision, kernel::MatmulLibrary library) {
    return "matmul  " + precision + ": multiplied as it is, by " +
           (library == kernel::MatmulLibrary::libtorch ? "LibTorch (MKL)"
                                                       : "Sinter's own products") +
           "; measured at ";
  };
  CHECK(matmul_line<Fp64>().starts_with(whole("fp64", kernel::matmul_library<double>())));
  const std::string plain = matmul_line<Fp32>();
  CHECK(plain.starts_with(whole("fp32", kernel::matmul_library<float>())));
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
  CHECK(cli::odd_sizes_text(*view_of<Made<Gpt2<odd>, Tokens>>()) ==
        "        1 matrix has a side that is no multiple of 8, which matrix units want: wte.weight "
        "50 × 16\n");
  CHECK(cli::odd_sizes_text(*view_of<Made<Gpt2<padded>, Tokens>>()) == "");
  using Narrow = Mlp<{.in = 3, .hidden = 10, .out = 2, .layers = 4}>;
  const std::string many = cli::odd_sizes_text(*view_of<Made<Narrow>>());
  CHECK(many.find("4 matrices have") != many.npos);
  CHECK(many.ends_with("10 × 10, …\n"));
}

/// Filters each channel over three rows, with a kernel that nothing multiplies as a matrix.
struct Filter {
  static constexpr std::array in{16};
  static constexpr std::array out{16};
  template <class T>
  struct Params {
    T weight;
  };
  static constexpr Params<Param> params{Param::matrix("weight", 16, 3, Init::normal(.1f))};
  static constexpr std::int64_t flops(std::int64_t) { return 2 * 16 * 3; }
  static void forward(auto&) {}
  static void backward(auto&) {}
};

struct Filtering {
  static constexpr Value<16> trace(auto& g, Value<16> x) {
    return g("filter", Filter{}, g("mix", Linear<16, 16>{}, x));
  }
};
struct Squared {
  static constexpr Value<1> trace(auto& g, Value<16> x, Value<16> target) {
    return g("loss", MeanSquaredError<16>{}, x, target);
  }
};
struct FilterModel {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.unit("filtering", Filtering{}, g.template values<16>());
    g.result(g.unit("loss", Squared{}, x, g.template target_values<16>()));
  }
};

TEST_CASE("a kernel of a filter, or a table, is no matrix of an odd size") {
  CHECK(cli::odd_sizes_text(*view_of<Made<FilterModel>>()) == "");
  constexpr Gpt2Options odd{.layers = 1, .heads = 2, .width = 16, .vocabulary = 48, .positions = 9};
  CHECK(cli::odd_sizes_text(*view_of<Made<Gpt2<odd>, UpTo<9, 48>>>()) == "");
}

TEST_CASE("measuring takes two fortieths of a second, or a few products where those take longer") {
  const auto view = matmul_recipe<Bf16>();
  cli::measure_matmul(*view, 2);  // starts the library
  const auto begin = std::chrono::steady_clock::now();
  const cli::MatmulRate rate = cli::measure_matmul(*view, 2);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  const double product = 2. * 512 * 512 * 512;
  // A machine that runs other things beside may be interrupted.
  CHECK(passed.count() < .3 + 4 * (product / rate.flops + product / rate.fp32_flops));
}

}  // namespace sinter::detail::testing::matmul_tests
