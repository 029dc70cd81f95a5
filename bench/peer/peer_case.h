// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tapescope::bench {

/// One piece of work that Tapescope's engine and PyTorch both do; torch_cases.py has the twin of
/// the same name.
struct PeerCase {
    std::string name;
    /// Makes tensors and models, and returns what is timed.
    std::function<std::function<void()>()> make;
    /// What one call does, so that the table can show rates: operators for overheads, bytes for
    /// bandwidths, floating-point operations for matmul and conv; 0 = only the time counts.
    double work = 0;
};

std::vector<PeerCase> overheadCases();
std::vector<PeerCase> operatorCases();
std::vector<PeerCase> trainingCases();

}  // namespace tapescope::bench
