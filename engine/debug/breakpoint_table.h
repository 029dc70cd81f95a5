// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/debug/debugger.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

namespace tapescope::engine::debug {

/// A breakpoint with its hit counter. The counter outlives a replacement of the definition;
/// definitions never change.
struct BreakpointEntry {
    Breakpoint definition;
    std::shared_ptr<std::atomic<int>> hits;
};

/// All breakpoints at one moment; immutable, shared by the control side (which makes new ones) and
/// the model's thread.
struct BreakpointTable {
    std::vector<BreakpointEntry> entries;
    bool anyEnabled = false;
    bool lines = false;  ///< an enabled one is a Line
};

using Matches = std::vector<const BreakpointEntry*>;

/// Which entries of a table match a place, remembered by the place's addresses: the glob and path
/// comparisons run once a place, a call costs one look at a direct-mapped slot. Model's thread
/// only.
class MatchCache final {
public:
    /// An operator call, module entry or backward node: the pointers that tell it from others.
    struct Key {
        const void* what = nullptr;  ///< OpDef, or null for a module entry
        const ModuleFrame* module = nullptr;
        const char* file = nullptr;
        std::uint32_t line = 0;
        friend bool operator==(const Key&, const Key&) = default;
    };

    /// compute() returns the Matches of a place seen for the first time.
    template <class Compute>
    const Matches& find(const Key& key, Compute&& compute) {
        Slot& slot = m_slots[hash(key) % kSlots];
        if (slot.matches && slot.key == key) return *slot.matches;
        auto [at, isNew] = m_all.try_emplace(key);
        if (isNew) at->second = compute();
        slot = {key, &at->second};
        return at->second;
    }
    void clear() {
        m_slots.fill({});
        m_all.clear();
    }

private:
    static constexpr std::size_t kSlots = 256;  // a step of a middling CNN has about 200 places
    static std::size_t hash(const Key& key) {
        const auto what = reinterpret_cast<std::uintptr_t>(key.what);
        const auto module = reinterpret_cast<std::uintptr_t>(key.module);
        return static_cast<std::size_t>((what >> 4U) ^ (module >> 5U) * 31U ^ key.line * 7U);
    }
    struct Hash {
        std::size_t operator()(const Key& key) const { return hash(key); }
    };
    struct Slot {
        Key key;
        const Matches* matches = nullptr;
    };
    std::array<Slot, kSlots> m_slots{};
    std::unordered_map<Key, Matches, Hash> m_all;
};

/// Merges the operators and module calls of one source line into one pass, so that `relu(conv1(x))`
/// is one hit of a line breakpoint. A new pass begins when another line ran in between or a call of
/// the pass repeats (a loop).
class LinePass final {
public:
    /// scope: the module in whose forward the line stands. True if this call begins a pass over its
    /// line.
    bool enter(const ModuleFrame* scope, const Site& site, const void* callee);
    void reset() { m_callees.clear(); }

private:
    const ModuleFrame* m_scope = nullptr;
    Site m_site = Site::none();
    std::vector<const void*> m_callees;
};

/// The module whose forward holds the line `site`, for a call seen inside `module`: library layers
/// pass their own call's site on to their operators, so the line belongs to whoever called them.
const ModuleFrame* lineScope(const ModuleFrame* module, const Site& site);

}  // namespace tapescope::engine::debug
