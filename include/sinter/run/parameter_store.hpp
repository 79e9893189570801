// SPDX-License-Identifier: Apache-2.0
// Where a rank's parameters lie, with their gradients and what policies keep for them.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/tensor.hpp"
#include "sinter/plan/parameter.hpp"
#include "sinter/program/model.hpp"

namespace sinter::detail {

class OffloadMemory;
struct PlanView;

/// A slice of parameters that an optimizer treats alike.
struct UniformSlice : FlatSlice {
  bool decayed;          ///< true if weight decay acts on them
  double learning_rate;  ///< factor of the step's learning rate
};

/// Finds and converts what one rank stores of each space between steps, in the arena or offloaded.
class ParameterStore {
 public:
  /// A parameter's values in a space, in one place.
  struct Part {
    std::byte* data;   ///< the first byte
    StateShape shape;  ///< their rows, columns and type
  };
  /// Elements of a parameter that lie side by side in a space.
  struct Piece {
    std::int64_t begin, size;  ///< range in the parameter, or in its state in the space
    std::int64_t local;        ///< index of the first in the space
  };

  ///   arena            the rank's memory, laid out as the plan says
  ///   offload_folder   folder of the file for state that a policy offloads to disk (OffloadMemory)
  /// requires  plan and what it points to, parameters (list_parameters() of its model), stream and
  ///           arena outlive the store
  ParameterStore(const PlanView& plan, const std::vector<Parameter>& parameters,
                 kernel::Stream& stream, int rank, std::span<std::byte> arena,
                 std::string offload_folder);
  ~ParameterStore();

  const Model& model() const { return model_; }  ///< the model whose parameters they are
  /// All parameters, in the order of the model.
  std::span<const Parameter> all() const { return parameters_; }
  /// The parameters of a unit.
  std::span<const Parameter> of_unit(int unit) const;

  /// A flat buffer that lives through all steps, see Machine::flat().
  template <class T>
  kernel::Flat<T> flat(Space space) const {
    const FlatBuffer& buffer = flat_[std::size_t(space)];
    if constexpr (!std::is_same_v<T, std::byte>)
      if (buffer.data && (buffer.element != element_of<T> || buffer.has_shapes))
        refuse(buffer, element_of<T>);
    return {reinterpret_cast<T*>(buffer.data), buffer.bytes / std::int64_t(sizeof(T))};
  }
  /// Where an element of a flat buffer lies; null in a region with shapes.
  /// requires  the plan has the buffer
  std::byte* address(Space space, std::int64_t element) const {
    const FlatBuffer& buffer = flat_[std::size_t(space)];
    return buffer.has_shapes ? nullptr : buffer.data + element * bytes_of(buffer.element);
  }

  /// The shape of all of a parameter's values in a space; without elements if it has none in it.
  StateShape shape(Space space, const Parameter& parameter) const;
  /// A parameter's part of a space in the arena.
  /// throws    Error if the space is temporary or offloaded, or is split (Model::splits) and the
  ///           parameter is trained and not owned by this rank
  Part part(Space space, const Parameter& parameter) const;
  /// A parameter's part of its unit's state in a region with shapes, where the unit's state begins
  /// at `unit`.
  Part part_of_unit(Space space, const Parameter& parameter, std::byte* unit) const;
  /// This rank's elements of a parameter: all of them or, if the space is split, or holds gradients
  /// of a split model, those in its shards.
  std::vector<Piece> pieces(Space space, const Parameter& parameter) const;
  /// True if a parameter has no owner (Model::owned), or this rank is its owner.
  bool owns(const Parameter& parameter) const {
    return parameter.owner < 0 || parameter.owner == rank_;
  }

