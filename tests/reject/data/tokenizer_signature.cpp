// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a data policy has a member that the binary cannot use as it is
// and: {"tokenizer"}
// and: Tokenizer tokenizer()
#include "sinter/data/data_view.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct Words {
  using slot = sinter::slot::data;
  static constexpr int context = 8, vocabulary = 100;
  static OpenedData open(const DataRequest& request);
  static std::vector<std::int32_t> tokenizer(std::string_view text);
};

struct mine : Recipe<Mlp<>, Words> {};
constexpr bool checked = ready<mine>();
