// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <dnnl.hpp>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace tapescope::engine::cpu {

/// The process's CPU engine of oneDNN; never destroyed.
const dnnl::engine& oneDnnEngine();

/// One oneDNN primitive with the reorders between our dense layout and the one it likes best, ready
/// to run on any data. For one thread; see PlanCache.
class OneDnnPlan final {
public:
    struct Operand {
        int arg = 0;              ///< DNNL_ARG_SRC, …
        dnnl::memory::desc ours;  ///< dense
        dnnl::memory::desc theirs;
        bool output = false;
    };
    OneDnnPlan(dnnl::primitive primitive, const dnnl::memory::desc& scratchpad,
               std::span<const Operand> operands);

    /// data[i] belongs to operand i. Waits for the result. Workspace comes from the current
    /// Context's allocator.
    void run(std::span<void* const> data);

private:
    struct Bound {
        bool output = false;
        std::size_t offset = 0;  ///< of their layout in the workspace
        std::optional<dnnl::reorder> convert;
        dnnl::memory ours;
        dnnl::memory theirs;
    };
    dnnl::primitive m_primitive;
    dnnl::stream m_stream;
    dnnl::memory m_scratchpad;
    std::size_t m_scratchpadOffset = 0;
    std::size_t m_workspaceBytes = 0;
    std::vector<Bound> m_operands;
    std::unordered_map<int, dnnl::memory> m_args;
};

/// What tells two plans apart.
struct PlanKey {
    std::array<std::int64_t, 24> values{};
    friend bool operator==(const PlanKey&, const PlanKey&) = default;
};
struct PlanKeyHash {
    std::size_t operator()(const PlanKey& key) const noexcept;
};

/// This thread's plans: creating one takes 0.2 ms, finding one 0.1 us. A null plan: oneDNN has no
/// kernel for the key.
class PlanCache final {
public:
    static PlanCache& ofThisThread();
    /// The plan of key, made by make() if there is none yet; null if make() threw dnnl::error.
    template <class Make>
    OneDnnPlan* find(const PlanKey& key, const Make& make) {
        if (const auto it = m_plans.find(key); it != m_plans.end()) return it->second.get();
        if (m_plans.size() >= kMaxPlans) m_plans.clear();
        std::unique_ptr<OneDnnPlan> plan;
        try {
            plan = make();
        } catch (const dnnl::error&) {
            // Unimplemented for these sizes; the caller has loops of its own.
        }
        return m_plans.emplace(key, std::move(plan)).first->second.get();
    }

private:
    static constexpr std::size_t kMaxPlans = 512;
    std::unordered_map<PlanKey, std::unique_ptr<OneDnnPlan>, PlanKeyHash> m_plans;
};

}  // namespace tapescope::engine::cpu
