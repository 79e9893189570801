// SPDX-License-Identifier: Apache-2.0
#include "trainer/whole_values.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sinter/base/with_element.hpp"
#include "sinter/comm/communicator.hpp"
#include "sinter/error.hpp"
#include "sinter/plan/placement.hpp"

namespace sinter::detail {

void require_resident(Machine& machine, Space space, const Parameter& p) {
  const Model& model = machine.model();
  const int rank = machine.communicator().rank();
  if (!model.at_root() || rank == root_rank || p.frozen || !model.shares(space)) return;
  throw Error(fmt::format(
      "rank {} was asked for the {} of '{}', which rank {} alone keeps, as it updates for all "
      "(SplitBatch). Ask and save there.",
      rank, space_names[std::min(int(space), int(Space::region))], p.name, root_rank));
}

std::vector<std::byte> WholeValues::of(Space from, const Parameter& p) {
  Machine& first = *machines[0];
  require_resident(first, from, p);
  const Model& model = first.model();
  std::vector<std::byte> values(std::size_t(first.parameters().shape(from, p).bytes()));
  if (values.empty()) return values;
  const bool in_shards = model.shards > 1 && !p.frozen && model.shares(from);
  if (!in_shards) {
    first.parameters().read(from, p, values.data());
  } else if (machines.size() > 1) {
    for (const auto& machine : machines) machine->parameters().read(from, p, values.data());
  } else if (p.owner >= 0) {
    fetch_from_owner(from, p, values);
  } else {
    for (int k = 0; k < int(model.order.size()); ++k)
      for (const bool decayed : {true, false}) {
        const FlatSlice of_unit = model.slice(k, 1, decayed);
        if (p.offset < of_unit.first || p.offset >= of_unit.first + of_unit.size) continue;
        if (space != from || part.first != of_unit.first || gathered.empty())
          gather(from, p, k, decayed);
        const std::int64_t bytes = model.sizes.of(type_of(model, from));
        std::copy_n(gathered.data() + (p.offset - part.first) * bytes, values.size(),
                    values.data());
      }
  }
  return values;
}

void WholeValues::fetch_from_owner(Space from, const Parameter& p, std::vector<std::byte>& values) {
  Machine& machine = *machines[0];
  machine.parameters().read(from, p, values.data());
  const std::int64_t bytes = std::int64_t(values.size());
  const DeviceMemory all(aligned(bytes));
  if (machine.parameters().owns(p))
    std::ranges::copy(values,
                      OnHost(machine.stream(), all.bytes().data(), bytes, Access::write).data());
  // Values of all types travel as numbers of 4 bytes, with which nothing is computed.
  float* const numbers = reinterpret_cast<float*>(all.bytes().data());
  machine.communicator().start_broadcast(numbers, aligned(bytes) / 4, p.owner);
  machine.communicator().wait(numbers);
  const OnHost host(machine.stream(), all.bytes().data(), bytes, Access::read);
  std::copy_n(host.data(), bytes, values.data());
}

void WholeValues::gather(Space from, const Parameter& p, int number, bool decayed) {
  Machine& machine = *machines[0];
  const ParameterStore& store = machine.parameters();
  const Model& model = machine.model();
  const ShardSlice& shard = store.shards(number, 1)[decayed ? 0 : 1];
  space = from;
  part = model.slice(number, 1, decayed);
  with_element(model.sizes.element[int(type_of(model, from))], [&]<class T>(T) {
    const std::int64_t bytes = part.size * std::int64_t(sizeof(T));
    const DeviceMemory all(bytes);
    T* const values = reinterpret_cast<T*>(all.bytes().data());
    const std::int64_t at = shard.at(model.splits(from)) * std::int64_t(sizeof(T)),
                       size = shard.size * std::int64_t(sizeof(T));
    std::byte* const to = reinterpret_cast<std::byte*>(values + shard.first - part.first);
    if (store.is_offloaded(from, p)) {
      std::copy_n(store.resident(from, p) + at, size,
                  OnHost(machine.stream(), to, size, Access::write).data());
    } else {
      copy_on_device(machine.stream(), store.resident(from, p) + at, to, size);
    }
    machine.communicator().start_all_gather(values, part.size);
    machine.communicator().wait(values);
    const OnHost host(machine.stream(), all.bytes().data(), bytes, Access::read);
    gathered.assign(host.data(), host.data() + bytes);
  });
}

}  // namespace sinter::detail
