// SPDX-License-Identifier: Apache-2.0
// A scripted training step for the viewers and their tests. fake_training [STEPS] [DROPPED]: copies
// on one stream, forward and backward kernels on another with a reduction beside them, the
// optimizer as a CUDA graph, allocations, NVTX ranges, operator ids, and records that CUPTI drops
// at the end.
#include "tests/profiler/cupti/fakes/driver.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

struct Layer {
    const char* forward;
    const char* backward;
    unsigned grid;
    unsigned block;
    std::uint64_t ns;
};
constexpr std::array<Layer, 5> kLayers = {{
    {"_ZN5cudnn15implicit_gemm_fILi128EEEvPKfS2_Pf", "_ZN5cudnn15implicit_gemm_bILi128EEEvPKfS2_Pf",
     784, 128, 180'000},
    {"_ZN2at6native17batch_norm_kernelIfEEvPKT_PS2_",
     "_ZN2at6native19batch_norm_backwardIfEEvPKT_PS2_", 128, 256, 40'000},
    {"_ZN2at6native10relu_frontIfEEvPT_i", "_ZN2at6native9relu_backIfEEvPT_i", 512, 256, 12'000},
    {"ampere_sgemm_128x64_tn", "ampere_sgemm_128x64_nt", 96, 256, 95'000},
    {"_ZN2at6native12softmax_lossIfEEvPKT_PS2_i", "_ZN2at6native16softmax_loss_backIfEEvPKT_PS2_i",
     8, 128, 9'000},
}};

class Range {
public:
    Range(const Driver& driver, const char* name, std::uint32_t id) : m_driver(driver), m_id(id) {
        driver("fakeNvtxPush", name, id);
    }
    ~Range() { m_driver("fakeNvtxPop", m_id); }
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;

private:
    const Driver& m_driver;
    std::uint32_t m_id;
};

}  // namespace

int main(int argc, char** argv) {
    const int steps = argc > 1 ? std::atoi(argv[1]) : 10;
    const auto dropped = static_cast<std::size_t>(argc > 2 ? std::atoi(argv[2]) : 3);
    const Driver driver;
    if (!driver || driver("cuInit", 0U) != 0) {
        std::puts("fake_training: no CUDA");
        return 1;
    }
    void* copies = nullptr;
    void* reductions = nullptr;
    driver("cuStreamCreate", &copies, 1U);
    driver("cuStreamCreate", &reductions, 1U);
    driver("fakeNvtxNameStream", copies, "copies");
    driver("fakeNvtxNameStream", reductions, "reductions");
    static const std::vector<char> batch(8U << 20U);
    std::array<std::uint64_t, 6> segments{};
    for (std::uint64_t& segment : segments)
        driver("cuMemAlloc_v2", &segment, std::size_t{20} << 20U);

    std::uint32_t range = 0;
    std::uint64_t operation = 0;
    const auto launch = [&](const char* name, const Layer& layer, void* stream) {
        driver("fakeOperatorPush", ++operation);
        driver.launch(name, layer.grid, layer.block, stream, layer.ns);
        driver("fakeOperatorPop");
    };
    std::vector<std::string> names;
    names.reserve(static_cast<std::size_t>(steps));
    for (int step = 0; step < steps; ++step) {
        names.push_back("step " + std::to_string(step));
        const Range whole(driver, names.back().c_str(), ++range);
        {
            const Range part(driver, "data", ++range);
            driver("cuMemcpyHtoDAsync_v2", segments[0], static_cast<const void*>(batch.data()),
                   batch.size(), copies);
        }
        std::uint64_t activation = 0;
        driver("cuMemAllocAsync", &activation, std::size_t{2} << 20U, static_cast<void*>(nullptr));
        {
            const Range part(driver, "forward", ++range);
            for (const Layer& layer : kLayers) launch(layer.forward, layer, nullptr);
        }
        {
            const Range part(driver, "backward", ++range);
            for (auto layer = kLayers.rbegin(); layer != kLayers.rend(); ++layer) {
                launch(layer->backward, *layer, nullptr);
                launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL", {"", "", 16, 512, 30'000},
                       reductions);
            }
        }
        {
            const Range part(driver, "optimizer", ++range);
            driver("cuGraphLaunch", 6, static_cast<void*>(nullptr));
            driver("cuMemsetD32Async", segments[1], 0U, std::size_t{1} << 18U,
                   static_cast<void*>(nullptr));
        }
        float loss = 0;
        driver("cuMemcpyDtoHAsync_v2", static_cast<void*>(&loss), segments[2], sizeof loss,
               static_cast<void*>(nullptr));
        driver("cuCtxSynchronize");
    }
    for (const std::uint64_t segment : segments) driver("cuMemFree_v2", segment);
    if (dropped != 0) driver("fakeDrop", dropped);
    std::printf("fake_training: %d steps\n", steps);
    return 0;
}
