// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/adapter/transport.h"

#include <condition_variable>
#include <mutex>
#include <string>

namespace tapescope::app {

/// A stream in memory: the test feeds what the adapter reads and collects what it writes.
class MemoryTransport final : public Transport {
public:
    std::size_t read(std::span<char> buffer) override;
    bool write(std::string_view bytes) override;
    void close() override;

    void feed(std::string_view bytes);
    /// No more input: read() returns 0 once all is taken.
    void endInput();
    /// Blocks until the adapter has written something; takes it. Empty after `seconds` without.
    std::string take(int seconds = 60);

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::string m_input;
    std::string m_output;
    bool m_ended = false;
    bool m_closed = false;
};

}  // namespace tapescope::app
