// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/module.h"

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

/// Holds children by name for a model that calls them itself; forward throws Error.
///   ModuleDict heads({{"class", make<Linear>(64, 10)}, {"box", make<Linear>(64, 4)}});
class ModuleDict final : public Module {
public:
    using Entry = std::pair<std::string, std::shared_ptr<Module>>;
    explicit ModuleDict(std::initializer_list<Entry> entries = {});
    /// Throws Error if the name is taken.
    void insert(const std::string& name, std::shared_ptr<Module> module);
    std::size_t size() const { return children().size(); }
    bool contains(std::string_view name) const { return find(name) != nullptr && !name.empty(); }
    std::vector<std::string> keys() const;
    /// Throws Error with the nearest names.
    Module& operator[](const std::string& name) const;
    Tensor forward(const Tensor& x) override;
    std::string details() const override;
};

/// Parameters for a model that uses them itself, named "0", "1", …; forward throws Error.
class ParameterList final : public Module {
public:
    explicit ParameterList(const std::vector<Tensor>& parameters = {});
    /// Throws Error for an undefined tensor, one that is not floating or not a leaf.
    void append(const Tensor& parameter);
    std::size_t size() const { return m_list.size(); }
    /// Throws IndexError.
    const Tensor& operator[](std::size_t index) const;
    auto begin() const { return m_list.begin(); }
    auto end() const { return m_list.end(); }
    Tensor forward(const Tensor& x) override;
    std::string details() const override;

private:
    std::vector<Tensor> m_list;
};

}  // namespace tapescope::engine::nn
