// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tapescope::app {

/// Largest message either side may send (docs/dap.md).
inline constexpr std::size_t kMaxMessageBytes = std::size_t{64} << 20U;

/// "Content-Length: N\r\n\r\n" before the body.
std::string frameMessage(std::string_view body);

/// Cuts a byte stream into message bodies. Takes any bytes in any portions: what is no usable
/// header is skipped up to the next one that is, and reported once. Holds at most one message and
/// one header.
class FrameReader final {
public:
    struct Item {
        bool isFault = false;
        std::string text;  ///< the body; of a fault: one sentence
    };

    void feed(std::string_view bytes);
    /// The next message or fault; nothing until more bytes come.
    std::optional<Item> next();

private:
    std::optional<Item> readHeader();
    std::optional<Item> fault(const std::string& what);
    std::string_view pending() const { return std::string_view(m_buffer).substr(m_at); }

    std::string m_buffer;
    std::size_t m_at = 0;       // consumed of m_buffer
    std::size_t m_scanned = 0;  // of pending(): holds no header end
    std::optional<std::size_t> m_bodyBytes;
    bool m_skipping = false;  // a fault was reported, no usable header since
};

}  // namespace tapescope::app
