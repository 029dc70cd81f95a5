// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tapescope::profiler {

/// Open-addressing map from non-zero integers that is emptied in O(1), as every training step does.
/// A lookup costs a multiplication and usually one cache line; std::unordered_map allocates each
/// entry.
template <class Value>
class StepMap {
public:
    StepMap() : m_slots(kFirstSize) {}

    /// Null if there is none. Valid until the next insertion.
    Value* find(std::uint64_t key) {
        for (std::size_t i = indexOf(key);; i = (i + 1) & mask()) {
            Slot& slot = m_slots[i];
            if (slot.epoch != m_epoch) return nullptr;
            if (slot.key == key) return &slot.value;
        }
    }
    /// Inserts or replaces.
    void set(std::uint64_t key, Value value) {
        if (2 * m_count >= m_slots.size()) grow();
        for (std::size_t i = indexOf(key);; i = (i + 1) & mask()) {
            Slot& slot = m_slots[i];
            if (slot.epoch == m_epoch && slot.key != key) continue;
            if (slot.epoch != m_epoch) ++m_count;
            slot = {key, m_epoch, value};
            return;
        }
    }
    void clear() {
        ++m_epoch;
        m_count = 0;
    }
    std::size_t size() const { return m_count; }

private:
    struct Slot {
        std::uint64_t key = 0;
        std::uint64_t epoch = 0;  ///< the slot is taken if this is the map's
        Value value{};
    };
    static constexpr std::size_t kFirstSize = 256;

    std::size_t mask() const { return m_slots.size() - 1; }
    std::size_t indexOf(std::uint64_t key) const {
        // Fibonacci hashing: ids and addresses are regular, their high product bits are not.
        return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15U) >> 32U) & mask();
    }
    void grow() {
        std::vector<Slot> old(2 * m_slots.size());
        old.swap(m_slots);
        m_count = 0;
        for (const Slot& slot : old) {
            if (slot.epoch == m_epoch) set(slot.key, slot.value);
        }
    }

    std::vector<Slot> m_slots;
    std::uint64_t m_epoch = 1;
    std::size_t m_count = 0;
};

}  // namespace tapescope::profiler
