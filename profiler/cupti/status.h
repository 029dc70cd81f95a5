// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tapescope::profiler::cupti {

/// How GPU tracing stands. Every state has a stable code, for tapes and tests, and a sentence for
/// people; both stand in one table in status.cpp.
enum class State : std::uint8_t {
    Ok,
    NotBuilt,
    NoDriver,
    NoDevice,
    DriverTooOld,
    NoCupti,
    CuptiIncomplete,
    CuptiTooOld,
    CuptiNewerThanDriver,
    CuptiTwice,
    Busy,
    TakenOver,
    NoRecords,
    NoPermission,
    DeviceUnsupported,
    EnvironmentUnsupported,
    EnableFailed,
    ClockUnknown,
    SizeCap,
    CannotWrite,
    InternalError,
    FlushTimeout,
};
inline constexpr int kStateCount = static_cast<int>(State::FlushTimeout) + 1;

/// "no-driver"
std::string_view stateCode(State state);
/// The sentence with its detail in brackets: what is so, and what helps.
std::string stateMessage(State state, const std::string& detail = {});
/// True where records come, perhaps not of all kinds.
bool isTracing(State state);

}  // namespace tapescope::profiler::cupti
