// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/status.h"
#include "storage/tape/gpu_records.h"

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tapescope::profiler::record {

/// Reads what the Python hook wrote of PyTorch's allocator (resources/python/tapescope_allocator.py
/// says the format: lines of fields between tabs). The file is a stranger's: every field is
/// checked, lines have a longest length, and nothing is executed or unpickled. A file that was cut
/// (its process killed) is read up to its last whole line.
class AllocatorHistory final {
public:
    /// Errors name the file: it cannot be read, or its first lines are not those of such a file.
    static storage::Result<std::unique_ptr<AllocatorHistory>> open(const std::string& path);

    /// The process, its zeros at the file's first clock reading; id is 0.
    const storage::GpuProcess& process() const { return m_process; }
    const std::string& torchVersion() const { return m_torch; }

    /// Events in time order, at most maxEvents, timed from process()'s zeros; `site` is an index
    /// into sites(). Empty at the end.
    std::vector<storage::AllocatorEvent> next(std::size_t maxEvents);
    const std::vector<std::string>& sites() const { return m_sites; }  ///< [0] is ""

    struct Loss {
        std::int64_t count = 0;
        std::string reason;
    };
    const std::vector<Loss>& losses() const { return m_losses; }  ///< so far
    bool closed() const { return m_closed; }                      ///< its process ended in order
    /// Why reading stopped before the file's end; empty if it did not.
    const std::string& damage() const { return m_damage; }

private:
    explicit AllocatorHistory(std::string path);
    enum class Line : std::uint8_t { Whole, End, TooLong, Cut };
    Line readLine();
    storage::Status readHeader();
    void stop(const std::string& why);
    bool readEvent(const std::vector<std::string_view>& fields, storage::AllocatorEvent& e);
    bool readOther(const std::vector<std::string_view>& fields);

    std::string m_path;
    std::ifstream m_in;
    std::string m_line;
    std::int64_t m_lineNumber = 0;
    storage::GpuProcess m_process;
    std::string m_torch;
    std::int64_t m_clockDifference = 0;  ///< realtime - monotonic, of the last reading
    std::int64_t m_lastNs = INT64_MIN;
    std::vector<std::string> m_sites{""};
    std::vector<Loss> m_losses;
    bool m_closed = false;
    bool m_stopped = false;
    std::string m_damage;
};

}  // namespace tapescope::profiler::record
