// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/dispatch.h"

#include "engine/amp/cast_inputs.h"
#include "engine/autograd/node.h"
#include "engine/cpu/copy.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/convert_call.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"
#include "engine/tensor/tensor_impl.h"
#include "engine/text.h"

#include <vector>

namespace tapescope::engine {
namespace {

/// The inputs after promotion. Conversions are operator calls themselves, so gradients flow through
/// them.
class PreparedInputs {
public:
    PreparedInputs(const OpDef& op, std::span<const Tensor* const> given, Site site)
        : m_inputs(given) {
        checkArity(op, given);
        if (op.types == TypeRule::AsIs) return;
        const std::size_t from = static_cast<std::size_t>(op.typesFrom);
        if (op.types == TypeRule::Floating) {
            for (std::size_t i = from; i < given.size(); ++i) requireFloating(op, i);
            return;
        }
        DType target = op.inplace ? inplaceType(op) : commonType(op, from);
        for (std::size_t i = from; i < given.size(); ++i) {
            const Tensor& t = *given[i];
            if (!t.defined() || t.dtype() == target) continue;
            const bool wide = op.wideNumber && i == 1 && t.dim() == 0 && isReducedFloating(target);
            const DType own = wide ? DType::F32 : target;
            if (t.dtype() == own) continue;
            // A number in an expression is converted on the spot: an operator call would only be
            // noise.
            replace(i, t.impl()->wrappedNumber ? number(t, own) : to(t, own, site));
        }
    }

    std::span<const Tensor* const> span() const { return m_inputs; }

private:
    static void checkArity(const OpDef& op, std::span<const Tensor* const> given) {
        const bool list = !op.args.empty() && op.args.back().list;
        if (given.size() > op.args.size() && !list) {
            throw Error(std::string(op.name) + ": " + std::to_string(given.size()) +
                        " tensors were given, it takes " + std::to_string(op.args.size()));
        }
        for (std::size_t i = 0; i < std::max(op.args.size(), given.size()); ++i) {
            const ArgDef& arg = op.args[std::min(i, op.args.size() - 1)];
            if (i < given.size() ? given[i]->defined() : arg.optional || (arg.list && i >= 1))
                continue;
            if (i < given.size() && arg.optional) continue;
            throw Error(std::string(op.name) + ": the argument " + std::string(arg.name) +
                        " is an undefined tensor");
        }
    }

    void requireFloating(const OpDef& op, std::size_t i) const {
        const Tensor& t = *m_inputs[i];
        if (t.defined() && !isFloating(t.dtype())) {
            throw DTypeError(
                std::string(op.name) + ": " +
                std::string(op.args[std::min(i, op.args.size() - 1)].name) + " is " +
                std::string(dtypeName(t.dtype())) +
                ", a floating-point tensor is needed; convert it with to(x, DType::F32)");
        }
    }

    /// PyTorch's rule: tensors with dimensions decide; 0-d tensors and then numbers only raise the
    /// category.
    DType promote(std::size_t from) const {
        DType byRank[3] = {DType::Bool, DType::Bool,
                           DType::Bool};  // dimensioned, 0-d, wrapped numbers
        bool seen[3] = {false, false, false};
        for (std::size_t i = from; i < m_inputs.size(); ++i) {
            const Tensor& t = *m_inputs[i];
            if (!t.defined()) continue;
            const int k = t.impl()->wrappedNumber ? 2 : t.dim() == 0 ? 1 : 0;
            byRank[k] = promoteTypes(byRank[k], t.dtype());
            seen[k] = true;
        }
        DType result = DType::Bool;
        bool any = false;
        for (int k = 0; k < 3; ++k) {
            if (!seen[k]) continue;
            // A Python-like number of a higher category brings the default float, not its own
            // double.
            const DType candidate = k == 2 && isFloating(byRank[k]) ? DType::F32 : byRank[k];
            if (!any || categoryOf(candidate) > categoryOf(result)) result = candidate;
            any = true;
        }
        return result;
    }

    DType commonType(const OpDef& op, std::size_t from) const {
        const DType common = promote(from);
        return op.types == TypeRule::PromoteFloat && !isFloating(common) ? DType::F32 : common;
    }

