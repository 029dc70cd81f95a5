// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace tapescope::storage {

/// Names one process for good: a pid alone is reused, also after a reboot and in other containers.
struct ProcessIdentity {
    std::string host;
    std::string bootId;        ///< /proc/sys/kernel/random/boot_id
    std::string pidNamespace;  ///< "pid:[4026531836]"
    std::int64_t pid = 0;
    std::int64_t startTicks =
        0;  ///< field 22 of /proc/PID/stat: clock ticks from boot to its start

    static ProcessIdentity self();
};

enum class Liveness : std::uint8_t { Alive, Dead, Unknown };
/// Unknown if it runs on another machine or in another container, where we cannot look. A zombie is
/// dead.
Liveness livenessOf(const ProcessIdentity& process);

}  // namespace tapescope::storage
