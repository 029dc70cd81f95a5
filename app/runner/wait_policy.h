// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tapescope::app {

/// Makes the OpenMP threads sleep, not spin, between parallel regions; first thing in main(). The
/// OpenMP library reads its settings before main() runs, so the program starts itself anew (same
/// process id) with OMP_WAIT_POLICY=passive; it just goes on where OMP_WAIT_POLICY or
/// GOMP_SPINCOUNT is set already, or if that fails. Spinning threads use up their time slices, and
/// on a busy machine each region then waits for the scheduler: digits-cnn took 360 ms a step beside
/// ten compilers, 9 ms asleep.
void waitPassively(char** argv);

}  // namespace tapescope::app
