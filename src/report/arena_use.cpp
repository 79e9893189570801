// SPDX-License-Identifier: Apache-2.0
#include "report/arena_use.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sinter/plan/parameter.hpp"

namespace sinter::detail::report {
namespace {

bool is_open(const Buffer& buffer, int at) {
  return buffer.opened_by < 0 || (at >= buffer.first && at <= buffer.last);
}

/// The unit that a temporary buffer is of, or -1.
int unit_of(const Model& model, const Buffer& buffer) {
  if (buffer.opened_by < 0 || buffer.index < 0 || buffer.space == Space::workspace ||
      buffer.space == Space::input || buffer.space == Space::starts)
    return -1;
  const bool of_value = buffer.space == Space::value || buffer.space == Space::d_value;
  return of_value ? model.writers[buffer.index] : buffer.index;
}

/// The instruction's first unit, by the last two parts of its name.
std::string brief(const std::string& subject) {
  std::string name = subject.substr(0, subject.find_first_of(" ,"));
  const std::size_t last = name.rfind('.');
  if (last == name.npos || last == 0) return name;
  const std::size_t before = name.rfind('.', last - 1);
  return before == name.npos ? name : name.substr(before + 1);
}

std::vector<UnitUse> units_at(const PlanView& plan, int fullest) {
  std::vector<UnitUse> units;
  for (int u = 0; u < plan.model.count(); ++u) units.push_back({unit_name(plan.model, u)});
  for (const Parameter& p : list_parameters(plan.model))
    units[std::size_t(p.unit)].parameters += p.size;
  for (const Buffer& buffer : plan.training.buffers)
    if (const int unit = unit_of(plan.model, buffer); unit >= 0 && is_open(buffer, fullest))
      units[std::size_t(unit)].temporary += buffer.bytes;
  return units;
}

}  // namespace

ArenaUse arena_use(const PlanView& plan) {
  ArenaUse use;
  for (int at = 0; const Instruction& instruction : plan.training.program) {
    double bytes = 0;
    for (const Buffer& buffer : plan.training.buffers)
      if (is_open(buffer, at)) bytes += double(buffer.bytes);
    use.mebibytes.push_back({double(at++), bytes / (1 << 20)});
    const std::string on = subject(plan.model, instruction);
    use.instructions.push_back(
        {fmt::format("{}{}{}", instruction.kind->name, on.empty() ? "" : " ", on), brief(on)});
  }
  if (use.mebibytes.empty()) return use;
  const auto fullest = std::ranges::max_element(use.mebibytes, {}, &Point::y);
  use.fullest =
      fmt::format("{:.0f}, {}", fullest->x, use.instructions[std::size_t(fullest->x)].full);
  use.units = units_at(plan, int(fullest->x));
  use.mebibytes = thinned(use.mebibytes, 1000);
  return use;
}

}  // namespace sinter::detail::report
