// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/module.h"

#include <memory>

namespace tapescope::engine::nn {

/// A layer for a container: nn::make<nn::Linear>(64, 10).
template <class M, class... Args>
std::shared_ptr<M> make(Args&&... args) {
    return std::make_shared<M>(std::forward<Args>(args)...);
}

/// Calls its children one after the other. They are named "0", "1", …
///   Sequential net(make<Linear>(64, 128), make<ReLU>(), make<Linear>(128, 10));
class Sequential final : public Module {
public:
    template <class... M>
    explicit Sequential(std::shared_ptr<M>... modules) : Module("Sequential") {
        (push_back(std::move(modules)), ...);
    }
    void push_back(std::shared_ptr<Module> module);
    std::size_t size() const { return children().size(); }
    /// Throws IndexError.
    Module& operator[](std::size_t index) const;
    Tensor forward(const Tensor& x) override;
    std::string details() const override;
};

/// Holds children for a model that calls them itself. They are named "0", "1", …; forward throws
/// Error.
class ModuleList final : public Module {
public:
    template <class... M>
    explicit ModuleList(std::shared_ptr<M>... modules) : Module("ModuleList") {
        (push_back(std::move(modules)), ...);
    }
    void push_back(std::shared_ptr<Module> module);
    std::size_t size() const { return children().size(); }
    /// Throws IndexError.
    Module& operator[](std::size_t index) const;
    auto begin() const { return children().begin(); }
    auto end() const { return children().end(); }
    Tensor forward(const Tensor& x) override;
    std::string details() const override;
};

}  // namespace tapescope::engine::nn
