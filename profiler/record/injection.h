// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tapescope::profiler::record {

/// Set for the Python hook; the injection library's are in cupti::environment.
inline constexpr const char* kAllocatorFolder = "TAPESCOPE_ALLOCATOR_DIR";

/// libtapescope-inject.so: what TAPESCOPE_INJECT names, else beside the program or where it is
/// installed. path is empty if there is none, and problem says what was tried.
struct Found {
    std::string path;
    std::string problem;
};
Found findInjectionLibrary(const std::string& programFolder);
/// The folder with the Python hook, TAPESCOPE_PYTHON or as installed.
Found findPythonHook(const std::string& programFolder);
/// The folder of the running program.
std::string programFolder();

/// "GLIBC_2.17" of a library: the oldest C library that it runs on, by the versions its symbols
/// need; empty if it needs none or is no such file. Reads at most a few megabytes.
std::string glibcFloor(const std::string& library);

/// What the recorded program shall find in its environment.
struct InjectionPlan {
    std::string library;      ///< "" = none
    std::string shardFolder;  ///< absolute
    std::string pythonHook;   ///< folder; "" = no allocator history
    std::string kinds;        ///< TAPESCOPE_GPU_KINDS; "" = as it is
};
struct PlannedEnvironment {
    std::vector<std::string> variables;  ///< "NAME=value"
    /// Other tools that the user has configured and that are left in place, "VARIABLE names PATH".
    std::vector<std::string> otherTools;
    bool cuda = false;  ///< the driver will load our library
};
/// `environment` with the plan's variables. One of NVIDIA's that names another library stays.
PlannedEnvironment plannedEnvironment(const std::vector<std::string>& environment,
                                      const InjectionPlan& plan);
std::vector<std::string> currentEnvironment();

}  // namespace tapescope::profiler::record
