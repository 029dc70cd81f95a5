// SPDX-License-Identifier: Apache-2.0
// The one list of what differs from PyTorch's CPU in a dtype on purpose.
#include "dtype_coverage.h"

#include <array>

namespace tapescope::engine::test {
namespace {

using enum DTypeDifference::Kind;

constexpr std::uint32_t kAny = sweptBits();
constexpr std::uint32_t kHalves = dtypeBit(DType::F16) | dtypeBit(DType::BF16);
constexpr std::uint32_t kBool = dtypeBit(DType::Bool);
constexpr std::uint32_t kLong = dtypeBit(DType::I64);
constexpr std::uint32_t kComplex = dtypeBit(DType::C64);
constexpr std::uint32_t kBytes = dtypeBit(DType::U8);
constexpr std::uint32_t kIntegers =
    kLong | dtypeBit(DType::I32) | dtypeBit(DType::I16) | dtypeBit(DType::I8) | dtypeBit(DType::U8);

template <class... T>
constexpr auto ops(T... names) {
    return std::array<std::string_view, sizeof...(T)>{std::string_view(names)...};
}

constexpr std::span<const std::string_view> kEvery;
constexpr auto kIndexMakers = ops("randperm", "tril_indices", "triu_indices");
constexpr auto kOurs =
    ops("logcumsumexp_grad", "unfold_backward", "as_strided_backward", "pad_mode_backward",
        "batch_norm_backward", "layer_norm_backward", "group_norm_backward", "dropout_backward",
        "roi_align_backward", "rnn_layer", "rnn_layer_backward", "lstm_layer",
        "lstm_layer_backward", "gru_layer", "gru_layer_backward", "lion_step_");
constexpr auto kNoDerivative = ops("mish_backward");

constexpr auto kNoHalfKernel =
    ops("quantile", "nanquantile", "histogram", "cdist", "linalg_det", "linalg_slogdet",
        "linalg_inv", "linalg_solve", "linalg_solve_triangular", "linalg_lu_factor",
        "linalg_lu_solve", "linalg_cholesky", "cholesky_solve", "cholesky_inverse", "linalg_qr",
        "linalg_svd", "linalg_svdvals", "linalg_eigh", "linalg_eigvalsh", "linalg_pinv",
        "linalg_lstsq", "avg_pool3d", "avg_pool3d_backward", "lp_pool3d", "local_response_norm",
        "multi_margin_loss", "multilabel_margin_loss", "nms");
constexpr auto kNoBFloat16Kernel = ops("ctc_loss", "roi_align");
constexpr auto kOrders =
    ops("topk", "kthvalue", "median", "nanmedian", "searchsorted", "bucketize");
constexpr auto kSums = ops("trapezoid", "cumulative_trapezoid", "trace");
constexpr auto kBoolAsReal = ops("softsign", "tanhshrink");
constexpr auto kMovesBool = ops("reflection_pad1d", "reflection_pad2d", "reflection_pad3d",
                                "replication_pad1d", "replication_pad2d", "replication_pad3d");
constexpr auto kMovesIntegers = ops("im2col");

constexpr auto kConvolutions = ops("conv1d", "conv2d", "conv3d");
constexpr auto kLongConvolutions =
    ops("conv1d_input_grad", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d");
constexpr auto kLongAverages = ops("avg_pool1d", "avg_pool2d", "avg_pool3d", "local_response_norm");
constexpr auto kLpPools = ops("lp_pool1d", "lp_pool2d", "lp_pool3d");
constexpr auto kGradients = ops("relu_backward");
constexpr auto kMixingPixels = ops("upsample_bilinear2d", "upsample_bicubic2d");
constexpr auto kHalfToReal = ops("fft_hfft", "fft_irfft", "fft_irfft2", "fft_irfftn");
constexpr auto kBoolSums = ops("col2im", "addr", "box_area");

constexpr auto kInt32Indices =
    ops("index_fill", "index_fill_", "index_copy", "index_copy_", "take", "take_along_dim", "put",
        "put_", "max_unpool1d", "max_unpool2d", "max_unpool3d", "multilabel_margin_loss");
constexpr auto kOddIndices = ops("linalg_lu_solve", "ctc_loss");
constexpr auto kMasks = ops("where");
constexpr auto kQuotients = ops("addcdiv", "addcdiv_");
constexpr auto kWeights = ops("lerp", "lerp_");
constexpr auto kSolves = ops("linalg_solve_triangular");

constexpr DTypeDifference kDifferences[] = {
    {NotCompared, "", kAny | kComplex, "gives int64, and there is no dtype to choose",
     kIndexMakers},
    {NotCompared, "", kIntegers | kBool | kComplex,
     "PyTorch has no such operator; compared in floating dtypes with its definition", kOurs},
    {NoSuchType, "", kAny,
     "complex128 and complex32, which PyTorch gives here, are no dtypes of ours; convert the "
     "operand to float32",
     kEvery},
    {NoGradient, "", kAny, "PyTorch's own has no derivative", kNoDerivative},

    {Accepts, "", kHalves,
     "calculated in float32 and rounded once, as wherever there is no 16-bit kernel",
     kNoHalfKernel},
    {Accepts, "", dtypeBit(DType::BF16), "the same; PyTorch has the kernel for float16 alone",
     kNoBFloat16Kernel},
    {Accepts, "", kBool, "false comes before true, as in sort", kOrders},
    {Accepts, "", kBool, "counts as 0 and 1, as in sum", kSums},
    {Accepts, "", kBool, "counts as 0 and 1, as in the other functions of real numbers",
     kBoolAsReal},
    {Accepts, "", kBool, "elements are only moved, as in circular padding", kMovesBool},
    {Accepts, "", kIntegers, "elements are only moved", kMovesIntegers},

    {Refuses, "", kIntegers, "images and weights are floating point, as on PyTorch's GPUs",
     kConvolutions},
    {Refuses, "", kLong, "the same; PyTorch has int64 alone", kLongConvolutions},
    {Refuses, "", kLong, "a mean of integers is refused, as by mean; PyTorch cuts it off",
     kLongAverages},
    {Refuses, "", kIntegers | kBool, "powers and roots of integers are no integers", kLpPools},
    {Refuses, "", kIntegers, "integers have no gradient", kGradients},
    {Refuses, "", dtypeBit(DType::F64),
     "PyTorch calculates in complex128, which is no dtype of ours", kHalfToReal},
    {Refuses, "", kBytes, "rounds the mixture of pixels in a way of its own", kMixingPixels},
    {Refuses, "", kBool, "flags are not added up; convert them with to()", kBoolSums},

    {Accepts, "index", dtypeBit(DType::I32), "int32 indices are taken everywhere", kInt32Indices},
    {Refuses, "index", kAny & ~dtypeBit(DType::I32), "an index is int64 or int32", kOddIndices},
    {Refuses, "mask", kBytes, "a mask is bool; PyTorch warns", kMasks},
    {Accepts, "mixed", dtypeBit(DType::F32), "promoted like the operands of div", kQuotients},
    {Refuses, "mixed", kBytes | dtypeBit(DType::BF16),
     "ends and weight are floating point, a 0-d weight too", kWeights},
    {Refuses, "mixed", kAny, "solves in one dtype, like the others", kSolves},
};

}  // namespace

std::span<const DTypeDifference> dtypeDifferences() { return kDifferences; }

}  // namespace tapescope::engine::test
