// SPDX-License-Identifier: Apache-2.0
#include "app/adapter/base64.h"

#include <cstdint>
#include <string_view>

namespace tapescope::app {

std::string base64(std::span<const std::byte> bytes) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            group = group << 8U |
                    (i + k < bytes.size() ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0U);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            const bool padding = i + k > bytes.size();
            out += padding ? '=' : kDigits[group >> (18U - 6U * k) & 63U];
        }
    }
    return out;
}

}  // namespace tapescope::app
