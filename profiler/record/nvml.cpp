// SPDX-License-Identifier: Apache-2.0
#include "profiler/record/nvml.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <dlfcn.h>
#include <mutex>

namespace tapescope::profiler::record {
namespace {

// Facts about NVML's binary interface, unchanged since its version 5.
constexpr int kSuccess = 0;
constexpr int kNoPermission = 4;
constexpr int kDriverNotLoaded = 9;
constexpr int kLibraryNotFound = 12;
constexpr int kVersionMismatch = 18;
constexpr int kClockSm = 1;
constexpr int kTemperatureGpu = 0;
struct Utilisation {
    unsigned gpu;
    unsigned memory;
};
struct Memory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};
constexpr std::size_t kTextBytes = 96;

enum Quantity : std::uint8_t { kUtilisation, kMemoryUsed, kPower, kClock, kTemperature, kCount };
struct Description {
    const char* name;
    const char* unit;
};
constexpr std::array<Description, kCount> kQuantities = {{{"utilisation", "%"},
                                                          {"memory used", "B"},
                                                          {"power", "W"},
                                                          {"SM clock", "MHz"},
                                                          {"temperature", "°C"}}};

}  // namespace

struct Nvml::Functions {
    void* handle = nullptr;
    bool initialised = false;
    int (*init)() = nullptr;
    int (*shutdown)() = nullptr;
    const char* (*errorString)(int) = nullptr;
    int (*count)(unsigned*) = nullptr;
    int (*deviceAt)(unsigned, void**) = nullptr;
    int (*name)(void*, char*, unsigned) = nullptr;
    int (*uuid)(void*, char*, unsigned) = nullptr;
    int (*utilisation)(void*, Utilisation*) = nullptr;
    int (*memory)(void*, Memory*) = nullptr;
    int (*power)(void*, unsigned*) = nullptr;
    int (*clock)(void*, int, unsigned*) = nullptr;
    int (*temperature)(void*, int, unsigned*) = nullptr;

    template <class F>
    bool load(F& to, const char* symbol) {
        to = reinterpret_cast<F>(dlsym(handle, symbol));
        return to != nullptr;
    }
    ~Functions() {
        if (initialised && shutdown) shutdown();
        if (handle) dlclose(handle);
    }
};

void Nvml::close(const char* code, const std::string& message, const std::string& detail) {
    m_code = code;
    m_message = message;
    m_detail = detail;
    m_call.reset();
}

Nvml::Nvml(const std::string& library) : m_call(std::make_unique<Functions>()) {
    Functions& f = *m_call;
    f.handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!f.handle) {
        const char* why = dlerror();
        close("no-driver",
              "There are no counters: NVIDIA's management library is not on this machine. It comes "
              "with the driver.",
              why ? why : "");
        return;
    }
    const bool whole = f.load(f.init, "nvmlInit_v2") && f.load(f.shutdown, "nvmlShutdown") &&
                       f.load(f.count, "nvmlDeviceGetCount_v2") &&
                       f.load(f.deviceAt, "nvmlDeviceGetHandleByIndex_v2");
    if (!whole) {
        close("incomplete",
              "There are no counters: NVIDIA's management library lacks functions. Update the "
              "driver.",
              "");
        return;
    }
    f.load(f.errorString, "nvmlErrorString");
    f.load(f.name, "nvmlDeviceGetName");
    f.load(f.uuid, "nvmlDeviceGetUUID");
    f.load(f.utilisation, "nvmlDeviceGetUtilizationRates");
    f.load(f.memory, "nvmlDeviceGetMemoryInfo");
    f.load(f.power, "nvmlDeviceGetPowerUsage");
    f.load(f.clock, "nvmlDeviceGetClockInfo");
    f.load(f.temperature, "nvmlDeviceGetTemperature");
    const int result = f.init();
    if (result != kSuccess) {
        const char* text = f.errorString ? f.errorString(result) : nullptr;
        const std::string detail =
            "error " + std::to_string(result) + (text ? ", " + std::string(text) : "");
        switch (result) {
            case kDriverNotLoaded:
            case kLibraryNotFound:
                close("no-driver",
                      "There are no counters: the NVIDIA driver is not loaded. See nvidia-smi.",
                      detail);
                return;
            case kVersionMismatch:
                close("driver-mismatch",
                      "There are no counters: NVIDIA's library and kernel module are of different "
                      "versions. Reboot after the driver update.",
                      detail);
                return;
            case kNoPermission:
                close("no-permission",
                      "There are no counters: this user may not ask the driver. Look at the rights "
                      "of /dev/nvidia*.",
                      detail);
                return;
            default:
                close("internal-error",
                      "There are no counters: NVML did not start. See nvidia-smi.", detail);
                return;
        }
    }
    f.initialised = true;
    findCounters();
    if (m_counters.empty()) {
        close("no-device",
              "There are no counters: the driver shows no GPU that has any. See nvidia-smi.", "");
        return;
    }
    m_code = "ok";
    m_message = "Counters are recorded.";
}

