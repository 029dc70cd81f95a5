// SPDX-License-Identifier: Apache-2.0
#include "app/cli/gpu_doctor.h"

#include <gtest/gtest.h>
#include <set>

namespace tapescope::app {
namespace {

using profiler::cupti::State;

TEST(GpuDoctor, EveryStateOfTracingHasItsVerdictAndRemedy) {
    std::set<std::string> details;
    for (int i = 0; i < profiler::cupti::kStateCount; ++i) {
        const auto state = static_cast<State>(i);
        const Finding f = judgeTracing({state, "the detail", "/opt/libcupti.so.13", "CUDA 13.0"});
        EXPECT_EQ(f.found, profiler::cupti::isTracing(state)) << i;
        if (f.found) continue;
        EXPECT_FALSE(f.remedy.empty()) << i;
        EXPECT_NE(f.detail.find(std::string(profiler::cupti::stateCode(state)) + ": "),
                  std::string::npos)
            << f.detail;
        EXPECT_NE(f.detail.find("(the detail)"), std::string::npos) << f.detail;
        EXPECT_NE(f.remedy.back(), ' ');
        details.insert(f.detail);
    }
    EXPECT_EQ(details.size(), static_cast<std::size_t>(profiler::cupti::kStateCount - 2));
    const auto remedy = [](State state) { return judgeTracing({state, "", "", ""}).remedy; };
    EXPECT_NE(remedy(State::NoDriver).find("--gpus all"), std::string::npos);
    EXPECT_NE(remedy(State::NoDevice).find("CUDA_VISIBLE_DEVICES"), std::string::npos);
    EXPECT_NE(remedy(State::NoCupti).find("nvidia-cuda-cupti"), std::string::npos);
    EXPECT_NE(remedy(State::CuptiNewerThanDriver).find("Update the driver"), std::string::npos);
    EXPECT_NE(remedy(State::NoPermission).find("NVreg_RestrictProfilingToAdminUsers"),
              std::string::npos);
    EXPECT_NE(remedy(State::CuptiTwice).find("LD_LIBRARY_PATH"), std::string::npos);
    EXPECT_NE(remedy(State::Busy).find("torch.profiler"), std::string::npos);
}

TEST(GpuDoctor, TheInjectionLibraryIsNamedWithTheCLibraryItRunsOn) {
    const Finding f = judgeInjection("/usr/lib/x.so", "", "GLIBC_2.17");
    EXPECT_TRUE(f.found);
    EXPECT_EQ(f.detail, "/usr/lib/x.so, runs on glibc 2.17 and newer");
    const Finding none = judgeInjection("", "not found (tried: a, b)", "");
    EXPECT_FALSE(none.found);
    EXPECT_NE(none.remedy.find("TAPESCOPE_INJECT"), std::string::npos);
}

TEST(GpuDoctor, AnotherToolInNvidiasVariablesIsNamed) {
    EXPECT_TRUE(judgeOtherTools("", "", "/a.so").found);
    EXPECT_TRUE(judgeOtherTools("/a.so", "/a.so", "/a.so").found);
    const Finding f = judgeOtherTools("/opt/nsight.so", "", "/a.so");
    EXPECT_FALSE(f.found);
    EXPECT_EQ(f.detail, "CUDA_INJECTION64_PATH names /opt/nsight.so");
    EXPECT_NE(f.remedy.find("unset"), std::string::npos);
}

}  // namespace
}  // namespace tapescope::app