    /// In place the target's type stands; the result must fit its category.
    DType inplaceType(const OpDef& op) const {
        const DType target = m_inputs[0]->dtype();
        const DType result = commonType(op, 0);
        if (categoryOf(result) > categoryOf(target)) {
            throw DTypeError(std::string(op.name) + ": the result is " +
                             std::string(dtypeName(result)) +
                             " and cannot be written in place into a " +
                             std::string(dtypeName(target)) + " tensor");
        }
        return target;
    }

    static Tensor number(const Tensor& wrapped, DType dtype) {
        if (wrapped.dtype() == DType::I64) return cpu::converted(wrapped, dtype);
        return Tensor::scalar(wrapped.item(), dtype);
    }

    void replace(std::size_t i, Tensor converted) {
        if (m_owned.empty()) {
            m_owned.resize(m_inputs.size());
            m_pointers.assign(m_inputs.begin(), m_inputs.end());
        }
        m_owned[i] = std::move(converted);
        m_pointers[i] = &m_owned[i];
        m_inputs = m_pointers;
    }

    std::span<const Tensor* const> m_inputs;
    std::vector<Tensor> m_owned;
    std::vector<const Tensor*> m_pointers;
};

Cost costOf(const OpDef& op, const OpArgs& args, std::span<const Tensor> outputs) {
    if (op.cost) return op.cost(args, outputs);
    Cost cost;
    if (op.view) return cost;
    for (const Tensor* t : args.inputs) {
        if (t->defined()) cost.bytesRead += static_cast<std::int64_t>(t->nbytes());
    }
    for (const Tensor& t : outputs) {
        cost.bytesWritten += static_cast<std::int64_t>(t.nbytes());
        cost.flops += static_cast<double>(t.numel());
    }
    return cost;
}

void checkInplace(const OpDef& op, const Tensor& target, bool grad) {
    if (!grad_enabled()) return;
    if (target.requires_grad() && target.is_leaf()) {
        throw AutogradError(std::string(op.name) +
                            ": a leaf tensor that requires a gradient is written in place; do it "
                            "under NoGradGuard, or "
                            "on a copy");
    }
    if (grad && target.impl()->isView) {
        throw AutogradError(
            std::string(op.name) +
            ": a view of a tensor is written in place while gradients are recorded, which would "
            "lose its base's gradient; write the base, or work on clone()");
    }
}

/// Runs shape rule, allocation and kernel. role: of the memory the outputs get.
void execute(const OpDef& op, const OpArgs& args, const OutputMetas& metas, MemoryRole role,
             Outputs& out) {
    out.count = metas.count;
    if (op.view) {
        out[0] = op.view(args);
        return;
    }
    const KernelFn kernel = op.kernels[static_cast<std::size_t>(DeviceKind::Cpu)];
    if (!kernel)
        throw Error(std::string(op.name) + ": there is no kernel for this operator on cpu");
    if (needsConversion(op, args, metas)) {
        executeConverted(op, kernel, args, metas, role, out);
        return;
    }
    if (op.inplace) {
        out[0] = args[0];
    } else {
        for (int i = 0; i < metas.count; ++i) {
            const TensorMeta& meta = metas.metas[static_cast<unsigned>(i)];
            out[i] = Tensor::empty(meta.sizes, meta.dtype, role);
        }
    }
    kernel(args, {out.tensors.data(), static_cast<std::size_t>(out.count)});
}

/// The thread's current call, for memory events and nested calls; restored however the call ends.
class CurrentOp {
public:
    CurrentOp(ThreadState& state, const OpCall* call) : m_state(state), m_saved(state.op) {
        state.op = call;
    }
    ~CurrentOp() { m_state.op = m_saved; }
    CurrentOp(const CurrentOp&) = delete;
    CurrentOp& operator=(const CurrentOp&) = delete;

private:
    ThreadState& m_state;
    const OpCall* m_saved;
};

template <class E>
[[noreturn]] void rethrowWithPlace(const E& error, const std::string& place) {
    throw E(error.what() + place);
}

/// Adds " (in module …, at …)" once, keeping the exception's type.
[[noreturn]] void rethrow(const std::string& place) {
    try {
        throw;
    } catch (const ShapeError& e) {
        rethrowWithPlace(e, place);
    } catch (const DTypeError& e) {
        rethrowWithPlace(e, place);
    } catch (const IndexError& e) {
        rethrowWithPlace(e, place);
    } catch (const InPlaceError& e) {
        rethrowWithPlace(e, place);
    } catch (const AutogradError& e) {
        rethrowWithPlace(e, place);
    } catch (const OutOfMemoryError& e) {
        rethrowWithPlace(e, place);
    } catch (const Error& e) {
        rethrowWithPlace(e, place);
    }
}

}  // namespace

const Tensor& undefinedTensor() {
    static const Tensor undefined;
    return undefined;
}

Outputs call(const OpDef& op, std::span<const Tensor* const> inputs, const Attrs& attrs,
             Site site) {
    ThreadState& state = threadState();
    Context& context = *state.context;
    if (state.backward) site = state.backward->site;  // a VJP's own lines are not the user's
    if (amp::autocastOn && !state.backward) {
        if (const amp::CastInputs cast(op, inputs, site); cast.any())
            return call(op, cast.span(), attrs, site);
    }
    const bool watched = context.watched();
    OpCall event;
    Outputs out;
    try {
        const PreparedInputs prepared(op, inputs, site);
        const OpArgs args{prepared.span(), attrs};
        const bool grad = needsGrad(op, args.inputs);
        if (op.inplace) checkInplace(op, args[0], grad);
        OutputMetas metas;
        op.infer(args, metas);

        const MemoryRole role = state.backward ? MemoryRole::Temporary
                                : grad         ? MemoryRole::Activation
                                               : MemoryRole::Temporary;
        // What an in-place operator overwrites may be needed by its own gradient; recorded, for
        // gradients of gradients.
        Tensor overwritten;
        if (op.inplace && grad && (op.saveInputs & 1U)) overwritten = clone(args[0], site);
        if (!watched) {
            execute(op, args, metas, role, out);
            if (op.inplace) args[0].storage()->noteWrite(&op, site);
            if (grad) recordNode(op, args, out, overwritten, 0, site);
            return out;
        }

        event.op = &op;
        event.id = context.nextOpId();
        event.parentId = state.backward ? state.backward->forwardId : state.op ? state.op->id : 0;
        event.inputs = args.inputs;
        event.attrs = &attrs;
        event.site = site;
        event.module = state.backward ? state.backward->module : state.module;
        event.backward = state.backward;
        event.phase = state.phase;
        event.step = context.step();
        event.thread = state.thread;
        for (Observer* o : context.observers()) o->onOpBegin(event);
        const CurrentOp current(state, &event);
        event.startNs = nowNs();
        execute(op, args, metas, role, out);
        event.endNs = nowNs();
        if (op.inplace) args[0].storage()->noteWrite(&op, site);
        if (grad) recordNode(op, args, out, overwritten, event.id, site);
        event.outputs = out.span();
        event.cost = costOf(op, args, event.outputs);
        for (Observer* o : context.observers()) o->onOpEnd(event);
        return out;
    } catch (const Error& error) {
        const ModuleFrame* module = state.backward ? state.backward->module : state.module;
        const std::string place =
            placeSuffix(module ? std::string_view(module->path) : std::string_view(), site);
        // A nested conversion has already reported and placed its error.
        if (!place.empty() && std::string_view(error.what()).ends_with(place)) throw;
        if (watched) {
            event.op = &op;
            if (event.id == 0) event.id = context.nextOpId();
            event.inputs = inputs;
            event.attrs = &attrs;
            event.outputs = {};
            event.site = site;
            event.module = module;
            event.backward = state.backward;
            event.phase = state.phase;
            event.step = context.step();
            event.thread = state.thread;
            const std::string message = error.what() + place;
            for (Observer* o : context.observers()) o->onOpError(event, message);
        }
        rethrow(place);
    }
}

Outputs call(std::string_view name, std::span<const Tensor* const> inputs, const Attrs& attrs,
             Site site) {
    const OpDef* op = OpTable::instance().find(name);
    if (!op) {
        std::vector<std::string> names;
        for (const OpDef* row : OpTable::instance().rows()) names.emplace_back(row->name);
        throw Error("there is no operator named " + std::string(name) + didYouMean(name, names));
    }
    return call(*op, inputs, completeAttrs(*op, attrs), site);
}

}  // namespace tapescope::engine
