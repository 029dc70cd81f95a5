// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/dispatch.h"

#include "engine/amp/cast_inputs.h"
#include "engine/autograd/checkpoint.h"
#include "engine/autograd/node.h"
#include "engine/autograd/view_info.h"
#include "engine/cpu/copy.h"
#include "engine/errors.h"
#include "engine/observe/context.h"
#include "engine/ops/checks.h"
#include "engine/ops/convert_call.h"
#include "engine/ops/linalg_error.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"
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
        convert(op, given, site);
        if (op.inplace && op.saveInputs > 1U) keepShared(op, site);
    }

    std::span<const Tensor* const> span() const { return m_inputs; }

private:
    void convert(const OpDef& op, std::span<const Tensor* const> given, Site site) {
        if (isSimple(op, given)) return;
        checkArity(op, given);
        if (op.types == TypeRule::AsIs) return;
        const std::size_t from = static_cast<std::size_t>(op.typesFrom);
        if (op.types == TypeRule::Floating || op.types == TypeRule::FloatingOrComplex) {
            for (std::size_t i = from; i < given.size(); ++i) requireFloating(op, i);
            return;
        }
        if (op.types == TypeRule::PromoteNumbers) {
            for (std::size_t i = from; i < given.size(); ++i) refuseBool(op, i);
        }
        const DType target = op.inplace ? inplaceType(op) : commonType(op, from);
        for (std::size_t i = from; i < given.size(); ++i) {
            const Tensor& t = *given[i];
            if (!t.defined()) continue;
            // A real number of the very dtype becomes a tensor too: backward may calculate with it,
            // and numbers among themselves meet in float32.
            const bool wrapped = t.impl()->wrappedNumber;
            if (t.dtype() == target && !(wrapped && isFloating(target))) continue;
            const bool wide = op.wideNumber && i == 1 && t.dim() == 0 && isReducedFloating(target);
            const DType own = wide ? DType::F32 : target;
            if (t.dtype() == own && !wrapped) continue;
            // A number in an expression is converted on the spot: an operator call would only be
            // noise.
            replace(i, wrapped ? number(t, own) : to(t, own, site));
        }
    }

    /// An input that backward reads must not be overwritten by the operator itself (mul_(x, x)): it
    /// gets the values in memory of their own, by an operator that gradients flow through.
    void keepShared(const OpDef& op, Site site) {
        if (!m_inputs[0]->defined() || !needsGrad(op, m_inputs)) return;
        for (std::size_t i = 1; i < m_inputs.size(); ++i) {
            const Tensor& t = *m_inputs[i];
            if (t.defined() && (op.saveInputs >> i & 1U) && t.storage() == m_inputs[0]->storage())
                replace(i, clone(t, site));
        }
    }

    /// True where nothing can be missing and nothing is to be converted: every argument is there,
    /// of one dtype, and none is a bare number.
    static bool isSimple(const OpDef& op, std::span<const Tensor* const> given) {
        if (given.size() != op.args.size() || given.empty()) return false;
        const TensorImpl* first = given[0]->impl();
        if (!first) return false;
        const DType dtype = first->dtype;
        bool same = !first->wrappedNumber;
        for (std::size_t i = 1; i < given.size(); ++i) {
            const TensorImpl* impl = given[i]->impl();
            if (!impl) return false;
            same = same && impl->dtype == dtype && !impl->wrappedNumber;
        }
        switch (op.types) {
            case TypeRule::AsIs:
                return true;
            case TypeRule::Promote:
            case TypeRule::PromoteNumbers:
                return same;
            case TypeRule::PromoteFloat:
            case TypeRule::FloatingOrComplex:
            case TypeRule::Floating:
                break;
        }
        return same &&
               (op.types == TypeRule::Floating ? isFloating(dtype) : isDifferentiable(dtype));
    }

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
        const bool complex =
            op.types == TypeRule::FloatingOrComplex && t.defined() && isComplex(t.dtype());
        if (t.defined() && !isFloating(t.dtype()) && !complex) {
            throw DTypeError(
                std::string(op.name) + ": " +
                std::string(op.args[std::min(i, op.args.size() - 1)].name) + " is " +
                std::string(dtypeName(t.dtype())) +
                ", a floating-point tensor is needed; convert it with to(x, DType::F32)");
        }
    }

    void refuseBool(const OpDef& op, std::size_t i) const {
        const Tensor& t = *m_inputs[i];
        if (t.defined() && t.dtype() == DType::Bool)
            throw DTypeError(std::string(op.name) + ": " + std::string(op.args[i].name) +
                             " is a bool tensor, which cannot be used; convert it with to(x, "
                             "DType::I64), or use logical_xor or logical_not");
    }

    DType promote(const OpDef& op, std::size_t from) const { return promoted(op, m_inputs, from); }

