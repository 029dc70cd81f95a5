// SPDX-License-Identifier: Apache-2.0
// As much of NVIDIA's management library as the counters ask. FAKE_NVML_INIT: what nvmlInit
// returns.
#include <atomic>
#include <cstdio>
#include <cstdlib>

#define API extern "C" __attribute__((visibility("default")))

namespace {
std::atomic<int> g_open{0};
int g_devices[2] = {0, 1};  // NOLINT(cppcoreguidelines-avoid-c-arrays)
int indexOf(void* device) { return *static_cast<int*>(device); }
}  // namespace

struct Utilisation {
    unsigned gpu;
    unsigned memory;
};
struct Memory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

API int nvmlInit_v2() {
    const char* result = std::getenv("FAKE_NVML_INIT");
    if (result != nullptr) return std::atoi(result);
    ++g_open;
    return 0;
}
API int nvmlShutdown() { return g_open-- > 0 ? 0 : 1; }
API const char* nvmlErrorString(int) { return "a fake error"; }
API int nvmlDeviceGetCount_v2(unsigned* n) {
    *n = std::getenv("FAKE_NVML_NO_DEVICE") != nullptr ? 0 : 2;
    return 0;
}
API int nvmlDeviceGetHandleByIndex_v2(unsigned i, void** device) {
    *device = &g_devices[i];
    return 0;
}
API int nvmlDeviceGetName(void*, char* text, unsigned n) {
    return std::snprintf(text, n, "Fake GPU") > 0 ? 0 : 7;
}
API int nvmlDeviceGetUUID(void* device, char* text, unsigned n) {
    return std::snprintf(text, n, "GPU-fake-%d", indexOf(device)) > 0 ? 0 : 7;
}
API int nvmlDeviceGetUtilizationRates(void* device, Utilisation* u) {
    u->gpu = indexOf(device) == 0 ? 87 : 3;
    u->memory = 50;
    return 0;
}
API int nvmlDeviceGetMemoryInfo(void* device, Memory* m) {
    m->total = 8ULL << 30U;
    m->used = indexOf(device) == 0 ? 5ULL << 30U : 1ULL << 20U;
    m->free = m->total - m->used;
    return 0;
}
API int nvmlDeviceGetPowerUsage(void* device, unsigned* mw) {
    *mw = 312'500;
    return indexOf(device) == 0 ? 0 : 3;  // NOT_SUPPORTED, as on a part of a GPU
}
API int nvmlDeviceGetClockInfo(void*, int kind, unsigned* mhz) {
    *mhz = 1980;
    return kind == 1 ? 0 : 2;
}
API int nvmlDeviceGetTemperature(void*, int sensor, unsigned* celsius) {
    *celsius = 61;
    return sensor == 0 ? 0 : 2;
}
