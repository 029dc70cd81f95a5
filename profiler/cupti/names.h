// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/cupti/sink.h"

#include <array>
#include <string>
#include <vector>

namespace tapescope::profiler::cupti {

/// Texts of records to names of the tape. Remembers by address and compares the text: CUPTI has
/// reused the memory of kernel names after modules were loaded anew. One thread.
class NameCache final {
public:
    /// careful: addresses may be nonsense (a CUPTI newer than any that was tested) and are looked
    /// at through the kernel, which says so instead of crashing.
    NameCache(Sink& sink, bool careful) : m_sink(sink), m_careful(careful), m_slots(kSlots) {}

    /// 0 for null, and for what cannot be read.
    storage::NameId operator()(const char* text);

private:
    static constexpr std::size_t kSlots = 4096;
    struct Slot {
        const char* address = nullptr;
        std::string text;
        storage::NameId id = 0;
    };
    Sink& m_sink;
    bool m_careful;
    std::vector<Slot> m_slots;
};

/// A text at an address that may not be one: false if it cannot be read. Cuts it at `longest`.
bool readText(const char* address, std::size_t longest, std::string& out);

}  // namespace tapescope::profiler::cupti
