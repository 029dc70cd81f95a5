// SPDX-License-Identifier: Apache-2.0
#include "memory_transport.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace tapescope::app {

std::size_t MemoryTransport::read(std::span<char> buffer) {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return !m_input.empty() || m_ended || m_closed; });
    if (m_closed) return 0;
    const std::size_t count = std::min(buffer.size(), m_input.size());
    std::copy_n(m_input.begin(), count, buffer.begin());
    m_input.erase(0, count);
    return count;
}

bool MemoryTransport::write(std::string_view bytes) {
    const std::lock_guard lock(m_mutex);
    if (m_closed) return false;
    m_output.append(bytes);
    m_changed.notify_all();
    return true;
}

void MemoryTransport::close() {
    const std::lock_guard lock(m_mutex);
    m_closed = true;
    m_changed.notify_all();
}

void MemoryTransport::feed(std::string_view bytes) {
    const std::lock_guard lock(m_mutex);
    m_input.append(bytes);
    m_changed.notify_all();
}

void MemoryTransport::endInput() {
    const std::lock_guard lock(m_mutex);
    m_ended = true;
    m_changed.notify_all();
}

std::string MemoryTransport::take(int seconds) {
    std::unique_lock lock(m_mutex);
    m_changed.wait_for(lock, std::chrono::seconds(seconds), [this] { return !m_output.empty(); });
    return std::exchange(m_output, {});
}

}  // namespace tapescope::app
