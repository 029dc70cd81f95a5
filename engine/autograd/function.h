// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/autograd/saved_tensor.h"
#include "engine/ops/op_def.h"

#include <any>
#include <concepts>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace tapescope::engine {

class FunctionNode;

/// What a custom function's forward leaves for its backward.
class FunctionContext {
public:
    /// Inputs and outputs only through here: they are version-checked, and an output kept elsewhere
    /// would hold itself. Once, in forward.
    void save_for_backward(std::vector<Tensor> tensors) { m_toSave = std::move(tensors); }
    /// In backward. Throws InPlaceError where one was overwritten, AutogradError once they are
    /// freed.
    std::vector<Tensor> saved_tensors() const;
    /// Whatever else backward wants to know.
    std::map<std::string, std::any> saved_data;

    /// Inputs that forward wrote in place; each must be returned.
    void mark_dirty(std::vector<Tensor> inputs) { m_dirty = std::move(inputs); }
    /// Outputs that have no gradient.
    void mark_non_differentiable(std::vector<Tensor> outputs) {
        m_nonDifferentiable = std::move(outputs);
    }
    /// True (the default): backward gets zeros where no gradient arrived, not an undefined tensor.
    void set_materialize_grads(bool on) { m_materialize = on; }
    /// Whether argument i of apply() wants a gradient; false for one that is no tensor.
    bool needs_input_grad(std::size_t argument) const {
        return argument < m_needs.size() && m_needs[argument];
    }

private:
    friend class FunctionNode;
    std::vector<Tensor> m_toSave, m_dirty, m_nonDifferentiable;
    std::vector<bool> m_needs;
    bool m_materialize = true;
    FunctionNode* m_node = nullptr;
};

namespace detail {

/// A custom function without its types.
struct FunctionDef {
    using Backward = std::vector<Tensor> (*)(FunctionContext&, std::vector<Tensor>);
    OpDef op;
    Backward backward = nullptr;
    bool onceDifferentiable = false;
};
using FunctionForward = std::function<std::vector<Tensor>(FunctionContext&)>;
/// arguments: one for every argument of apply, null where it is no tensor.
std::vector<Tensor> applyFunction(const FunctionDef& def, std::vector<const Tensor*> arguments,
                                  const FunctionForward& forward, Site site);
FunctionDef defineFunction(std::string_view name, FunctionDef::Backward backward, bool once);
/// "MyFunction" of a type's full name; lives as long as the program.
std::string_view shortTypeName(const char* mangled);

inline const Tensor* asTensor(const Tensor& t) { return &t; }
template <class T>
const Tensor* asTensor(const T&) {
    return nullptr;
}

}  // namespace detail

/// A tensor with the place where it is passed.
struct SitedTensor {
    const Tensor& tensor;
    Site site;
    SitedTensor(const Tensor& t, Site s = {})  // NOLINT(google-explicit-constructor)
        : tensor(t), site(s) {}
};

/// torch::autograd::Function: an operator with a gradient of its own.
///   struct Scale : Function<Scale> {
///       static Tensor forward(FunctionContext& ctx, const Tensor& x, double by);
///       static std::vector<Tensor> backward(FunctionContext& ctx, std::vector<Tensor> grads);
///   };
///   Tensor y = Scale::apply(x, 2.0);
/// The first argument of forward is a tensor; it returns a Tensor or several. Operators inside it
/// are not recorded. backward returns one gradient for every argument, undefined for those that are
/// no tensors or need none. Optional members: `static constexpr std::string_view name` (else the
/// type's), `static constexpr bool once_differentiable = true` (a second derivative is refused).
/// Observers see one operator of that name that holds those inside, and its backward.
template <class F>
struct Function {
    template <class... Rest>
    static auto apply(SitedTensor first, const Rest&... rest) {
        using Result =
            decltype(F::forward(std::declval<FunctionContext&>(), first.tensor, rest...));
        static const detail::FunctionDef def = define();
        std::vector<Tensor> outputs = detail::applyFunction(
            def, {&first.tensor, detail::asTensor(rest)...},
            [&](FunctionContext& ctx) {
                if constexpr (std::is_same_v<Result, Tensor>) {
                    return std::vector<Tensor>{F::forward(ctx, first.tensor, rest...)};
                } else {
                    return F::forward(ctx, first.tensor, rest...);
                }
            },
            first.site);
        if constexpr (std::is_same_v<Result, Tensor>) {
            return std::move(outputs[0]);
        } else {
            return outputs;
        }
    }

private:
    static detail::FunctionDef define() {
        std::string_view name;
        if constexpr (requires { F::name; }) {
            name = F::name;
        } else {
            name = detail::shortTypeName(typeid(F).name());
        }
        bool once = false;
        if constexpr (requires { F::once_differentiable; }) once = F::once_differentiable;
        return detail::defineFunction(
            name,
            [](FunctionContext& ctx, std::vector<Tensor> grads) {
                return F::backward(ctx, std::move(grads));
            },
            once);
    }
};

}  // namespace tapescope::engine
