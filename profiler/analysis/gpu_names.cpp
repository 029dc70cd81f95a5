// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/gpu_names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace tapescope::profiler {
namespace {

struct Hint {
    std::string_view part;  // lower case
    KernelFamily family;
};

// The first hint that occurs wins: what says more comes first ("flash_fwd" holds no "gemm", but
// "attention_gemm" is attention; an implicit-gemm convolution is a convolution).
constexpr std::array kHints = {
    Hint{"nccl", KernelFamily::Communication},
    Hint{"allreduce", KernelFamily::Communication},
    Hint{"allgather", KernelFamily::Communication},
    Hint{"nvshmem", KernelFamily::Communication},
    Hint{"flash", KernelFamily::Attention},
    Hint{"fmha", KernelFamily::Attention},
    Hint{"attention", KernelFamily::Attention},
    Hint{"softmax", KernelFamily::Normalisation},
    Hint{"layer_norm", KernelFamily::Normalisation},
    Hint{"layernorm", KernelFamily::Normalisation},
    Hint{"batch_norm", KernelFamily::Normalisation},
    Hint{"batchnorm", KernelFamily::Normalisation},
    Hint{"group_norm", KernelFamily::Normalisation},
    Hint{"rmsnorm", KernelFamily::Normalisation},
    Hint{"rms_norm", KernelFamily::Normalisation},
    Hint{"bn_fw", KernelFamily::Normalisation},
    Hint{"bn_bw", KernelFamily::Normalisation},
    Hint{"adam", KernelFamily::Optimizer},
    Hint{"sgd", KernelFamily::Optimizer},
    Hint{"multi_tensor_apply", KernelFamily::Optimizer},
    Hint{"optimizer", KernelFamily::Optimizer},
    Hint{"implicit_gemm", KernelFamily::Convolution},
    Hint{"convolve", KernelFamily::Convolution},
    Hint{"conv", KernelFamily::Convolution},
    Hint{"fprop", KernelFamily::Convolution},
    Hint{"dgrad", KernelFamily::Convolution},
    Hint{"wgrad", KernelFamily::Convolution},
    Hint{"winograd", KernelFamily::Convolution},
    Hint{"gemm", KernelFamily::Matmul},
    Hint{"gemv", KernelFamily::Matmul},
    Hint{"matmul", KernelFamily::Matmul},
    Hint{"cutlass", KernelFamily::Matmul},
    Hint{"cublas", KernelFamily::Matmul},
    Hint{"splitk", KernelFamily::Matmul},
    Hint{"nvjet", KernelFamily::Matmul},
    Hint{"reduce", KernelFamily::Reduction},
    Hint{"cross_entropy", KernelFamily::Reduction},
    Hint{"nll_loss", KernelFamily::Reduction},
    Hint{"gather", KernelFamily::Indexing},
    Hint{"scatter", KernelFamily::Indexing},
    Hint{"index", KernelFamily::Indexing},
    Hint{"embedding", KernelFamily::Indexing},
    Hint{"catarray", KernelFamily::Indexing},
    Hint{"sort", KernelFamily::Indexing},
    Hint{"topk", KernelFamily::Indexing},
    Hint{"transpose", KernelFamily::Indexing},
    Hint{"nchwtonhwc", KernelFamily::Indexing},
    Hint{"nhwctonchw", KernelFamily::Indexing},
    Hint{"pool", KernelFamily::Reduction},
    Hint{"elementwise", KernelFamily::Elementwise},
    Hint{"pointwise", KernelFamily::Elementwise},
    Hint{"triton_poi", KernelFamily::Elementwise},
    Hint{"triton_red", KernelFamily::Reduction},
    Hint{"triton_per", KernelFamily::Reduction},
    Hint{"dropout", KernelFamily::Elementwise},
    Hint{"distribution", KernelFamily::Elementwise},
    Hint{"functor", KernelFamily::Elementwise},
};

constexpr std::array kNames = {
    std::string_view("other kernels"), std::string_view("matmul"),
    std::string_view("convolution"),   std::string_view("attention"),
    std::string_view("norm, softmax"), std::string_view("elementwise"),
    std::string_view("reduction"),     std::string_view("indexing, layout"),
    std::string_view("optimizer"),     std::string_view("communication")};
static_assert(kNames.size() == kKernelFamilies);

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The identifier that a position is in.
std::string_view wordAt(std::string_view text, std::size_t at) {
    std::size_t begin = at, end = at;
    while (begin > 0 && isWord(text[begin - 1])) --begin;
    while (end < text.size() && isWord(text[end])) ++end;
    return text.substr(begin, end - begin);
}

constexpr std::size_t kLongestRead = 4096;  // of a name; hints stand at its front

}  // namespace

std::string_view kernelFamilyName(KernelFamily family) {
    return kNames[std::min<std::size_t>(static_cast<std::size_t>(family), kNames.size() - 1)];
}

KernelFamily kernelFamily(std::string_view name) {
    std::string lowered(name.substr(0, kLongestRead));
    std::transform(lowered.begin(), lowered.end(), lowered.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const Hint& hint : kHints)
        if (lowered.find(hint.part) != std::string::npos) return hint.family;
    return KernelFamily::Other;
}

std::string shortKernelName(std::string_view demangled) {
    std::string_view text = demangled.substr(0, kLongestRead);
    // "(anonymous namespace)" holds parentheses of its own.
    constexpr std::string_view kAnonymous = "(anonymous namespace)::";
    std::string cleaned(text);
    for (std::size_t at = 0; (at = cleaned.find(kAnonymous, at)) != std::string::npos;)
        cleaned.erase(at, kAnonymous.size());
    text = cleaned;
    // The name ends where template arguments or parameters begin.
    const std::size_t end = std::min(text.find_first_of("<("), text.size());
    std::size_t begin = 0;
    for (std::size_t i = 0; i < end; ++i)
        if (text[i] == ' ' || text[i] == ':' || text[i] == '*' || text[i] == '&') begin = i + 1;
    std::string name(text.substr(begin, end - begin));
    if (name.empty()) return std::string(demangled);
    if (end < text.size() && text[end] == '<') {
        const std::size_t functor = text.find("unctor", end);
        if (functor != std::string_view::npos) {
            name += '<';
            name += wordAt(text, functor);
            name += '>';
        }
    }
    return name;
}

std::string gpuSyncText(storage::GpuSyncKind kind) {
    switch (kind) {
        case storage::GpuSyncKind::Event:
            return "waits for event";
        case storage::GpuSyncKind::StreamWaitsEvent:
            return "stream waits for event";
        case storage::GpuSyncKind::Stream:
            return "waits for stream";
        case storage::GpuSyncKind::Context:
            return "waits for the device";
        case storage::GpuSyncKind::Unknown:
            break;
    }
    return "wait";
}

}  // namespace tapescope::profiler
