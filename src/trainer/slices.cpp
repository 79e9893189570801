// SPDX-License-Identifier: Apache-2.0
#include "trainer/slices.hpp"

#include <algorithm>
#include <iterator>

#include "sinter/error.hpp"
#include "sinter/plan/parameter.hpp"
#include "trainer/saved_tensors.hpp"

namespace sinter::detail {

namespace {

static_assert(parameter_alignment % ChunkSum::elements == 0);  // shards are whole chunks

/// A file's name, and the spaces that it holds.
struct Contents {
  const char* name;
  std::vector<Space> spaces;
};

std::vector<Contents> contents_of(const Model& model) {
  std::vector<Contents> files{{CheckpointContent::weights_file, {Space::master}}};
  if (model.regions.empty()) return files;
  files.push_back({CheckpointContent::state_file, {}});
  for (int r = 0; r < int(model.regions.size()); ++r) files.back().spaces.push_back(region(r));
  return files;
}

/// Adds slices of tensors to one file.
class Slicer {
  const ParameterStore& store;
  SlicedFile& file;
  const int rank, ranks;
  const std::uint64_t begin;  // of the tensors in the file

 public:
  Slicer(const ParameterStore& s, SlicedFile& f, std::uint64_t first, int of_rank, int of_ranks)
      : store(s), file(f), rank(of_rank), ranks(of_ranks), begin(first) {}

  void add(const SavedTensor& tensor, std::uint64_t at) const {
    if (store.model().splits(tensor.space) && !tensor.parameter->frozen)
      add_pieces(tensor, at);
    else
      add_share(tensor, at);
  }

 private:
  void add_pieces(const SavedTensor& tensor, std::uint64_t at) const {
    const std::int64_t each = bytes_of(tensor.stored.element);
    const std::byte* const space = store.resident(tensor.space, *tensor.parameter);
    for (const ParameterStore::Piece& piece : store.pieces(tensor.space, *tensor.parameter)) {
      if (piece.begin % ChunkSum::elements != 0)
        throw Error("a rank's shard of '" + tensor.view.name + "' begins within a chunk.");
      file.slices.push_back({at + std::uint64_t(piece.begin * each), tensor.view.dtype,
                             space + piece.local * each, std::size_t(piece.size * each)});
    }
  }
  /// Returns where the share of a rank begins in the file.
  std::uint64_t share(int of_rank) const {
    return begin + std::uint64_t(part_begin(std::int64_t(file.bytes - begin), of_rank, ranks));
  }
  /// Adds the chunks that begin in this rank's share of the file.
  void add_share(const SavedTensor& tensor, std::uint64_t at) const {
    const std::uint64_t each = chunk_bytes(tensor.view.dtype), size = tensor.view.bytes;
    const auto first_in = [&](std::uint64_t place) {
      const std::uint64_t chunks = place <= at ? 0 : (place - at + each - 1) / each;
      return std::min(chunks * each, size);
    };
    const std::uint64_t from = first_in(share(rank)), to = first_in(share(rank + 1));
    if (from == to) return;
    const std::byte* const data = store.resident_part(tensor.space, *tensor.parameter).data;
    file.slices.push_back({at + from, tensor.view.dtype, data + from, to - from});
  }
};

/// Returns the layout of a checkpoint's file, by the names of its tensors.
SafetensorsLayout layout_of(const std::vector<SavedTensor>& tensors, const char* name) {
  std::vector<TensorView> views;
  for (const SavedTensor& tensor : tensors) views.push_back(tensor.view);
  return safetensors_layout(views, usual_metadata, name);
}

}  // namespace

std::vector<SlicedFile> slices_of(TrainerCore& trainer, int rank, int ranks) {
  const ParameterStore& store = trainer.machine().parameters();
  std::vector<SlicedFile> files;
  for (const Contents& contents : contents_of(store.model())) {
    std::vector<SavedTensor> tensors;
    for (const Space space : contents.spaces)
      std::ranges::move(saved_tensors(store, space), std::back_inserter(tensors));
    if (tensors.empty()) continue;
    SafetensorsLayout layout = layout_of(tensors, contents.name);
    SlicedFile& file = files.emplace_back(contents.name, "", layout.bytes);
    const Slicer slicer(store, file, layout.head.size(), rank, ranks);
    for (const std::size_t k : layout.order) slicer.add(tensors[k], layout.places[k]);
    if (rank == 0) file.head = std::move(layout.head);
  }
  return files;
}

std::vector<SlicedFile> slices_of(const CheckpointContent& content) {
  std::vector<SlicedFile> files;
  const auto add = [&](const char* name, const std::vector<TensorView>& tensors) {
    if (tensors.empty()) return;
    SafetensorsLayout layout = safetensors_layout(tensors, usual_metadata, name);
    SlicedFile& file = files.emplace_back(name, std::move(layout.head), layout.bytes);
    for (const std::size_t k : layout.order)
      file.slices.push_back({layout.places[k], tensors[k].dtype,
                             static_cast<const std::byte*>(tensors[k].data), tensors[k].bytes});
  };
  add(CheckpointContent::weights_file, content.weights);
  add(CheckpointContent::state_file, content.state);
  return files;
}

CheckpointContent content_of(std::span<const SlicedFile> files) {
  CheckpointContent content;
  for (const SlicedFile& file : files)
    for (const Slice& slice : file.slices)
      (&file == &files[0] ? content.weights : content.state)
          .push_back({"", slice.type, {}, slice.data, slice.bytes});
  return content;
}

void move_to(std::vector<SlicedFile>& files, const CheckpointContent& content) {
  for (SlicedFile& file : files) {
    const auto& list = &file == &files[0] ? content.weights : content.state;
    for (std::size_t k = 0; k < list.size(); ++k)
      file.slices[k].data = static_cast<const std::byte*>(list[k].data);
  }
}

}  // namespace sinter::detail
