// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/names.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/uio.h>
#include <unistd.h>

namespace tapescope::profiler::cupti {
namespace {

// Templates make kernel names of many kilobytes; more is not for people any more.
constexpr std::size_t kLongestName = 64U << 10U;

}  // namespace

bool readText(const char* address, std::size_t longest, std::string& out) {
    constexpr std::size_t kPage = 4096;
    out.clear();
    std::array<char, kPage> piece{};
    while (out.size() < longest) {
        const char* from = address + out.size();
        // Never across a page: what follows may not be mapped.
        const std::size_t size = kPage - reinterpret_cast<std::uintptr_t>(from) % kPage;
        iovec local{piece.data(), size};
        iovec remote{const_cast<char*>(from), size};
        const ssize_t n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
        if (n <= 0) {
            if (errno == EFAULT || n == 0) return false;
            // A container may forbid the call; then the address has to be believed.
            out.assign(address, strnlen(address, longest));
            return true;
        }
        const auto got = static_cast<std::size_t>(n);
        const std::size_t length = strnlen(piece.data(), got);
        out.append(piece.data(), length);
        if (length < got) return true;
    }
    out.resize(longest);
    return true;
}

storage::NameId NameCache::operator()(const char* text) {
    if (text == nullptr) return 0;
    const auto bits = reinterpret_cast<std::uintptr_t>(text);
    Slot& slot = m_slots[(bits ^ bits >> 12U) % kSlots];
    if (m_careful) {
        std::string read;
        if (!readText(text, kLongestName, read)) return 0;
        if (slot.address != text || slot.text != read) {
            slot.id = m_sink.name(read);
            slot.address = text;
            slot.text = std::move(read);
        }
        return slot.id;
    }
    if (slot.address != text || std::strcmp(slot.text.c_str(), text) != 0) {
        slot.text.assign(text, strnlen(text, kLongestName));
        slot.id = m_sink.name(slot.text);
        slot.address = text;
    }
    return slot.id;
}

}  // namespace tapescope::profiler::cupti
