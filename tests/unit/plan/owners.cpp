// SPDX-License-Identifier: Apache-2.0
// Owners of the parameters of a model that is too large to compile in a test.
#include "sinter/plan/owners.hpp"

#include <doctest/doctest.h>

namespace sinter::detail::testing {
namespace {

TEST_CASE("a unit of 40,000 matrices is shared equally by four ranks") {
  constexpr int matrices = 40'000, size = 16, ranks = 4;  // more than a short counts
  const Param matrix = Param::matrix("weight", 4, 4, Init::zeros);
  const Layer layer{.params = {&matrix, 1}, .param_count = 1};
  std::vector<Node> nodes;
  std::vector<std::int64_t> parameter_offsets;
  for (int n = 0; n < matrices; ++n) {
    nodes.push_back({.layer = &layer, .name = "matrix", .in = {}, .out = 0, .first_offset = n});
    parameter_offsets.push_back(std::int64_t(n) * size);
  }
  const Block block{.nodes = matrices, .decayed = std::int64_t(matrices) * size};
  const Unit unit{.name = "unit", .index = -1, .block = 0, .in = {}, .first_value = 0};
  const ParameterOffsets offsets{};
  const short order = 0;
  Model model;
  model.nodes = nodes;
  model.blocks = {&block, 1};
  model.units = {&unit, 1};
  model.order = {&order, 1};
  model.offsets = {&offsets, 1};
  model.parameter_offsets = parameter_offsets;

  const std::vector<OwnedSlice> slices = owned_slices(model, ranks);
  REQUIRE(slices.size() == matrices);
  std::vector<std::int64_t> owned(ranks);
  for (const OwnedSlice& slice : slices) {
    CHECK(slice.local == owned[std::size_t(slice.owner)]);
    owned[std::size_t(slice.owner)] += slice.size;
  }
  for (const std::int64_t elements : owned) CHECK(elements == matrices / ranks * size);
}

}  // namespace
}  // namespace sinter::detail::testing
