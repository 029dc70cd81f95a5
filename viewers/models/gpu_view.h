// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "profiler/analysis/gpu_activity.h"
#include "profiler/analysis/gpu_names.h"
#include "profiler/analysis/gpu_notices.h"

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tapescope::viewers {

enum class RowKind : std::uint8_t;
struct EventBlock;

/// What events of one name are called. All kernels of a name share one, all copies of a direction,
/// NVTX ranges of one name and colour.
struct GpuLabel {
    std::string text;  ///< for boxes: "vectorized_elementwise_kernel<CUDAFunctor_add>"
    std::string full;  ///< demangled
    storage::GpuEventKind kind = storage::GpuEventKind::Unknown;
    profiler::KernelFamily family = profiler::KernelFamily::Other;
    std::uint32_t colour = 0;  ///< NVTX: as the program chose it, 0xAARRGGBB; 0: it did not
};

/// Which rows an event is in.
struct GpuLaneKey {
    storage::GpuProcessId process = 0;
    RowKind kind{};
    std::uint32_t device = 0;  ///< streams only, as the next two
    std::uint32_t context = 0;
    std::uint32_t stream = 0;
    std::uint32_t thread = 0;
    friend auto operator<=>(const GpuLaneKey&, const GpuLaneKey&) = default;
};

/// What the timeline knows of GPUs beyond rows; immutable.
struct GpuView {
    profiler::GpuActivity activity;
    std::shared_ptr<const std::vector<GpuLabel>> labels;
    std::map<GpuLaneKey, std::pair<std::size_t, std::size_t>> rows;  ///< first row, number of rows
    /// Kernels, copies and memsets for which there is no lane, in no order: sums count them too.
    std::vector<std::shared_ptr<const EventBlock>> unplaced;
    std::vector<profiler::GpuNotice> notices;
    std::vector<storage::GpuProcess> processes;
    std::vector<storage::GpuDevice> devices;
    std::size_t expected = 0;  ///< events on the tape by the collector's count; 0 = not known

    const GpuLabel* label(std::uint32_t id) const {
        return labels && id < labels->size() ? &(*labels)[id] : nullptr;
    }
};

}  // namespace tapescope::viewers
