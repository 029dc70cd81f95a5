// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/buffer_pool.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace tapescope::profiler::cupti {
namespace {

constexpr std::size_t kAlignment = 64;  // CUPTI asks for 8; a cache line costs nothing

}  // namespace

BufferPool::~BufferPool() {
    for (std::uint8_t* p : m_free) std::free(p);
    for (const Full& f : m_full) std::free(f.data);
}

std::uint8_t* BufferPool::allocate() const {
    const std::size_t size = (m_bufferBytes + kAlignment - 1) / kAlignment * kAlignment;
    return static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, size));
}

std::uint8_t* BufferPool::request(std::size_t& size) {
    const std::lock_guard lock(m_mutex);
    ++m_stats.requests;
    size = m_bufferBytes;
    if (!m_free.empty()) {
        std::uint8_t* p = m_free.back();
        m_free.pop_back();
        ++m_stats.out;
        return p;
    }
    if (m_stats.allocated < m_maxBuffers) {
        if (std::uint8_t* p = allocate()) {
            ++m_stats.allocated;
            ++m_stats.out;
            return p;
        }
    }
    ++m_stats.declined;
    std::uint8_t* p = m_mayDecline ? nullptr : allocate();
    if (p == nullptr) {
        size = 0;
        return nullptr;
    }
    m_overLimit.push_back(p);
    ++m_stats.out;
    return p;
}

void BufferPool::complete(std::uint8_t* buffer, std::size_t validBytes) {
    {
        const std::lock_guard lock(m_mutex);
        --m_stats.out;
        const auto over = std::ranges::find(m_overLimit, buffer);
        const bool discard = over != m_overLimit.end();
        if (discard) {
            *over = m_overLimit.back();
            m_overLimit.pop_back();
        }
        if (m_closed) {
            if (discard) {
                std::free(buffer);
            } else {
                m_free.push_back(buffer);
            }
            return;
        }
        // Never more than CUPTI could have filled.
        m_full.push_back({buffer, std::min(validBytes, m_bufferBytes), discard});
    }
    m_changed.notify_one();
}

std::deque<BufferPool::Full> BufferPool::take(std::chrono::milliseconds timeout) {
    std::unique_lock lock(m_mutex);
    m_changed.wait_for(lock, timeout, [this] { return !m_full.empty() || m_woken; });
    m_woken = false;
    return std::exchange(m_full, {});
}

void BufferPool::giveBack(const Full& buffer) {
    if (buffer.discard) {
        std::free(buffer.data);
        return;
    }
    const std::lock_guard lock(m_mutex);
    m_free.push_back(buffer.data);
}

void BufferPool::wake() {
    {
        const std::lock_guard lock(m_mutex);
        m_woken = true;
    }
    m_changed.notify_one();
}

void BufferPool::close() {
    const std::lock_guard lock(m_mutex);
    m_closed = true;
}

BufferPool::Stats BufferPool::stats() const {
    const std::lock_guard lock(m_mutex);
    return m_stats;
}

}  // namespace tapescope::profiler::cupti
