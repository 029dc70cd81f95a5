// SPDX-License-Identifier: Apache-2.0
// Bandwidth of pointwise operators, reductions, norms and transforms; FLOP/s of matmul and conv.
#include "bench/peer/peer_case.h"
#include "engine/engine.h"

namespace tapescope::bench {
namespace {

using namespace engine;

constexpr std::int64_t kRows = 16384;
constexpr std::int64_t kColumns = 1024;
constexpr double kBytes = 4.0 * kRows * kColumns;  // of one tensor of 16 M floats

template <class Fn>
PeerCase unary(const char* name, double tensors, Fn fn, bool uniform = false) {
    return {name,
            [fn, uniform] {
                const Dims size{kRows, kColumns};
                return [fn, x = uniform ? rand(size) : randn(size)] {
                    const NoGradGuard guard;
                    fn(x);
                };
            },
            tensors * kBytes};
}

PeerCase square(std::int64_t n) {
    const auto size = static_cast<double>(n);
    return {"matmul_" + std::to_string(n),
            [n] {
                return [a = randn({n, n}), b = randn({n, n})] {
                    const NoGradGuard guard;
                    matmul(a, b);
                };
            },
            2 * size * size * size};
}

/// Of complex input, along the last dimensions.
PeerCase transform(const char* name, const Dims& sizes,
                   const std::function<void(const Tensor&)>& fn) {
    return {name,
            [sizes, fn] {
                return [fn, x = complex(randn(sizes), randn(sizes))] {
                    const NoGradGuard guard;
                    fn(x);
                };
            },
            2 * 8.0 * static_cast<double>(numelOf(sizes))};
}

struct ConvShape {
    const char* name;
    Dims input;
    Dims weight;
    std::int64_t stride;
    double flops;  ///< forward; backward does twice as many
};

PeerCase conv(const ConvShape& shape) {
    return {shape.name,
            [shape] {
                const Conv2dParams params{.stride = {shape.stride, shape.stride},
                                          .padding = {shape.weight[2] / 2, shape.weight[3] / 2}};
                Tensor x = randn(shape.input).set_requires_grad(true);
                Tensor w = randn(shape.weight).set_requires_grad(true);
                const Tensor grad = ones_like(conv2d(x, w, {}, params));
                return [=] {
                    conv2d(x, w, {}, params).backward(grad);
                    x.set_grad({});
                    w.set_grad({});
                };
            },
            3 * shape.flops};
}

}  // namespace

std::vector<PeerCase> operatorCases() {
    std::vector<PeerCase> cases{
        {"add_16M",
         [] {
             return [a = randn({kRows, kColumns}), b = randn({kRows, kColumns})] {
                 const NoGradGuard guard;
                 add(a, b);
             };
         },
         3 * kBytes},
        {"add_row_16M",
         [] {
             return [a = randn({kRows, kColumns}), b = randn({kColumns})] {
                 const NoGradGuard guard;
                 add(a, b);
             };
         },
         2 * kBytes},
        unary("exp_16M", 2, [](const Tensor& x) { exp(x); }),
        unary("tanh_16M", 2, [](const Tensor& x) { tanh(x); }),
        unary("gelu_16M", 2, [](const Tensor& x) { gelu(x); }),
        unary("sin_16M", 2, [](const Tensor& x) { sin(x); }),
        unary(
            "log_16M", 2, [](const Tensor& x) { log(x); }, true),
        unary("erfc_16M", 2, [](const Tensor& x) { erfc(x); }),
        unary(
            "erfinv_16M", 2, [](const Tensor& x) { erfinv(x); }, true),
        unary(
            "lgamma_16M", 2, [](const Tensor& x) { lgamma(x); }, true),
        unary(
            "pow_16M", 2, [](const Tensor& x) { pow(x, 1.7); }, true),
        unary("normal_16M", 1, [](const Tensor& x) { normal_(x); }),
        unary("uniform_16M", 1, [](const Tensor& x) { uniform_(x); }),
        unary("relu_16M", 2, [](const Tensor& x) { relu(x); }),
        unary("sum_16M", 1, [](const Tensor& x) { sum(x); }),
        unary("sum_rows_16M", 1, [](const Tensor& x) { sum(x, {1}); }),
        unary("sum_columns_16M", 1, [](const Tensor& x) { sum(x, {0}); }),
        unary("amax_rows_16M", 1, [](const Tensor& x) { amax(x, {1}); }),
        unary("prod_rows_16M", 1, [](const Tensor& x) { prod(x, 1); }),
        unary("cumsum_rows_16M", 2, [](const Tensor& x) { cumsum(x, 1); }),
        unary("topk10_rows_16M", 1, [](const Tensor& x) { topk(x, 10, 1); }),
        unary("sort_rows_16M", 4, [](const Tensor& x) { sort(x, 1); }),
        unary("softmax_16M", 2, [](const Tensor& x) { softmax(x, -1); }),
        unary("transpose_copy_16M", 2, [](const Tensor& x) { contiguous(transpose(x, 0, 1)); }),
        {"layer_norm_16M",
         [] {
             return [x = randn({kRows, kColumns}), w = ones({kColumns}), b = zeros({kColumns})] {
                 const NoGradGuard guard;
                 layer_norm(x, {kColumns}, w, b);
             };
         },
         2 * kBytes},
        {"batch_norm_train_8x64x112x112",
         [] {
             return [x = randn({8, 64, 112, 112}), w = ones({64}), b = zeros({64}),
                     mean = zeros({64}), var = ones({64})] {
                 const NoGradGuard guard;
                 batch_norm(x, w, b, mean, var, true);
             };
         },
         2 * 4.0 * 8 * 64 * 112 * 112},
        {"max_pool_3x3_8x64x112x112",
         [] {
             return [x = randn({8, 64, 112, 112})] {
                 const NoGradGuard guard;
                 max_pool2d(x, {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}});
             };
         },
         4.0 * 8 * 64 * 112 * 112 * 1.25},
        transform("fft_4096x64", {4096, 64}, [](const Tensor& x) { fft_fft(x); }),
        transform("fft_1024x1000", {1024, 1000}, [](const Tensor& x) { fft_fft(x); }),
        transform("fft_1024x1009", {1024, 1009}, [](const Tensor& x) { fft_fft(x); }),
        transform("fft_64x65536", {64, 65536}, [](const Tensor& x) { fft_fft(x); }),
        transform("fft_columns_1024x1024", {1024, 1024},
                  [](const Tensor& x) { fft_fft(x, {}, 0); }),
        transform("fft2_64x128x128", {64, 128, 128}, [](const Tensor& x) { fft_fft2(x); }),
        {"rfft_4096x256",
         [] {
             return [x = randn({4096, 256})] {
                 const NoGradGuard guard;
                 fft_rfft(x);
             };
         },
         4.0 * 4096 * (256 + 2 * 129)},
        {"irfft_4096x256",
         [] {
             return [x = fft_rfft(randn({4096, 256}))] {
                 const NoGradGuard guard;
                 fft_irfft(x);
             };
         },
         4.0 * 4096 * (256 + 2 * 129)},
        square(64),
        square(512),
        square(1024),
        square(2048),
        {"bmm_qk_96x128x64",
         [] {
             return [q = randn({96, 128, 64}), k = randn({96, 128, 64})] {
                 const NoGradGuard guard;
                 matmul(q, transpose(k, -2, -1));
             };
         },
         2.0 * 96 * 128 * 128 * 64},
    };
    for (const ConvShape& shape : {ConvShape{"conv3x3_64_56_forward_backward",
                                             {8, 64, 56, 56},
                                             {64, 64, 3, 3},
                                             1,
                                             2.0 * 8 * 64 * 56 * 56 * 64 * 9},
                                   ConvShape{"conv1x1_256_28_forward_backward",
                                             {8, 256, 28, 28},
                                             {128, 256, 1, 1},
                                             1,
                                             2.0 * 8 * 128 * 28 * 28 * 256},
                                   ConvShape{"conv7x7_3_224_forward_backward",
                                             {4, 3, 224, 224},
                                             {64, 3, 7, 7},
                                             2,
                                             2.0 * 4 * 64 * 112 * 112 * 3 * 49}})
        cases.push_back(conv(shape));
    return cases;
}

}  // namespace tapescope::bench
