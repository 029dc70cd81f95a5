// SPDX-License-Identifier: Apache-2.0
#include "app/adapter/framing.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace tapescope::app {
namespace {

constexpr std::size_t kMaxHeaderBytes = 8192;
// What is kept of junk without an end: enough for a header that has begun.
constexpr std::size_t kKeptBytes = 128;
constexpr std::string_view kName = "content-length";

/// The last place where the header's name stands; npos if none.
std::size_t findName(std::string_view block) {
    const auto same = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == static_cast<unsigned char>(b);
    };
    const auto at = std::find_end(block.begin(), block.end(), kName.begin(), kName.end(), same);
    return at == block.end() ? std::string_view::npos
                             : static_cast<std::size_t>(at - block.begin());
}

std::string_view trim(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r";
    const std::size_t first = text.find_first_not_of(kBlank);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

struct HeaderEnd {
    std::size_t at = std::string_view::npos;
    std::size_t bytes = 0;
};
/// An empty line, with or without carriage returns.
HeaderEnd findHeaderEnd(std::string_view text, std::size_t from) {
    for (std::size_t at = text.find('\n', from); at != std::string_view::npos;
         at = text.find('\n', at + 1)) {
        if (text.substr(at + 1, 1) == "\n") return {at, 2};
        if (text.substr(at + 1, 2) == "\r\n") return {at, 3};
    }
    return {};
}

}  // namespace

std::string frameMessage(std::string_view body) {
    std::string out = "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
    return out.append(body);
}

void FrameReader::feed(std::string_view bytes) {
    if (m_at > 0) {
        m_buffer.erase(0, m_at);
        m_at = 0;
    }
    m_buffer.append(bytes);
}

std::optional<FrameReader::Item> FrameReader::fault(const std::string& what) {
    if (m_skipping) return std::nullopt;
    m_skipping = true;
    return Item{true, what};
}

std::optional<FrameReader::Item> FrameReader::readHeader() {
    const std::string_view text = pending();
    const HeaderEnd end = findHeaderEnd(text, m_scanned);
    if (end.at == std::string_view::npos) {
        m_scanned = text.size() < 2 ? 0 : text.size() - 2;
        if (text.size() <= kMaxHeaderBytes) return std::nullopt;
        m_at += text.size() - kKeptBytes;
        m_scanned = 0;
        return fault(
            "The input holds no DAP header: each message starts with \"Content-Length: N\" and an "
            "empty line.");
    }
    const std::string_view block = text.substr(0, end.at);
    m_at += end.at + end.bytes;
    m_scanned = 0;

    const std::size_t name = findName(block);
    if (name == std::string_view::npos) {
        return fault(
            "A header without Content-Length was skipped: each message starts with "
            "\"Content-Length: N\" and an empty line.");
    }
    std::string_view value = block.substr(name + kName.size());
    value = trim(value.substr(0, value.find('\n')));
    std::size_t bytes = 0;
    const bool colon = value.starts_with(':');
    const std::string_view digits = colon ? trim(value.substr(1)) : value;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
    const bool isNumber = colon && !digits.empty() && stop == digits.data() + digits.size();
    if (isNumber && (error == std::errc::result_out_of_range || bytes > kMaxMessageBytes)) {
        return fault("A message of more than 64 MiB was announced and skipped: split it.");
    }
    if (!isNumber || error != std::errc()) {
        return fault("A header whose Content-Length is no number of bytes was skipped.");
    }
    m_bodyBytes = bytes;
    const bool junkBefore = name > 0 && block[name - 1] != '\n';
    std::optional<Item> report;
    if (junkBefore)
        report =
            fault("Bytes before a header were skipped: a Content-Length does not fit its message.");
    m_skipping = false;
    return report;
}

std::optional<FrameReader::Item> FrameReader::next() {
    while (true) {
        if (m_bodyBytes) {
            if (pending().size() < *m_bodyBytes) return std::nullopt;
            Item item{false, std::string(pending().substr(0, *m_bodyBytes))};
            m_at += *m_bodyBytes;
            m_bodyBytes.reset();
            return item;
        }
        const std::size_t before = m_at;
        if (std::optional<Item> report = readHeader()) return report;
        if (m_at == before && !m_bodyBytes) return std::nullopt;
    }
}

}  // namespace tapescope::app
