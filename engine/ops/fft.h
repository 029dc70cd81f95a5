// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tensor/tensor.h"

#include <optional>
#include <string_view>

namespace tapescope::engine {

// torch.fft, with ATen's names. Inputs are float32 or complex64; integers are taken as float32.
// float64 would give complex128, which there is not, and 16-bit floats have no transform on a CPU:
// both throw DTypeError. n and s cut the input or pad it with zeros at its end; dims may be
// negative. norm: "backward" (1/n in the inverse), "ortho" (1/sqrt(n) in both), "forward" (1/n in
// the forward transform). Gradients of every order. Throws ShapeError for a length below 1,
// IndexError for a wrong dimension, Error for another norm.

inline constexpr std::string_view kFftNorm = "backward";

Tensor fft_fft(const Tensor& x, std::optional<std::int64_t> n = {}, std::int64_t dim = -1,
               std::string_view norm = kFftNorm, Site site = {});
Tensor fft_ifft(const Tensor& x, std::optional<std::int64_t> n = {}, std::int64_t dim = -1,
                std::string_view norm = kFftNorm, Site site = {});
/// Of a real input, the n / 2 + 1 numbers that say all.
Tensor fft_rfft(const Tensor& x, std::optional<std::int64_t> n = {}, std::int64_t dim = -1,
                std::string_view norm = kFftNorm, Site site = {});
/// n: of the real result; 2 (size - 1) if left out.
Tensor fft_irfft(const Tensor& x, std::optional<std::int64_t> n = {}, std::int64_t dim = -1,
                 std::string_view norm = kFftNorm, Site site = {});
/// The transform of a signal whose spectrum is real: the forward counterpart of irfft.
Tensor fft_hfft(const Tensor& x, std::optional<std::int64_t> n = {}, std::int64_t dim = -1,
                std::string_view norm = kFftNorm, Site site = {});
Tensor fft_ihfft(const Tensor& x, std::optional<std::int64_t> n = {}, std::int64_t dim = -1,
                 std::string_view norm = kFftNorm, Site site = {});

// Over several dimensions: without dims the last s.size() ones, without s too all of them. -1 in s
// keeps a size. The half of rfft and irfft is along the last of dims.
Tensor fft_fftn(const Tensor& x, std::optional<Dims> s = {}, std::optional<Dims> dims = {},
                std::string_view norm = kFftNorm, Site site = {});
Tensor fft_ifftn(const Tensor& x, std::optional<Dims> s = {}, std::optional<Dims> dims = {},
                 std::string_view norm = kFftNorm, Site site = {});
Tensor fft_rfftn(const Tensor& x, std::optional<Dims> s = {}, std::optional<Dims> dims = {},
                 std::string_view norm = kFftNorm, Site site = {});
Tensor fft_irfftn(const Tensor& x, std::optional<Dims> s = {}, std::optional<Dims> dims = {},
                  std::string_view norm = kFftNorm, Site site = {});
Tensor fft_fft2(const Tensor& x, std::optional<Dims> s = {}, const Dims& dims = {-2, -1},
                std::string_view norm = kFftNorm, Site site = {});
Tensor fft_ifft2(const Tensor& x, std::optional<Dims> s = {}, const Dims& dims = {-2, -1},
                 std::string_view norm = kFftNorm, Site site = {});
Tensor fft_rfft2(const Tensor& x, std::optional<Dims> s = {}, const Dims& dims = {-2, -1},
                 std::string_view norm = kFftNorm, Site site = {});
Tensor fft_irfft2(const Tensor& x, std::optional<Dims> s = {}, const Dims& dims = {-2, -1},
                  std::string_view norm = kFftNorm, Site site = {});

/// The frequencies of fft's results for samples d apart: 0, 1, ..., -2, -1, over n d.
Tensor fft_fftfreq(std::int64_t n, double d = 1.0, TensorOptions options = {}, Site site = {});
/// Of rfft's: 0, 1, ..., n / 2, over n d.
Tensor fft_rfftfreq(std::int64_t n, double d = 1.0, TensorOptions options = {}, Site site = {});
/// Moves frequency 0 to the middle, along dims or all dimensions.
Tensor fft_fftshift(const Tensor& x, std::optional<Dims> dims = {}, Site site = {});
Tensor fft_ifftshift(const Tensor& x, std::optional<Dims> dims = {}, Site site = {});

}  // namespace tapescope::engine
