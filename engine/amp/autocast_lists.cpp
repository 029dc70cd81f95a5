// SPDX-License-Identifier: Apache-2.0
// What PyTorch 2.15 registers for AutocastCPU, by name and without overloads, sorted.
#include "engine/amp/autocast.h"

#include <algorithm>
#include <iterator>

namespace tapescope::engine::amp {
namespace {

constexpr std::string_view kLowerPrecision[] = {"_addmm_activation",
                                                "_convolution",
                                                "_native_multi_head_attention",
                                                "addbmm",
                                                "addmm",
                                                "baddbmm",
                                                "bmm",
                                                "conv1d",
                                                "conv2d",
                                                "conv3d",
                                                "conv_tbc",
                                                "conv_transpose1d",
                                                "conv_transpose2d",
                                                "conv_transpose3d",
                                                "linalg_vecdot",
                                                "linear",
                                                "matmul",
                                                "mkldnn_rnn_layer",
                                                "mm",
                                                "prelu",
                                                "scaled_dot_product_attention"};
constexpr std::string_view kFloat32[] = {"_grid_sampler_2d_cpu_fallback",
                                         "_lu_with_info",
                                         "adaptive_avg_pool3d",
                                         "adaptive_max_pool3d",
                                         "avg_pool3d",
                                         "binary_cross_entropy",
                                         "binary_cross_entropy_with_logits",
                                         "cdist",
                                         "cholesky_inverse",
                                         "cholesky_solve",
                                         "cosine_embedding_loss",
                                         "cross_entropy_loss",
                                         "ctc_loss",
                                         "fake_quantize_per_tensor_affine",
                                         "fft_fft",
                                         "fft_fft2",
                                         "fft_fftn",
                                         "fft_hfft",
                                         "fft_ifft",
                                         "fft_ifft2",
                                         "fft_ifftn",
                                         "fft_ihfft",
                                         "fft_irfft",
                                         "fft_irfft2",
                                         "fft_irfftn",
                                         "fft_rfft",
                                         "fft_rfft2",
                                         "fft_rfftn",
                                         "fractional_max_pool2d",
                                         "fractional_max_pool3d",
                                         "geqrf",
                                         "grid_sampler",
                                         "grid_sampler_2d",
                                         "grid_sampler_3d",
                                         "hinge_embedding_loss",
                                         "huber_loss",
                                         "inverse",
                                         "kl_div",
                                         "l1_loss",
                                         "linalg_cholesky",
                                         "linalg_cholesky_ex",
                                         "linalg_cond",
                                         "linalg_eig",
                                         "linalg_eigh",
                                         "linalg_eigvals",
                                         "linalg_eigvalsh",
                                         "linalg_householder_product",
                                         "linalg_inv",
                                         "linalg_inv_ex",
                                         "linalg_lstsq",
                                         "linalg_matrix_rank",
                                         "linalg_matrix_sqrth",
                                         "linalg_qr",
                                         "linalg_solve",
                                         "linalg_svd",
                                         "linalg_svdvals",
                                         "linalg_tensorinv",
                                         "linalg_tensorsolve",
                                         "lu_solve",
                                         "margin_ranking_loss",
                                         "max_pool3d",
                                         "max_unpool2d",
                                         "max_unpool3d",
                                         "mse_loss",
                                         "multi_margin_loss",
                                         "multilabel_margin_loss",
                                         "multilabel_margin_loss_forward",
                                         "nanquantile",
                                         "nll_loss",
                                         "nll_loss2d",
                                         "orgqr",
                                         "ormqr",
                                         "pinverse",
                                         "poisson_nll_loss",
                                         "polar",
                                         "prod",
                                         "quantile",
                                         "reflection_pad1d",
                                         "reflection_pad2d",
                                         "replication_pad1d",
                                         "replication_pad2d",
                                         "replication_pad3d",
                                         "smooth_l1_loss",
                                         "soft_margin_loss",
                                         "stft",
                                         "svd",
                                         "trace",
                                         "triangular_solve",
                                         "triplet_margin_loss",
                                         "view_as_complex"};
constexpr std::string_view kPromote[] = {"cat", "index_copy", "stack"};

// Rows of ours that PyTorch has under another name.
constexpr std::string_view kOurFloat32[] = {"cross_entropy", "linalg_lu_solve", "linalg_pinv",
                                            "linalg_solve_triangular"};

template <std::size_t n>
bool has(const std::string_view (&names)[n], std::string_view name) {
    return std::binary_search(std::begin(names), std::end(names), name);
}

}  // namespace

AutocastPolicy autocast_policy(std::string_view op) {
    if (has(kLowerPrecision, op)) return AutocastPolicy::LowerPrecision;
    if (has(kFloat32, op) || has(kOurFloat32, op)) return AutocastPolicy::Float32;
    if (has(kPromote, op)) return AutocastPolicy::Promote;
    return AutocastPolicy::AsIs;
}

}  // namespace tapescope::engine::amp
