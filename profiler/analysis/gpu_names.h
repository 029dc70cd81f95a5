// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/tape/gpu_records.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tapescope::profiler {

/// What a kernel is for, judged by its name alone: enough to colour a timeline.
enum class KernelFamily : std::uint8_t {
    Other,
    Matmul,
    Convolution,
    Attention,
    Normalisation,  ///< norms and softmax
    Elementwise,
    Reduction,
    Indexing,  ///< gather, scatter, concatenation, sorting, layout changes
    Optimizer,
    Communication
};
inline constexpr int kKernelFamilies = 10;
std::string_view kernelFamilyName(KernelFamily family);  ///< "matmul", "elementwise"

/// By well-known parts of kernel names of PyTorch, cuBLAS, cuDNN, CUTLASS, NCCL, Triton; case does
/// not matter. `name` may be mangled or not.
KernelFamily kernelFamily(std::string_view name);

/// The part people read: without return type, namespaces, template arguments and parameters, but
/// with the functor that tells elementwise kernels apart.
/// "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, …>(int,
/// …)" -> "vectorized_elementwise_kernel<CUDAFunctor_add>". Never empty unless `demangled` is.
std::string shortKernelName(std::string_view demangled);

/// "waits for the device"
std::string gpuSyncText(storage::GpuSyncKind kind);

}  // namespace tapescope::profiler
