// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tapescope::app {

/// One thing the program needs or can use, as found on this machine.
struct Finding {
    std::string what;  ///< "CUDA driver"
    bool found = false;
    bool required = false;
    std::string version;
    std::string detail;  ///< path, devices, or why it cannot be used
    std::string neededFor;
    std::string remedy;  ///< when not found
};

/// Looks at everything. Loads libraries only to ask their versions; starts no CUDA context.
std::vector<Finding> examine();

/// The verdict on a CUDA driver from what its library answered; separated from loading so that it
/// can be tested.
struct CudaAnswer {
    bool libraryFound = false;
    std::string loadError;
    int initResult = 0;     ///< CUresult of cuInit
    int driverVersion = 0;  ///< 13000 = 13.0
    std::vector<std::string> devices;
};
Finding judgeCudaDriver(const CudaAnswer& answer);

}  // namespace tapescope::app
