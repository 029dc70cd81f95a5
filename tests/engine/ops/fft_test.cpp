// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/fft.h"

#include "engine/autograd/autograd.h"
#include "engine/errors.h"
#include "engine/memory/allocator.h"
#include "engine/observe/context.h"
#include "engine/ops/complex.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "message_of.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <numbers>
#include <string>

namespace tapescope::engine {
namespace {

using test::messageOf;

using Numbers = std::vector<Complex64>;
using Wide = std::complex<double>;

/// Values of moderate size without pattern.
Tensor sample(const Dims& sizes, double salt) {
    std::vector<float> x(static_cast<std::size_t>(numelOf(sizes)));
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(std::sin(salt + 0.7 * static_cast<double>(i * i % 1009)));
    return Tensor::from<float>(x, sizes);
}
Tensor complexSample(const Dims& sizes) { return complex(sample(sizes, 0.1), sample(sizes, 1.7)); }

/// The definition, along the last dimension, in double.
std::vector<Wide> naive(const Tensor& x, bool inverse) {
    const Numbers values = x.to_vector<Complex64>();
    const std::int64_t n = x.size(-1);
    std::vector<Wide> roots;
    for (std::int64_t k = 0; k < n; ++k)
        roots.push_back(std::polar(1.0, (inverse ? 2 : -2) * std::numbers::pi *
                                            static_cast<double>(k) / static_cast<double>(n)));
    std::vector<Wide> out;
    for (std::size_t line = 0; line < values.size(); line += static_cast<std::size_t>(n)) {
        for (std::int64_t k = 0; k < n; ++k) {
            Wide sum;
            for (std::int64_t j = 0; j < n; ++j)
                sum += Wide(values[line + static_cast<std::size_t>(j)]) *
                       roots[static_cast<std::size_t>(j * k % n)];
            out.push_back(sum);
        }
    }
    return out;
}

/// Within some last places of the largest values there can be.
void expectNear(const Tensor& got, const std::vector<Wide>& want, std::int64_t n,
                const std::string& what) {
    const Numbers values = got.to_vector<Complex64>();
    ASSERT_EQ(values.size(), want.size()) << what;
    for (std::size_t i = 0; i < want.size(); ++i)
        ASSERT_LE(std::abs(Wide(values[i]) - want[i]), 1e-6 * std::sqrt(static_cast<double>(n)))
            << what << ", element " << i;
}

double largest(const Tensor& x) { return amax(abs(x)).item(); }

TEST(FftOperators, AgreeWithTheDefinitionInEveryLayout) {
    // Alone, side by side, with lines left over, and in several dimensions of memory.
    for (const std::int64_t n : {2, 6, 15, 64, 96, 127, 128, 160, 251, 256, 1024}) {
        for (const std::int64_t lines : {1, 3, 16, 21}) {
            const std::string what = std::to_string(lines) + " of " + std::to_string(n);
            const Tensor z = complexSample({lines, n});
            const Tensor r = sample({lines, n}, 0.4);
            const Tensor columns = contiguous(transpose(z, 0, 1));
            const std::vector<Wide> there = naive(z, false);
            expectNear(fft_fft(z), there, n, "fft, " + what);
            expectNear(fft_ifft(z, {}, -1, "forward"), naive(z, true), n, "ifft, " + what);
            expectNear(transpose(fft_fft(columns, {}, 0), 0, 1), there, n, "columns, " + what);
            expectNear(fft_fft(transpose(columns, 0, 1)), there, n, "turned, " + what);
            const std::vector<Wide> ofReal = naive(r, false);
            expectNear(fft_fft(r), ofReal, n, "fft of real, " + what);
            const Tensor half = fft_rfft(r);
            EXPECT_EQ(half.sizes(), (Dims{lines, n / 2 + 1}));
            expectNear(
                half,
                [&] {
                    std::vector<Wide> kept;
                    for (std::size_t i = 0; i < ofReal.size(); ++i)
                        if (static_cast<std::int64_t>(i) % n <= n / 2) kept.push_back(ofReal[i]);
                    return kept;
                }(),
                n, "rfft, " + what);
            EXPECT_LE(largest(sub(fft_irfft(half, n), r)), 1e-6) << what;
            const Tensor realColumns = contiguous(transpose(r, 0, 1));
            EXPECT_LE(largest(sub(fft_rfft(realColumns, {}, 0), transpose(half, 0, 1))), 1e-4)
                << what;
            EXPECT_LE(largest(sub(fft_irfft(transpose(half, 0, 1), n, 0), realColumns)), 1e-6)
                << what;
        }
    }
}

TEST(FftOperators, AgreeWithTheDefinitionForEveryKindOfLength) {
    // Powers, products of primes, small and large primes, and lengths of Bluestein's algorithm.
    for (const std::int64_t n :
         {1,  2,  3,  4,  5,  7,  8,   11,  12,  13,  16,  24,  30,  31,  32,   37,  48,
          49, 53, 59, 60, 77, 97, 121, 143, 221, 323, 437, 512, 667, 899, 1000, 1009}) {
        const std::string what = std::to_string(n);
        const Tensor z = complexSample({n});
        const Tensor r = sample({n}, 0.4);
        expectNear(fft_fft(z), naive(z, false), n, "fft, " + what);
        expectNear(fft_ifft(z, {}, -1, "forward"), naive(z, true), n, "ifft, " + what);
        expectNear(fft_fft(r), naive(r, false), n, "fft of real, " + what);
        EXPECT_LE(largest(sub(fft_irfft(fft_rfft(r), n), r)), 1e-6) << what;
    }
}

TEST(FftOperators, ALineHasTheSameBitsAloneAndAnywhereAmongOthers) {
    for (const std::int64_t n : {1, 12, 37, 64, 97, 1009, 4096}) {
        for (const std::int64_t lines : {2, 5, 7, 67}) {
            const Tensor z = complexSample({lines, n});
            const Tensor r = sample({lines, n}, 0.4);
            const Tensor there = fft_fft(z);
            const Tensor half = fft_rfft(r);
            const Tensor back = fft_irfft(half, n);
            const Tensor column = transpose(fft_fft(contiguous(transpose(z, 0, 1)), {}, 0), 0, 1);
            for (const std::int64_t i : {std::int64_t{0}, lines / 2, lines - 1}) {
                const auto same = [&](const Tensor& a, const Tensor& b) {
                    EXPECT_EQ(largest(sub(a, b)), 0) << i << " of " << lines << ", length " << n;
                };
                same(select(there, 0, i), fft_fft(select(z, 0, i)));
                same(select(column, 0, i), fft_fft(select(z, 0, i)));
                same(select(half, 0, i), fft_rfft(select(r, 0, i)));
                same(select(back, 0, i), fft_irfft(select(half, 0, i), n));
            }
        }
    }
}

TEST(FftOperators, InvertEachOther) {
    const Tensor z = complexSample({3, 10, 7});
    for (const std::string_view norm : {"backward", "ortho", "forward"}) {
        EXPECT_LE(largest(sub(fft_ifft(fft_fft(z, {}, 1, norm), {}, 1, norm), z)), 1e-6);
        EXPECT_LE(largest(sub(fft_ifftn(fft_fftn(z, {}, {}, norm), {}, {}, norm), z)), 1e-6);
        EXPECT_LE(largest(sub(fft_ifft2(fft_fft2(z, {}, {0, 2}, norm), {}, {0, 2}, norm), z)),
                  1e-6);
        const Tensor r = sample({5, 6, 9}, 0.2);
        EXPECT_LE(largest(sub(fft_irfftn(fft_rfftn(r, {}, {}, norm), r.sizes(), {}, norm), r)),
                  1e-6);
        EXPECT_LE(largest(sub(fft_hfft(fft_ihfft(r, {}, 1, norm), 6, 1, norm), r)), 2e-6);
    }
    EXPECT_LE(largest(sub(fft_ifftshift(fft_fftshift(z)), z)), 0);
}

TEST(FftOperators, PadDimensionsFarFromTheLast) {
    const Tensor z = complexSample({2, 1, 2, 1, 2, 1});
    const Tensor y = fft_fft(z, 5, 0);
    EXPECT_EQ(y.sizes(), (Dims{5, 1, 2, 1, 2, 1}));
    EXPECT_LE(largest(sub(select(y, 0, 0), sum(z, {0}))), 1e-6);
}

TEST(FftOperators, LongTransformsKeepTheirDigits) {
    for (const std::int64_t n : {std::int64_t{1} << 17, std::int64_t{59049}, std::int64_t{30011}}) {
        const Tensor z = complexSample({n});
        const Tensor back = fft_ifft(fft_fft(z));
        EXPECT_LE(largest(sub(back, z)), 3e-6) << n;
    }
}

TEST(FftOperators, KeepPrecisionForLongPrimeLengths) {
    // A pure tone at one frequency, length a prime: everything else must vanish. PyTorch's error is
    // 2.4e-7 of all numbers' root mean square at this length, ours 3.1e-7.
    const std::int64_t n = 100003;
    const std::int64_t frequency = 12345;
    Numbers tone;
    for (std::int64_t i = 0; i < n; ++i)
        tone.emplace_back(
            std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(i * frequency % n) /
                                static_cast<double>(n)));
    const Numbers out =
        fft_fft(Tensor::from<Complex64>(tone, {n}), {}, -1, "forward").to_vector<Complex64>();
    double error = 0;
    for (std::int64_t k = 0; k < n; ++k)
        error += std::norm(Wide(out[static_cast<std::size_t>(k)]) - (k == frequency ? 1.0 : 0.0));
    EXPECT_LE(std::sqrt(error), 6e-7);
}

TEST(FftOperators, RefuseTablesBeyondTheMemoryLimit) {
    CachingAllocator memory({.limitBytes = std::size_t{128} << 20U});
    Context context(memory);
    const ContextScope scope(context);
    const Tensor x = zeros({(std::int64_t{1} << 21) + 1});  // 8 MiB, its result 16
    EXPECT_THROW(fft_rfft(x), OutOfMemoryError);
    EXPECT_EQ(fft_rfft(narrow(x, 0, 0, 4096)).numel(), 2049);
}

TEST(FftOperators, RefuseWhatCannotBeTransformed) {
    const Tensor x = sample({2, 3}, 0.1);
    const auto says = [](const std::string& message, std::string_view part) {
        EXPECT_NE(message.find(part), std::string::npos) << message;
    };
    says(messageOf([&] { fft_fft(x, 0); }), "fft_fft: the number of points 0");
    says(messageOf([&] { fft_rfft(x, -3); }), "fft_rfft: the number of points -3");
    says(messageOf([&] { fft_irfft(sample({1}, 0)); }), "fft_irfft: the number of points 0");
    says(messageOf([&] { fft_fft(x, {}, -1, "left"); }), "fft_fft: norm \"left\"");
    says(messageOf([&] { fft_fft(x, {}, 2); }), "fft_fft");
    says(messageOf([&] { fft_fft2(x, Dims{4}); }), "fft_fft2: s [4] and dim [-2, -1]");
    says(messageOf([&] { fft_fftn(x, Dims{1, 2, 3}); }), "fft_fftn: s [1, 2, 3]");
    says(messageOf([&] { fft_fftn(x, Dims{2, 0}); }), "fft_fftn: the number of points 0");
    says(messageOf([&] { fft_rfftn(x, {}, Dims{}); }), "fft_rfftn: dim must name");
    says(messageOf([&] { fft_fft(sample({}, 0)); }), "fft_fft: a 0-dimensional");
    says(messageOf([&] { fft_fft(to(x, DType::F64)); }), "complex128");
    says(messageOf([&] { fft_fft(to(x, DType::BF16)); }), "bfloat16");
    says(messageOf([&] { fft_rfft(to(x, DType::C64)); }), "fft_rfft: the input must be real");
    says(messageOf([&] { fft_fft(zeros({2, 0})); }), "fft_fft: the number of points 0");
    says(messageOf([&] { fft_fftfreq(-1); }), "fft_fftfreq: n -1");
    EXPECT_THROW(fft_fft(x, {}, -3), IndexError);
    EXPECT_THROW(fft_fft2(x, {}, {1, -1}), IndexError);  // the same dimension twice
    EXPECT_THROW(fft_fft(x, std::numeric_limits<std::int64_t>::max()), Error);
    EXPECT_THROW(fft_irfft(x, std::numeric_limits<std::int64_t>::max()), Error);
    EXPECT_THROW(fft_fftn(x, Dims{1LL << 40, 1LL << 40}), Error);
}

TEST(FftOperators, GradientOfAPowerSpectrum) {
    // Parseval: sum |X|^2 = n sum x^2, whose gradient is 2 n x.
    Tensor x = sample({12}, 0.3).set_requires_grad(true);
    const Tensor spectrum = fft_fft(x);
    sum(real(mul(spectrum, conj(spectrum)))).backward();
    EXPECT_LE(largest(sub(x.grad(), mul(x.detach(), 24.0))), 1e-4);
}

}  // namespace
}  // namespace tapescope::engine
