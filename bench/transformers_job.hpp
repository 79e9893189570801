// SPDX-License-Identifier: Apache-2.0
// What peers/transformers_model.py reads beside the weights.
#pragma once
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "contest.hpp"
#include "sinter/data/host_batch.hpp"

namespace sinter::detail::bench {

/// Writes `job`, which says how to train, and batches of sequences without padding, whose inputs lie on
/// these axes.
/// requires  the folder is there, and all batches have as many sequences
inline void write_job(const std::filesystem::path& folder, const std::vector<int>& axes,
                      const std::vector<HostBatch>& batches, nlohmann::json job) {
  job["axes"] = axes;
  job["sequences"] = batches.at(0).sequences();
  std::ofstream(folder / "job.json") << job;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::string number = std::to_string(k);
    std::ofstream ids(folder / ("ids" + number + ".bin"), std::ios::binary),
        lengths(folder / ("lengths" + number + ".bin"), std::ios::binary);
    for (const HostBatch& batch : batches) {
      append(ids, batch.ids[k]);
      append(lengths, axes[k] < token_axes
                          ? lengths_of(batch.starts_of(axes[k]))
                          : std::vector<std::int32_t>(std::size_t(batch.sequences()), 1));
    }
  }
}

}  // namespace sinter::detail::bench