Nvml::~Nvml() = default;

void Nvml::findCounters() {
    constexpr unsigned kMostDevices = 1024;
    unsigned devices = 0;
    if (m_call->count(&devices) != kSuccess) return;
    for (unsigned i = 0; i < devices && i < kMostDevices; ++i) {
        void* device = nullptr;
        if (m_call->deviceAt(i, &device) != kSuccess) continue;
        const auto text = [&](int (*ask)(void*, char*, unsigned)) {
            std::array<char, kTextBytes + 1> buffer{};
            const bool ok = ask && ask(device, buffer.data(), kTextBytes) == kSuccess;
            return std::string(ok ? buffer.data() : "");
        };
        const std::string name = text(m_call->name);
        const std::string uuid = text(m_call->uuid);
        for (int q = 0; q < kCount; ++q) {
            double unused = 0;
            if (!value({device, q}, unused)) continue;
            const Description& d = kQuantities[static_cast<std::size_t>(q)];
            m_sources.push_back({device, q});
            m_counters.push_back(
                {static_cast<std::uint32_t>(m_sources.size()), d.name, d.unit, uuid, name, ""});
        }
    }
}

bool Nvml::value(const Source& s, double& out) const {
    const Functions& f = *m_call;
    unsigned number = 0;
    switch (s.quantity) {
        case kUtilisation: {
            Utilisation u{};
            if (!f.utilisation || f.utilisation(s.device, &u) != kSuccess) return false;
            out = u.gpu;
            return true;
        }
        case kMemoryUsed: {
            Memory m{};
            if (!f.memory || f.memory(s.device, &m) != kSuccess) return false;
            out = static_cast<double>(m.used);
            return true;
        }
        case kPower:
            if (!f.power || f.power(s.device, &number) != kSuccess) return false;
            out = number / 1000.0;
            return true;
        case kClock:
            if (!f.clock || f.clock(s.device, kClockSm, &number) != kSuccess) return false;
            out = number;
            return true;
        default:
            if (!f.temperature || f.temperature(s.device, kTemperatureGpu, &number) != kSuccess)
                return false;
            out = number;
            return true;
    }
}

std::vector<Nvml::Reading> Nvml::read() const {
    std::vector<Reading> out;
    if (!m_call) return out;
    for (std::size_t i = 0; i < m_sources.size(); ++i) {
        double now = 0;
        if (value(m_sources[i], now)) out.push_back({m_counters[i].id, now});
    }
    return out;
}

NvmlSampler::NvmlSampler(const Nvml& nvml, std::chrono::milliseconds period, Take take)
    : m_thread([&nvml, period, take = std::move(take)](const std::stop_token& stop) {
          std::mutex mutex;
          std::condition_variable_any wake;
          std::unique_lock lock(mutex);
          auto next = std::chrono::steady_clock::now();
          while (!stop.stop_requested()) {
              take(nvml.read());
              // A slow reading delays the next one instead of being followed by several at once.
              next = std::max(next + period, std::chrono::steady_clock::now());
              wake.wait_until(lock, stop, next, [] { return false; });
          }
      }) {}

}  // namespace tapescope::profiler::record
