// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/memory/allocator.h"
#include "engine/observe/site.h"
#include "engine/tensor/ref.h"

#include <atomic>
#include <cstdint>

namespace tapescope::engine {

struct OpDef;

/// Refcounted memory shared by a tensor and its views, with the version counter that autograd
/// checks.
class Storage final : public RefCounted {
public:
    /// From the current context's allocator. Throws OutOfMemoryError.
    static Ref<Storage> create(std::size_t sizeBytes, MemoryRole role = MemoryRole::Unknown);
    static void destroy(Storage* storage) noexcept;

    void* data() const noexcept { return m_block.data; }
    std::size_t sizeBytes() const noexcept { return m_sizeBytes; }
    std::size_t blockBytes() const noexcept { return m_block.sizeBytes; }
    Device device() const noexcept { return m_allocator->options().device; }

    std::uint32_t version() const noexcept { return m_version.load(std::memory_order_relaxed); }
    /// Every in-place write bumps the version and leaves its name, so that an error can show the
    /// culprit.
    void noteWrite(const OpDef* writer, Site site) noexcept {
        // Writers of one storage take turns; readers of the version may be anywhere.
        m_version.store(m_version.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        m_lastWriter = writer;
        m_lastWriteSite = site;
    }
    const OpDef* lastWriter() const noexcept { return m_lastWriter; }
    Site lastWriteSite() const noexcept { return m_lastWriteSite; }

    MemoryRole role() const noexcept { return m_role; }
    /// Tells observers when the role changes.
    void setRole(MemoryRole role);

private:
    Storage() = default;
    ~Storage() = default;

    CachingAllocator* m_allocator = nullptr;
    CachingAllocator::Block m_block;
    std::size_t m_sizeBytes = 0;
    std::atomic<std::uint32_t> m_version{0};
    MemoryRole m_role = MemoryRole::Unknown;
    const OpDef* m_lastWriter = nullptr;
    Site m_lastWriteSite = Site::none();
};

}  // namespace tapescope::engine
