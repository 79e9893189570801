// SPDX-License-Identifier: Apache-2.0
// Which layers have an adapter by adapter_config.json, as PEFT's check_target_module_exists says.
#include "trainer/adapter_modules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace sinter::detail::testing::adapter_modules_tests {

using Json = nlohmann::ordered_json;

/// Two blocks, of which attention and the perceptron's second layer have adapters.
std::vector<AdapterLayer> adapted(const std::vector<std::string>& blocks = {"0", "1"}) {
  std::vector<AdapterLayer> layers{{"transformer.wte"}};
  for (const char* block : {"0", "1"})
    for (const char* name : {".ln_1", ".attn.c_attn", ".attn.c_proj", ".mlp.c_fc", ".mlp.c_proj"}) {
      const std::string full = std::string("transformer.h.") + block + name;
      const bool has = (full.ends_with("c_attn") || full.ends_with("c_proj")) &&
                       std::ranges::find(blocks, block) != blocks.end();
      layers.push_back({full, has, has});
    }
  return layers;
}

const Json ends{"c_attn", "c_proj"};

TEST_CASE("entries that choose the recipe's layers are taken") {
  for (const Json& entries : std::vector<Json>{
           Json::object(),
           {{"target_modules", nullptr},
            {"fan_in_fan_out", nullptr},
            {"exclude_modules", Json::array()}},
           {{"target_modules", ends}, {"fan_in_fan_out", true}},
           {{"target_modules",
             {"c_attn", "attn.c_proj", "h.0.mlp.c_proj", "1.mlp.c_proj", "q_proj"}}},
           {{"target_modules", "transformer\\.h\\.\\d\\.(attn|mlp)\\.(c_attn|c_proj)"}},
           {{"target_modules", {"c_attn", "c_fc", "c_proj"}}, {"exclude_modules", {"c_fc"}}},
           {{"target_modules", ".*c_.*"}, {"exclude_modules", ".*\\.c_fc"}},
           {{"target_modules", ends}, {"layers_to_transform", {1, 0}}},
           {{"target_modules", ends}, {"layers_to_transform", {0, 1}}, {"layers_pattern", ""}},
           {{"target_modules", ends}, {"layers_to_transform", {0, 1}}, {"layers_pattern", "h"}},
           {{"target_modules", ends},
            {"layers_to_transform", {0, 1}},
            {"layers_pattern", {"b", "h"}}}}) {
    CAPTURE(entries);
    CHECK(wrong_layers(entries, adapted()) == "");
  }
  const std::vector<AdapterLayer> second = adapted({"1"});
  CHECK(wrong_layers({{"target_modules", ends}, {"layers_to_transform", 1}}, second) == "");
  CHECK(
      wrong_layers({{"target_modules", ends}, {"layers_to_transform", 1}, {"layers_pattern", "h"}},
                   second) == "");
  // Whole names count before numbers.
  const Json whole{"transformer.h.1.attn.c_attn", "transformer.h.1.attn.c_proj",
                   "transformer.h.1.mlp.c_proj"};
  CHECK(wrong_layers({{"target_modules", whole}, {"layers_to_transform", 0}}, second) == "");
}

TEST_CASE("the first number of a name is that of its layer") {
  const std::vector<AdapterLayer> expert{{"model.layers.1.experts.0.up", true, false}};
  const Json entries{{"target_modules", {"up"}}, {"layers_to_transform", 1}};
  CHECK(wrong_layers(entries, expert) == "");
}

TEST_CASE("entries that choose other layers are named with the first of them") {
  const std::string lacks = ", which gives transformer.h.0.attn.c_attn none: it has one here";
  const auto says = [](const Json& entries, const std::string& line,
                       const std::vector<AdapterLayer>& layers = adapted()) {
    CHECK(wrong_layers(entries, layers) == "\n  " + line);
  };
  says({{"target_modules", {"c_fc", "_attn"}}}, "target_modules is [\"c_fc\",\"_attn\"]" + lacks);
  says({{"target_modules", "c_.*"}}, "target_modules is \"c_.*\"" + lacks);
  says({{"target_modules", {"c_attn", "c_fc", "c_proj"}}},
       "target_modules is [\"c_attn\",\"c_fc\",\"c_proj\"], with transformer.h.0.mlp.c_fc, which "
       "has no "
       "adapter here");
  says({{"target_modules", ends}, {"exclude_modules", {"c_attn"}}},
       "exclude_modules is [\"c_attn\"]" + lacks);
  says({{"target_modules", ends}, {"layers_to_transform", {1}}},
       "layers_to_transform is [1]" + lacks);
  says({{"target_modules", ends}, {"layers_to_transform", {0, 1}}, {"layers_pattern", "blocks"}},
       "layers_pattern is \"blocks\"" + lacks);
  says({{"fan_in_fan_out", false}},
       "fan_in_fan_out is false, and the weights of these layers are stored as in × out");
  says({{"fan_in_fan_out", true}},
       "fan_in_fan_out is true, and the weights of these layers are stored as out × in",
       {{"model.layers.0.q_proj", true, false}});
}

TEST_CASE("entries that are not what they must be are named") {
  const auto says = [](const Json& entries, const std::string& part) {
    const std::string line = wrong_layers(entries, adapted());
    CHECK_MESSAGE(line.starts_with("\n  " + part), line);
  };
  says({{"layers_pattern", "h"}}, "layers_pattern is \"h\", and goes with layers_to_transform");
  says({{"target_modules", ".*"}, {"layers_to_transform", 1}},
       "layers_to_transform is 1, and goes with a list in target_modules");
  says({{"target_modules", 5}}, "target_modules is 5, and must be a pattern, or a list of names");
  says({{"exclude_modules", {1}}},
       "exclude_modules is [1], and must be a pattern, or a list of names");
  says({{"layers_to_transform", "1"}},
       "layers_to_transform is \"1\", and must be a number, or a list of them");
  says({{"fan_in_fan_out", "no"}}, "fan_in_fan_out is \"no\", and must be true or false");
  for (const std::string& pattern :
       {std::string("("), std::string(2000, 'a'), std::string("(?<=h)x")})
    says({{"target_modules", pattern}}, "target_modules is \"" + pattern.substr(0, 1));
}

TEST_CASE("a pattern that takes long elsewhere is matched soon") {
  CHECK(wrong_layers({{"target_modules", "(([a-z0-9._]*)*)*!"}}, adapted()) != "");
}

}  // namespace sinter::detail::testing::adapter_modules_tests
