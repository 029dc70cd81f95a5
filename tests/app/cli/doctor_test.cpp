// SPDX-License-Identifier: Apache-2.0
#include "app/cli/doctor.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace tapescope::app {
namespace {

TEST(Doctor, WithoutADriverItSaysWhereToGetOne) {
    const Finding f = judgeCudaDriver({.libraryFound = false,
                                       .loadError = "libcuda.so.1: cannot open",
                                       .initResult = 0,
                                       .driverVersion = 0,
                                       .devices = {}});
    EXPECT_FALSE(f.found);
    EXPECT_FALSE(f.required);
    EXPECT_NE(f.remedy.find("--gpus all"), std::string::npos);
}

TEST(Doctor, ADriverThatWorksIsNamedWithItsDevices) {
    const Finding f = judgeCudaDriver({.libraryFound = true,
                                       .loadError = "",
                                       .initResult = 0,
                                       .driverVersion = 13000,
                                       .devices = {"NVIDIA H200", "NVIDIA H200"}});
    EXPECT_TRUE(f.found);
    EXPECT_EQ(f.version, "13.0");
    EXPECT_EQ(f.detail, "NVIDIA H200, NVIDIA H200");
}

TEST(Doctor, EachFailureOfTheDriverHasItsOwnRemedy) {
    const auto remedy = [](int result) {
        return judgeCudaDriver({.libraryFound = true,
                                .loadError = "",
                                .initResult = result,
                                .driverVersion = 12040,
                                .devices = {}})
            .remedy;
    };
    EXPECT_NE(remedy(100).find("CUDA_VISIBLE_DEVICES"), std::string::npos);
    EXPECT_NE(remedy(803).find("reboot"), std::string::npos);
    EXPECT_NE(remedy(34).find("stubs"), std::string::npos);
    EXPECT_NE(remedy(999).find("dmesg"), std::string::npos);
}

TEST(Doctor, NamesEverythingTheIssueAsksFor) {
    const std::vector<Finding> findings = examine();
    for (const char* what :
         {"Qt", "SQLite", "oneDNN", "CUDA driver", "CUDA toolkit", "CUPTI", "cuDNN"}) {
        const auto it = std::find_if(findings.begin(), findings.end(),
                                     [&](const Finding& f) { return f.what == what; });
        ASSERT_NE(it, findings.end()) << what;
        if (!it->found) {
            EXPECT_FALSE(it->remedy.empty()) << what;
        }
        if (it->required) {
            EXPECT_FALSE(it->version.empty()) << what;
        }
    }
}

}  // namespace
}  // namespace tapescope::app
