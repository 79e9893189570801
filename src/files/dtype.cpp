// SPDX-License-Identifier: Apache-2.0
#include "sinter/files/dtype.hpp"

#include <array>
#include <cstddef>

namespace sinter::detail {
namespace {

struct DtypeEntry {
  std::string_view name;
  std::uint64_t bits;
};

constexpr std::array<DtypeEntry, 22> entries{{
    {"BOOL", 8},        {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
    {"I8", 8},          {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
    {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},    {"BF16", 16},
    {"I32", 32},        {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},
    {"I64", 64},        {"U64", 64},
}};
static_assert(entries[static_cast<std::size_t>(Dtype::u64)].name == "U64");
static_assert(entries[static_cast<std::size_t>(Dtype::f16)].name == "F16");

}  // namespace

std::string_view dtype_name(Dtype dtype) { return entries[static_cast<std::size_t>(dtype)].name; }

std::uint64_t dtype_bits(Dtype dtype) { return entries[static_cast<std::size_t>(dtype)].bits; }

std::optional<Dtype> dtype_of(std::string_view name) {
  for (std::size_t k = 0; k < entries.size(); ++k)
    if (entries[k].name == name) return static_cast<Dtype>(k);
  return std::nullopt;
}

}  // namespace sinter::detail
