// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/status.h"

#include <array>

namespace tapescope::profiler::cupti {
namespace {

struct Row {
    State state;
    std::string_view code;
    std::string_view what;    ///< then the detail in brackets
    std::string_view remedy;  ///< may be empty
};

constexpr std::array<Row, kStateCount> kRows = {{
    {State::Ok, "ok", "GPU tracing is on", ""},
    {State::NotBuilt, "not-built", "GPU tracing is not part of this build",
     "Configure with -DTAPESCOPE_CUPTI=ON."},
    {State::NoDriver, "no-driver", "GPU tracing is off: no NVIDIA driver on this machine",
     "Everything else works."},
    {State::NoDevice, "no-device",
     "GPU tracing is off: the NVIDIA driver is here but shows no GPU to this process",
     "Look at nvidia-smi, CUDA_VISIBLE_DEVICES and the container's GPU options."},
    {State::DriverTooOld, "driver-too-old",
     "GPU tracing is off: the NVIDIA driver is older than this CUPTI needs",
     "Update the driver, or set TAPESCOPE_CUPTI_PATH to the libcupti of an older CUDA toolkit."},
    {State::NoCupti, "no-cupti", "GPU tracing is off: libcupti was not found",
     "It comes with the CUDA toolkit and with the pip package nvidia-cuda-cupti; "
     "TAPESCOPE_CUPTI_PATH can name it."},
    {State::CuptiIncomplete, "cupti-incomplete",
     "GPU tracing is off: this libcupti lacks functions that are needed",
     "Install a CUDA toolkit from 11.8 on, or set TAPESCOPE_CUPTI_PATH to its libcupti."},
    {State::CuptiTooOld, "cupti-too-old",
     "GPU tracing is off: this libcupti is older than CUDA 11.8",
     "Install a newer CUDA toolkit, or set TAPESCOPE_CUPTI_PATH to its libcupti."},
    {State::CuptiNewerThanDriver, "cupti-newer-than-driver",
     "GPU tracing is off: this libcupti is of a newer CUDA major version than the driver",
     "Update the driver, or set TAPESCOPE_CUPTI_PATH to the libcupti of an older CUDA toolkit."},
    {State::CuptiTwice, "cupti-twice",
     "GPU tracing is off: two different libcupti are loaded in this process",
     "Take CUPTI's folders out of LD_LIBRARY_PATH."},
    {State::Busy, "busy", "GPU tracing is off: another profiler holds CUPTI in this process",
     "Stop torch.profiler, Nsight, compute-sanitizer, cuda-gdb or KINETO_USE_DAEMON, or record "
     "without GPU tracing."},
    {State::TakenOver, "taken-over",
     "GPU tracing has stopped: kernels are launched but CUPTI asks nobody here for room",
     "Another profiler (torch.profiler?) has taken CUPTI over; record without it."},
    {State::NoRecords, "no-records",
     "GPU tracing gets nothing: kernels are launched but CUPTI delivers no record of any",
     "This libcupti may be older than the GPU: set TAPESCOPE_CUPTI_PATH to a newer one."},
    {State::NoPermission, "no-permission",
     "GPU tracing is off: the driver does not let this user profile",
     "An administrator can allow it with the driver option "
     "NVreg_RestrictProfilingToAdminUsers=0; in a container, add the capability SYS_ADMIN."},
    {State::DeviceUnsupported, "device-unsupported",
     "GPU tracing does not work on this GPU: this libcupti does not know it",
     "A libcupti at least as new as the GPU is needed: set TAPESCOPE_CUPTI_PATH to one."},
    {State::EnvironmentUnsupported, "environment-unsupported",
     "GPU tracing is off: NVIDIA does not support it in this environment",
     "Trace on a whole GPU, outside of MIG, vGPU, WSL and confidential computing."},
    {State::EnableFailed, "enable-failed",
     "GPU tracing is partly off: some kinds of record could not be switched on", ""},
    {State::ClockUnknown, "clock-unknown", "GPU tracing is off: CUPTI's clock is not the system's",
     "On WSL, trace on Linux itself."},
    {State::SizeCap, "size-cap",
     "GPU tracing has stopped storing records: the tape has reached its size limit",
     "Raise TAPESCOPE_GPU_MAX_BYTES, or record for a shorter time."},
    {State::CannotWrite, "cannot-write", "GPU tracing has stopped: the tape cannot be written",
     "What was written before is kept."},
    {State::InternalError, "internal-error", "GPU tracing stopped after an error in CUPTI", ""},
    {State::FlushTimeout, "flush-timeout",
     "GPU tracing was ended before CUPTI had handed over its last records",
     "The tape has all that came before."},
}};

constexpr bool inOrder() {
    for (std::size_t i = 0; i < kRows.size(); ++i) {
        if (static_cast<std::size_t>(kRows[i].state) != i || kRows[i].code.empty()) return false;
    }
    return true;
}
static_assert(inOrder(), "the table has a row for each State, in their order");

}  // namespace

std::string_view stateCode(State state) { return kRows[static_cast<std::size_t>(state)].code; }

std::string stateMessage(State state, const std::string& detail) {
    const Row& row = kRows[static_cast<std::size_t>(state)];
    std::string text(row.what);
    if (!detail.empty()) text += " (" + detail + ")";
    text += '.';
    if (!row.remedy.empty()) text += " " + std::string(row.remedy);
    return text;
}

bool isTracing(State state) { return state == State::Ok || state == State::EnableFailed; }

}  // namespace tapescope::profiler::cupti
