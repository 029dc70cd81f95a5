// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/convert_call.h"

#include "engine/cpu/copy.h"
#include "engine/ops/checks.h"

#include <array>
#include <vector>

namespace tapescope::engine {
namespace {

/// There is no wider type to calculate complex numbers in: what does not take them refuses them.
void refuseComplex(const OpDef& op, const OpArgs& args, const OutputMetas& metas) {
    if (op.native & dtypeBit(DType::C64)) return;
    bool any = false;
    for (const Tensor* t : args.inputs) any = any || (t->defined() && isComplex(t->dtype()));
    for (int i = 0; i < metas.count; ++i)
        any = any || isComplex(metas.metas[static_cast<unsigned>(i)].dtype);
    if (any)
        throw DTypeError(message(op.name,
                                 ": complex64 is not supported; take the parts with real(), imag() "
                                 "or view_as_real() and put the results together with complex()"));
}

}  // namespace

bool needsConversion(const OpDef& op, const OpArgs& args, const OutputMetas& metas) {
    if (op.native == kEveryType) return false;
    for (const Tensor* t : args.inputs) {
        if (t->defined() && !(op.native & dtypeBit(t->dtype()))) return true;
    }
    for (int i = 0; i < metas.count; ++i) {
        if (!(op.native & dtypeBit(metas.metas[static_cast<unsigned>(i)].dtype))) return true;
    }
    return false;
}

void executeConverted(const OpDef& op, KernelFn kernel, const OpArgs& args,
                      const OutputMetas& metas, MemoryRole role, Outputs& out) {
    refuseComplex(op, args, metas);
    const std::size_t count = args.inputs.size();
    std::vector<Tensor> own(count);
    std::vector<const Tensor*> pointers(args.inputs.begin(), args.inputs.end());
    for (std::size_t i = 0; i < count; ++i) {
        const Tensor& t = *args.inputs[i];
        if (!t.defined() || op.native & dtypeBit(t.dtype())) continue;
        for (std::size_t k = 0; k < i && pointers[i] == args.inputs[i]; ++k) {
            if (own[k].defined() && same(t, *args.inputs[k])) pointers[i] = pointers[k];
        }
        if (pointers[i] != args.inputs[i]) continue;
        own[i] = cpu::converted(t, computeType(t.dtype()));
        pointers[i] = &own[i];
    }
    const OpArgs converted{pointers, args.attrs};
    std::array<Tensor, kMaxOutputs> results;
    for (int i = 0; i < metas.count && !metas.dynamic; ++i) {
        const TensorMeta& meta = metas.metas[static_cast<unsigned>(i)];
        Tensor& result = results[static_cast<unsigned>(i)];
        if (op.inplace) {
            out[i] = args[0];
            result = converted[0];
            continue;
        }
        out[i] = Tensor::empty(meta.sizes, meta.dtype, role);
        const bool direct = (op.native & dtypeBit(meta.dtype)) != 0;
        result = direct ? out[i]
                        : Tensor::empty(meta.sizes, computeType(meta.dtype), MemoryRole::Temporary);
    }
    kernel(converted, {results.data(), static_cast<std::size_t>(metas.count)});
    for (int i = 0; i < metas.count && !op.inplace; ++i) {
        const Tensor& result = results[static_cast<unsigned>(i)];
        if (metas.dynamic) {  // the kernel has allocated it
            const DType dtype = metas.metas[static_cast<unsigned>(i)].dtype;
            out[i] = result.dtype() == dtype ? result : cpu::converted(result, dtype);
            out[i].set_role(role);
        } else if (!same(result, out[i])) {
            cpu::copyTensor(out[i], result);
        }
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (!own[i].defined()) continue;
        // A kernel that writes more than input 0 (an optimiser's state, running statistics) notes
        // it on the storage.
        const bool noted = own[i].version() != 0;
        if (noted || (op.inplace && i == 0)) cpu::copyTensor(*args.inputs[i], own[i]);
        if (noted)
            args.inputs[i]->storage()->noteWrite(own[i].storage()->lastWriter(),
                                                 own[i].storage()->lastWriteSite());
    }
}

}  // namespace tapescope::engine
