// SPDX-License-Identifier: Apache-2.0
#include "app/cli/terminal_text.h"

namespace tapescope::app {

std::string printable(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        // U+0080 to U+009F, two bytes in UTF-8, act as escapes on some terminals.
        const bool second =
            i + 1 < text.size() && c == 0xC2U && static_cast<unsigned char>(text[i + 1]) < 0xA0U;
        if ((c >= 0x20U && c != 0x7FU && !second) || c == '\n') {
            out += text[i];
            continue;
        }
        for (std::size_t end = i + (second ? 1 : 0);; ++i) {
            const auto byte = static_cast<unsigned char>(text[i]);
            out += "\\x";
            out += kDigits[byte >> 4U];
            out += kDigits[byte & 15U];
            if (i == end) break;
        }
    }
    return out;
}

}  // namespace tapescope::app
