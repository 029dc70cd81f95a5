// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

namespace tapescope::profiler::cupti {

/// Buffers lent to CUPTI. request() and complete() run on the program's own threads, inside CUDA
/// calls, and on CUPTI's: they take one short lock. No CUPTI call is ever made under it, because
/// CUPTI calls us while it holds its own.
class BufferPool final {
public:
    struct Full {
        std::uint8_t* data = nullptr;
        std::size_t validBytes = 0;
        bool discard = false;  ///< beyond the limit: only to be counted
    };
    /// mayDecline: CUPTI before 12.9 crashes when it is given no buffer; it then gets one whose
    /// records are thrown away.
    BufferPool(std::size_t bufferBytes, std::size_t maxBuffers, bool mayDecline)
        : m_bufferBytes(bufferBytes), m_maxBuffers(maxBuffers), m_mayDecline(mayDecline) {}
    ~BufferPool();
    BufferPool(const BufferPool&) = delete;
    BufferPool& operator=(const BufferPool&) = delete;

    /// Null and size 0 when there is none.
    std::uint8_t* request(std::size_t& size);
    void complete(std::uint8_t* buffer, std::size_t validBytes);

    /// Waits for full buffers; returns none after the time, or when woken.
    std::deque<Full> take(std::chrono::milliseconds timeout);
    void giveBack(const Full& buffer);
    void wake();
    /// From now on buffers are lent and come back, but nobody reads them.
    void close();

    struct Stats {
        std::size_t allocated = 0;  ///< within the limit
        std::size_t out = 0;        ///< CUPTI has them
        std::uint64_t requests = 0;
        std::uint64_t declined = 0;
    };
    Stats stats() const;

private:
    std::uint8_t* allocate() const;

    const std::size_t m_bufferBytes;
    const std::size_t m_maxBuffers;
    const bool m_mayDecline;
    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    // All guarded by m_mutex:
    std::vector<std::uint8_t*> m_free;
    std::vector<std::uint8_t*> m_overLimit;
    std::deque<Full> m_full;
    Stats m_stats;
    bool m_woken = false;
    bool m_closed = false;
};

}  // namespace tapescope::profiler::cupti