public:
    /// PyTorch's rule: tensors with dimensions decide; 0-d tensors and then numbers only raise the
    /// category.
    static DType promoted(const OpDef& op, std::span<const Tensor* const> inputs,
                          std::size_t from) {
        DType byRank[3] = {DType::Bool, DType::Bool,
                           DType::Bool};  // dimensioned, 0-d, wrapped numbers
        bool seen[3] = {false, false, false};
        bool doubles[3] = {false, false, false};
        for (std::size_t i = from; i < inputs.size(); ++i) {
            const Tensor& t = *inputs[i];
            if (!t.defined()) continue;
            const int k = t.impl()->wrappedNumber ? 2 : t.dim() == 0 ? 1 : 0;
            byRank[k] = promoteTypes(byRank[k], t.dtype());
            seen[k] = true;
            doubles[k] = doubles[k] || t.dtype() == DType::F64;
        }
        DType result = DType::Bool;
        bool any = false;
        for (int k = 0; k < 3; ++k) {
            if (!seen[k]) continue;
            // A Python-like number of a higher category brings the default float, not its own
            // double.
            const DType candidate = k == 2 && isFloating(byRank[k]) ? DType::F32 : byRank[k];
            const bool meetsDouble = (k < 2 && doubles[k]) || (any && result == DType::F64);
            const bool decided = op.inplace || (any && isComplex(result));
            // Only a number's category counts: beside 16-bit floats it gives complex32.
            if (isComplex(candidate) && any && isReducedFloating(result) && !decided)
                throw DTypeError(message(op.name, ": ", result,
                                         " and a complex number would give complex32, which there "
                                         "is not; convert the ",
                                         result, " tensor with to(x, DType::F32)"));
            if (isComplex(candidate) && meetsDouble && !decided)
                throw DTypeError(std::string(op.name) +
                                 ": float64 and complex64 would give complex128, which there is "
                                 "not; convert the float64 tensor with to(x, DType::F32)");
            if (!any || categoryOf(candidate) > categoryOf(result)) result = candidate;
            any = true;
        }
        return result;
    }

private:
    DType commonType(const OpDef& op, std::size_t from) const {
        const DType common = promote(op, from);
        return op.types == TypeRule::PromoteFloat && !isDifferentiable(common) ? DType::F32
                                                                               : common;
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
    if (target.impl()->inference && !threadState().inference) {
        throw AutogradError(std::string(op.name) +
                            ": a tensor made in inference mode is written in place outside it; "
                            "make a clone() to get a normal tensor");
    }
    if (!grad_enabled()) return;
    if (target.requires_grad() && target.is_leaf()) {
        throw AutogradError(std::string(op.name) +
                            ": a leaf tensor that requires a gradient is written in place; do it "
                            "under NoGradGuard, or "
                            "on a copy");
    }
    if (target.impl()->viewKind != ViewKind::None) checkViewWrite(op, target, grad);
}

