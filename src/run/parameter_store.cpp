// SPDX-License-Identifier: Apache-2.0
#include "sinter/run/parameter_store.hpp"

#include <algorithm>

#include "sinter/error.hpp"
#include "sinter/hardware/offload_memory.hpp"
#include "sinter/plan/plan_view.hpp"

namespace sinter::detail {

namespace {

const char* name_of(Element element) {
  constexpr const char* names[]{"f32", "f64", "f16", "bf16", "i32", "u8"};
  return names[int(element)];
}

std::string name_of(Space space) { return space_names[std::min(int(space), int(Space::region))]; }

/// A parameter's state in a region.
const StatePart& state_of(const Parameter& p, Space region) {
  return p.state[std::size_t(int(region) - int(Space::region))];
}

std::vector<UniformSlice> uniform_slices_of(const std::vector<Parameter>& parameters,
                                            std::int64_t elements) {
  std::vector<const Parameter*> trained;
  for (const Parameter& p : parameters)
    if (!p.frozen) trained.push_back(&p);
  std::ranges::sort(trained, {}, [](const Parameter* p) { return p->offset; });
  std::vector<UniformSlice> ranges;
  for (const Parameter* p : trained) {
    if (!ranges.empty()) {
      UniformSlice& last = ranges.back();
      if (last.decayed == p->decayed && last.learning_rate == p->learning_rate) continue;
      last.size = p->offset - last.first;
    }
    ranges.push_back({{p->offset, elements - p->offset}, p->decayed, p->learning_rate});
  }
  return ranges;
}

}  // namespace

ParameterStore::ParameterStore(const PlanView& plan, const std::vector<Parameter>& parameters,
                               kernel::Stream& stream, int rank, std::span<std::byte> arena,
                               std::string offload_folder)
    : model_(plan.model),
      parameters_(parameters),
      stream_(stream),
      rank_(rank),
      uniform_slices_(uniform_slices_of(parameters, plan.model.elements())) {
  find_flat_buffers(plan, arena);
  find_shards();
  find_offload_memory(std::move(offload_folder));
}

ParameterStore::~ParameterStore() = default;

void ParameterStore::find_flat_buffers(const PlanView& plan, std::span<std::byte> arena) {
  flat_.resize(std::size_t(Space::region) + model_.regions.size());
  for (const Buffer& b : plan.training.buffers) {
    FlatBuffer& buffer = flat_[std::size_t(b.space)];
    if (b.opened_by >= 0 || buffer.data) continue;
    buffer = {.data = arena.data() + b.offset, .bytes = b.bytes};
    if (!is_persistent(model_, b.space)) continue;
    const Region* region = b.space < Space::region ? nullptr : &model_.region_of(b.space);
    buffer.element = model_.sizes.element[int(type_of(model_, b.space))];
    buffer.has_shapes = region && region->shape;
    buffer.name = region ? region->name : space_names[int(b.space)];
  }
}

void ParameterStore::find_offload_memory(std::string folder) {
  std::int64_t bytes = 0;
  each_offloaded(model_, [&](Space space) {
    flat_[std::size_t(space)].offloaded_at = bytes;
    bytes += offloaded_bytes(model_, space);
  });
  const bool updates = !model_.at_root() || rank_ == root_rank;
  const int parts =
      int(std::max(2 * model_.order.size(), shards_.size()) * (model_.regions.size() + 1));
  if (bytes > 0 && updates)
    offload_ = std::make_unique<OffloadMemory>(stream_, bytes, parts, std::move(folder));
}

void ParameterStore::find_shards() {
  first_shards_.push_back(0);
  for (const short unit : model_.order) {
    for (const bool decayed : {true, false})
      model_.each_shard(model_.part(unit, decayed), rank_,
                        [&](const ShardSlice& shard) { shards_.push_back(shard); });
    first_shards_.push_back(shards_.size());
  }
}

void ParameterStore::refuse(const FlatBuffer& buffer, Element element) {
  if (buffer.has_shapes)
    throw Error("the region '" + std::string(buffer.name) +
                "' has a shape of its own for each parameter, and cannot be taken as one flat "
                "buffer. Take it parameter by parameter, with ParameterStore::part().");
  throw Error("'" + std::string(buffer.name) + "' was taken as elements of " + name_of(element) +
              ", but this recipe plans them as " + name_of(buffer.element) +
              ". Take the type from the recipe, as rewrite<R> does with R::precision.");
}

std::span<const Parameter> ParameterStore::of_unit(int unit) const {
  return std::ranges::equal_range(parameters_, unit, {}, &Parameter::unit);
}

StateShape ParameterStore::shape(Space space, const Parameter& p) const {
  if (p.frozen && space != Space::master) return {};
  if (space >= Space::region) return state_of(p, space).shape;
  const Param& param = p.layer->params[p.number];
  const Element element = model_.sizes.element[int(type_of(model_, home(space, p)))];
  if (p.int8) return {element, 1, int(p.int8.elements)};
  return {element, param.rows, param.columns};
}

std::int64_t ParameterStore::place_in(Space space, const Parameter& p) const {
  if (space >= Space::region) return state_of(p, space).offset;
  const Space in = home(space, p);
  return model_.held_at(in, p.offset) * model_.sizes.of(type_of(model_, in));
}

ParameterStore::Part ParameterStore::part(Space space, const Parameter& p) const {
  if (p.frozen && space != Space::master) return {};
  if (!p.frozen && model_.splits(space) && p.owner != rank_)
    throw Error("a rank holds only its shards of the " + name_of(space) + " of '" + p.name +
                "', so it has no part of its own. Read them with ParameterStore::read().");
  if (!is_persistent(model_, space) || is_offloaded(space, p))
    throw Error("the " + name_of(space) + " of '" + p.name +
                "' come and go, so they have no place that they keep.");
  return {start(home(space, p)) + place_in(space, p), shape(space, p)};
}

ParameterStore::Part ParameterStore::part_of_unit(Space space, const Parameter& p,
                                                  std::byte* unit) const {
  const StatePart& state = state_of(p, space);
  const auto first = std::ranges::find_if(of_unit(p.unit), [&](const Parameter& other) {
    return !other.frozen && other.owner == p.owner;
  });
  return {unit + (state.offset - state_of(*first, space).offset), state.shape};
}

std::byte* ParameterStore::resident(Space space, const Parameter& p) const {
  if (!is_offloaded(space, p)) return start(home(space, p));
  return offload_ ? offload_->bytes().data() + offloaded_at(space) : nullptr;
}

ParameterStore::Part ParameterStore::resident_part(Space space, const Parameter& p) const {
  if (!is_offloaded(space, p)) return part(space, p);
  return {resident(space, p) + place_in(space, p), shape(space, p)};
}

}  // namespace sinter::detail
