// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the tapes of the GPU timeline's pictures:
//   write_gpu_sample TAPE [step|operators|big|oom|none]
#include "support/gpu_sample.h"

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
    using namespace tapescope::viewers::test;
    if (argc < 2) {
        std::fputs("usage: write_gpu_sample TAPE [step|operators|big|none]\n", stderr);
        return 2;
    }
    const std::string what = argc > 2 ? argv[2] : "step";
    if (what == "none") {
        writeNoDriverSample(argv[1]);
        return 0;
    }
    GpuSampleOptions options;
    options.operators = what == "operators";
    if (what == "oom") options.outOfMemoryAt = 2;
    if (what == "big") options.kernels = 500'000;
    writeGpuSample(argv[1], options);
    return 0;
}
