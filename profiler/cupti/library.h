// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiler/cupti/abi.h"
#include "profiler/cupti/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tapescope::profiler::cupti {

struct FunctionTable {
#define TAPESCOPE_MEMBER(name, required, result, args) result(*name) args = nullptr;
    TAPESCOPE_CUPTI_FUNCTIONS(TAPESCOPE_MEMBER)
#undef TAPESCOPE_MEMBER
};

/// libcupti and the driver as they were found. Neither is linked or ever closed again.
struct Library {
    State state = State::NoCupti;  ///< Ok: usable
    std::string detail;
    std::string overrideProblem;     ///< the libcupti that was asked for is not the one, and why
    std::string path;                ///< of the libcupti
    std::uint32_t version = 0;       ///< cuptiGetVersion()
    int driverVersion = 0;           ///< cuDriverGetVersion(), 13000 for CUDA 13.0
    bool alreadyInProcess = false;   ///< the program had loaded it
    void* handle = nullptr;          ///< of the libcupti
    void* driver = nullptr;          ///< of libcuda
    std::vector<std::string> tried;  ///< paths and names, in this order
    FunctionTable fn;
};

/// Finds libcuda, then libcupti: the one that is mapped in the process already, `overridePath`,
/// beside the mapped libcudart, the loader's search for the driver's major version downwards, the
/// usual folders of toolkits. Never calls cuInit. Any thread; takes a millisecond without a driver.
Library loadLibrary(const std::string& overridePath = {});

struct Verdict {
    State state = State::InternalError;
    std::string detail;
};
/// Why CUPTI did not start, if its answer alone says so; else InternalError.
Verdict explainResult(const Library& library, int result);
/// The same, and where CUPTI's answer says nothing (it is one for "no device" and "driver too old")
/// asks the driver. Calls cuInit, so never from inside it.
Verdict explainFailedStart(const Library& library, int result);

/// CUPTI's name of a result, or "error 15".
std::string resultName(const Library& library, int result);
/// "CUDA 12.4" of a cuptiGetVersion().
std::string toolkitName(std::uint32_t cuptiVersion);
/// 12040 of a cuptiGetVersion(), 0 if unknown.
int toolkitVersion(std::uint32_t cuptiVersion);
/// "CUDA 13.0" of a cuDriverGetVersion().
std::string driverName(int driverVersion);

}  // namespace tapescope::profiler::cupti
