// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/isa.h"
#include "engine/cpu/isa/fft_loops.h"

namespace tapescope::engine::cpu {

/// The table of bestIsa().
const FftTable& fftTable();
template <class T>
const FftLoops<T>& fftLoops();
template <>
inline const FftLoops<float>& fftLoops<float>() {
    return fftTable().f32;
}
template <>
inline const FftLoops<double>& fftLoops<double>() {
    return fftTable().f64;
}

}  // namespace tapescope::engine::cpu