  /// True if the space's values of a parameter are offloaded from the arena (Model::is_offloaded).
  bool is_offloaded(Space space, const Parameter& parameter) const {
    return model_.is_offloaded(space) && !parameter.frozen;
  }
  /// Start of the memory that holds `space` between steps for parameters stored like this one: in
  /// the arena, or offloaded, where the host may read and write it, in the same layout. Null if
  /// another rank does all updates.
  /// requires  no step is running, if the space is offloaded; also for resident_part()
  std::byte* resident(Space space, const Parameter& parameter) const;
  /// A parameter's part of the memory at resident().
  /// requires  the rank has it, and it is not split, or the rank owns it
  Part resident_part(Space space, const Parameter& parameter) const;
  /// The memory for offloaded state; null if nothing is offloaded, or another rank does all
  /// updates.
  OffloadMemory* offload() const { return offload_.get(); }
  /// Offset in bytes of an offloaded space in offload().
  std::int64_t offloaded_at(Space space) const { return flat_[std::size_t(space)].offloaded_at; }

  /// Copies this rank's elements of a parameter to their places among all its values.
  ///   values   all values of the parameter, in the layout of part(); also for write()
  void read(Space space, const Parameter& parameter, std::byte* values) const;
  /// Writes a parameter's values into this rank's elements of a space and, if they are master
  /// weights, into the copy.
  void write(Space space, const Parameter& parameter, const std::byte* values) {
    write(space, parameter, values, {0, shape(space, parameter).size()});
  }
  /// Writes only the elements in `range`, of which `values` has the values.
  void write(Space space, const Parameter& parameter, const std::byte* values, FlatSlice range);
  /// Fills the master weights with zeros on the threads that will update them: a page of memory is
  /// placed near the thread that touches it first.
  void clear_masters();
  /// Makes the copy of the weights from the master weights, if there is a copy. Must be called
  /// after master weights change other than by a step or write().
  /// requires  master weights are not split
  void cast_weights() {
    cast_weights({0, model_.held_at(Space::master, model_.master_elements())});
  }
  /// Converts `size` master weights to weights as layers read them.
  void make_weights(const std::byte* masters, std::byte* to, std::int64_t size);

  /// This rank's slices of `count` consecutive units in Model::order: of each unit the decayed
  /// part, then the undecayed part, or what the rank owns of them. Some are empty.
  std::span<const ShardSlice> shards(int first, int count) const {
    const std::size_t begin = first_shards_[std::size_t(first)];
    return std::span(shards_).subspan(begin, first_shards_[std::size_t(first + count)] - begin);
  }
  /// All trained parameters, in order, cut wherever their treatment by the optimizer changes.
  std::span<const UniformSlice> uniform_slices() const { return uniform_slices_; }

 private:
  /// A part of the arena that lives through all steps; empty if the plan does not have it.
  struct FlatBuffer {
    std::byte* data = nullptr;
    std::int64_t bytes = 0;
    Element element{};
    bool has_shapes = false;        // each parameter has a shape of its own
    std::int64_t offloaded_at = 0;  // offset in the offloaded memory, if it is offloaded
    const char* name = "";
  };

  void find_flat_buffers(const PlanView& plan, std::span<std::byte> arena);
  void find_offload_memory(std::string folder);
  void find_shards();
  /// throws    Error, for a buffer that is read as elements of another type
  [[noreturn]] static void refuse(const FlatBuffer&, Element);
  std::byte* start(Space space) const { return flat_[std::size_t(space)].data; }
  /// The space that has a parameter's values of `space`: `frozen` if the parameter has no masters.
  Space home(Space space, const Parameter& parameter) const {
    const bool apart = parameter.frozen && !parameter.running && model_.keeps_frozen_apart();
    return space == Space::master && apart ? Space::frozen : space;
  }
  /// Offset in bytes of a parameter's values in a space that is not split.
  std::int64_t place_in(Space space, const Parameter& parameter) const;
  void each_resident(Space space, const Parameter& parameter, FlatSlice range, bool writes,
                     const auto& visit) const;
  void cast_weights(FlatSlice slice);

  const Model& model_;
  const std::vector<Parameter>& parameters_;
  kernel::Stream& stream_;
  const int rank_;
  std::vector<UniformSlice> uniform_slices_;
  std::vector<ShardSlice> shards_;
  std::vector<std::size_t> first_shards_;  // of each unit in Model::order, and the end
  std::vector<FlatBuffer> flat_;           // by space
  std::unique_ptr<OffloadMemory> offload_;
};

}  // namespace sinter::detail
