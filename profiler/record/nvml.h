// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/tape/gpu_records.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace tapescope::profiler::record {

/// NVIDIA's management library, found at run time: how busy, hot and full each GPU of this machine
/// is. The few functions and structs that are used are declared here as facts.
class Nvml final {
public:
    /// Never fails: code() says how it stands, "ok" or why there is nothing to read.
    explicit Nvml(const std::string& library = "libnvidia-ml.so.1");
    ~Nvml();
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;

    const std::string& code() const { return m_code; }
    const std::string& message() const { return m_message; }  ///< a sentence with the remedy
    const std::string& detail() const { return m_detail; }

    /// What can be read here, ids from 1, `host` empty. A quantity that a device does not have is
    /// left out.
    const std::vector<storage::GpuCounter>& counters() const { return m_counters; }
    struct Reading {
        std::uint32_t counter = 0;
        double value = 0;
    };
    /// One reading of each; what fails now is left out. Takes some 10 ms a device at worst.
    std::vector<Reading> read() const;

private:
    struct Functions;
    struct Source {
        void* device = nullptr;
        int quantity = 0;
    };
    void close(const char* code, const std::string& message, const std::string& detail);
    void findCounters();
    bool value(const Source& source, double& out) const;

    std::unique_ptr<Functions> m_call;
    std::string m_code;
    std::string m_message;
    std::string m_detail;
    std::vector<storage::GpuCounter> m_counters;
    std::vector<Source> m_sources;  ///< by index of m_counters
};

/// Reads it in a thread of its own until it is destroyed, and hands over each round.
class NvmlSampler final {
public:
    using Take = std::function<void(const std::vector<Nvml::Reading>&)>;  ///< on that thread
    NvmlSampler(const Nvml& nvml, std::chrono::milliseconds period, Take take);
    ~NvmlSampler() = default;
    NvmlSampler(const NvmlSampler&) = delete;
    NvmlSampler& operator=(const NvmlSampler&) = delete;

private:
    std::jthread m_thread;
};

}  // namespace tapescope::profiler::record