/// Runs shape rule, allocation and kernel. role: of the memory the outputs get.
void execute(const OpDef& op, const OpArgs& args, const OutputMetas& metas, MemoryRole role,
             Outputs& out) {
    if (op.view) {
        out.count = 1;
        out[0] = op.view(args);
        noteView(op, args, out[0]);
        return;
    }
    out.count = metas.count;
    const KernelFn kernel = op.kernels[static_cast<std::size_t>(DeviceKind::Cpu)];
    if (!kernel)
        throw Error(std::string(op.name) + ": there is no kernel for this operator on cpu");
    if (needsConversion(op, args, metas)) {
        executeConverted(op, kernel, args, metas, role, out);
        return;
    }
    if (op.inplace) {
        out[0] = args[0];
    } else if (metas.dynamic) {
        kernel(args, {out.tensors.data(), static_cast<std::size_t>(out.count)});
        for (int i = 0; i < out.count; ++i) out[i].set_role(role);
        return;
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

}  // namespace

const Tensor& undefinedTensor() {
    static const Tensor undefined;
    return undefined;
}

namespace {

/// What is the same for a call with and without observers.
class Call {
public:
    Call(const OpDef& op, std::span<const Tensor* const> inputs, const Attrs& attrs,
         const Site& site)
        : m_op(op), m_site(site), m_prepared(op, inputs, site), args{m_prepared.span(), attrs} {
        m_grad = needsGrad(op, args.inputs);
        if (op.inplace) checkInplace(op, args[0], m_grad);
        if (!op.view) op.infer(args, m_metas);  // a view finds its sizes and strides at once
        // What an in-place operator overwrites may be needed by its own gradient; recorded, for
        // gradients of gradients.
        if (op.inplace && m_grad && (op.saveInputs & 1U)) m_overwritten = clone(args[0], site);
    }
    void run(const ThreadState& state, Outputs& out) {
        const MemoryRole role =
            m_grad && !inGradient(state) ? MemoryRole::Activation : MemoryRole::Temporary;
        execute(m_op, args, m_metas, role, out);
    }
    void record(std::uint64_t forwardId, Outputs& out) {
        if (m_op.inplace) args[0].storage()->noteWrite(&m_op, m_site);
        if (m_grad) recordNode(m_op, args, out, m_overwritten, forwardId, m_site);
    }

private:
    const OpDef& m_op;
    const Site& m_site;
    const PreparedInputs m_prepared;
    bool m_grad = false;
    OutputMetas m_metas;
    Tensor m_overwritten;

public:
    const OpArgs args;
};

OpCall eventOf(const OpDef& op, std::span<const Tensor* const> inputs, const Attrs& attrs,
               const Site& site, const ThreadState& state) {
    OpCall event;
    event.op = &op;
    event.id = state.context->nextOpId();
    const bool gradient = inGradient(state);
    event.parentId = gradient ? state.backward->forwardId : state.op ? state.op->id : 0;
    event.inputs = inputs;
    event.attrs = &attrs;
    event.site = site;
    event.module = gradient ? state.backward->module : state.module;
    event.backward = state.backward;
    event.phase = state.phase;
    event.step = state.context->step();
    event.thread = state.thread;
    return event;
}

/// Ends a call that threw: its place is added to the message, and observers hear of it.
[[noreturn, gnu::cold]] void fail(const Error& error, const ThreadState& state, const Site& site,
                                  const OpCall* event) {
    const ModuleFrame* module = inGradient(state) ? state.backward->module : state.module;
    const std::string place =
        placeSuffix(module ? std::string_view(module->path) : std::string_view(), site);
    // A nested conversion has already reported and placed its error.
    if (place.empty() ? event == nullptr : std::string_view(error.what()).ends_with(place)) throw;
    if (event) {
        const std::string message = error.what() + place;
        for (Observer* o : state.context->observers()) o->onOpError(*event, message);
    }
    error.raiseWith(place);
}

Outputs callWatched(const OpDef& op, std::span<const Tensor* const> inputs, const Attrs& attrs,
                    const Site& site, ThreadState& state) {
    Context& context = *state.context;
    Outputs out;
    OpCall event;
    try {
        Call call(op, inputs, attrs, site);
        event = eventOf(op, call.args.inputs, attrs, site, state);
        for (Observer* o : context.observers()) o->onOpBegin(event);
        const CurrentOp current(state, &event);
        event.startNs = nowNs();
        call.run(state, out);
        event.endNs = nowNs();
        bool stop = false;
        try {
            call.record(event.id, out);
        } catch (const RecomputationDone&) {  // the operator itself has run: it is told to its end
            stop = true;
        }
        event.outputs = out.span();
        event.cost = costOf(op, call.args, event.outputs);
        for (Observer* o : context.observers()) o->onOpEnd(event);
        if (stop) throw RecomputationDone{};
        return out;
    } catch (const Error& error) {
        const std::uint64_t id = event.id;
        event = eventOf(op, inputs, attrs, site, state);
        if (id != 0) event.id = id;
        fail(error, state, site, &event);
    }
}

/// An operator made of others: those are what runs, and what observers hear of.
Outputs callComposite(const OpDef& op, std::span<const Tensor* const> inputs, const Attrs& attrs,
                      const Site& site, const ThreadState& state) {
    Outputs out;
    try {
        const PreparedInputs prepared(op, inputs, site);
        op.composite({prepared.span(), attrs}, site, out);
    } catch (const Error& error) {
        fail(error, state, site, nullptr);
    }
    return out;
}

/// The operator that gives what the in-place one writes.
const OpDef* plainOf(const OpDef& op) {
    return OpTable::instance().find(op.name.substr(0, op.name.size() - 1));
}

/// Whether an in-place operator's operands meet in another dtype of the target's category (uint8
/// and int8, float32 and float64).
bool meetsElsewhere(const OpDef& op, std::span<const Tensor* const> inputs) {
    if (op.types != TypeRule::Promote && op.types != TypeRule::PromoteFloat &&
        op.types != TypeRule::PromoteNumbers)
        return false;
    if (inputs.size() < 2 || inputs.size() != op.args.size() || !inputs[0]->defined()) return false;
    const DType target = inputs[0]->dtype();
    const auto differs = [&](const Tensor* t) {
        return t->defined() && t->dtype() != target && !t->impl()->wrappedNumber;
    };
    if (std::none_of(inputs.begin() + 1, inputs.end(), differs)) return false;
    const DType common = PreparedInputs::promoted(op, inputs, 0);
    if (op.types == TypeRule::PromoteFloat && !isFloating(common)) return false;
    return common != target && categoryOf(common) == categoryOf(target) && plainOf(op) != nullptr;
}

/// As PyTorch: calculated in the dtype where the operands meet, and rounded to the target's at the
/// end.
Outputs callInCommonType(const OpDef& op, std::span<const Tensor* const> inputs, const Attrs& attrs,
                         const Site& site) {
    if (grad_enabled() && inputs[0]->requires_grad() && inputs[0]->is_leaf())
        checkInplace(op, *inputs[0], true);
    const Tensor result = std::move(call(*plainOf(op), inputs, attrs, site)[0]);
    const Tensor* both[] = {inputs[0], &result};
    return call(*OpTable::instance().find("copy_"), both, {}, site);
}

}  // namespace

void rethrowPlaced(Site site) {
    const ThreadState& state = threadState();
    if (inGradient(state)) site = state.backward->site;
    try {
        throw;
    } catch (const Error& error) {
        fail(error, state, site, nullptr);
    }
}

Outputs call(const OpDef& op, std::span<const Tensor* const> inputs, const Attrs& attrs,
             Site site) {
    ThreadState& state = threadState();
    const bool gradient = inGradient(state);
    if (gradient) site = state.backward->site;  // a VJP's own lines are not the user's
    if (amp::autocastOn && !gradient) [[unlikely]] {
        if (const amp::CastInputs cast(op, inputs, site); cast.any())
            return call(op, cast.span(), attrs, site);
    }
    if (op.inplace && meetsElsewhere(op, inputs)) [[unlikely]]
        return callInCommonType(op, inputs, attrs, site);
    if (op.composite) return callComposite(op, inputs, attrs, site, state);
    if (state.context->watched()) return callWatched(op, inputs, attrs, site, state);
    Outputs out;
    try {
        Call call(op, inputs, attrs, site);
        call.run(state, out);
        call.record(0, out);
    } catch (const Error& error) {
        fail(error, state, site, nullptr);
    }
    return out;
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
