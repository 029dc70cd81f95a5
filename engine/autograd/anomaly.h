// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/observe/context.h"
#include "engine/tensor/tensor.h"

#include <span>

namespace tapescope::engine {

class Node;

/// with torch.autograd.detect_anomaly(): while it lives, a backward pass on this thread stops with
/// an AutogradError at the first operator that makes a NaN gradient; the message names the
/// operator, the element, and where forward called it. Slow: every gradient is read once more.
class DetectAnomaly final {
public:
    explicit DetectAnomaly(bool enabled = true) : m_saved(threadState().anomaly) {
        threadState().anomaly = enabled;
    }
    ~DetectAnomaly() { threadState().anomaly = m_saved; }
    DetectAnomaly(const DetectAnomaly&) = delete;
    DetectAnomaly& operator=(const DetectAnomaly&) = delete;

private:
    bool m_saved;
};
inline bool is_anomaly_enabled() { return threadState().anomaly; }

/// Throws AutogradError if one of gradInputs holds a NaN.
void checkAnomaly(const Node& node, std::span<const Tensor> gradOutputs,
                  std::span<const Tensor> gradInputs);

}  // namespace tapescope::engine
