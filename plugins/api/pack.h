// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"
#include "engine/tensor/tensor_impl.h"
#include "plugins/api/model.h"

#include <cstdint>

namespace tapescope::plugins {

/// What a model pack in a shared library was compiled against. The program and the pack share C++
/// objects, so both must have been built from the same headers by compilers with one ABI.
struct PackAbi {
    std::uint32_t version = 0;   ///< of this struct and of plugins/api; first, and never moves
    std::uint32_t compiler = 0;  ///< __GXX_ABI_VERSION
    std::uint32_t layout = 0;    ///< sizes of what crosses the border, folded into one number
};

inline constexpr std::uint32_t kPackAbiVersion = 1;

/// Of these headers.
constexpr PackAbi packAbi() {
    std::uint32_t layout = 2166136261U;
    for (const std::size_t size :
         {sizeof(ModelEntry), sizeof(ProgramOptions), sizeof(engine::nn::Module),
          sizeof(engine::Tensor), sizeof(engine::TensorImpl), sizeof(engine::Storage),
          sizeof(engine::Dims), sizeof(engine::Attrs), sizeof(engine::OpDef),
          sizeof(engine::Context), sizeof(engine::ThreadState), sizeof(std::string),
          static_cast<std::size_t>(engine::kDTypeCount)}) {
        layout = (layout ^ static_cast<std::uint32_t>(size)) * 16777619U;
    }
    return {kPackAbiVersion, __GXX_ABI_VERSION, layout};
}

}  // namespace tapescope::plugins

/// Once in a pack's shared library, outside of any namespace: what the program looks for. The block
/// after it adds the pack's models to `registry`.
///   TAPESCOPE_MODEL_PACK(registry) { registry.add(myModel()); }
#define TAPESCOPE_MODEL_PACK(registry)                                                        \
    extern "C" __attribute__((visibility("default")))                                         \
    const ::tapescope::plugins::PackAbi tapescope_pack_abi;                                   \
    const ::tapescope::plugins::PackAbi tapescope_pack_abi = ::tapescope::plugins::packAbi(); \
    extern "C" __attribute__((visibility("default"))) void tapescope_register_pack(           \
        ::tapescope::plugins::ModelRegistry& registry)
