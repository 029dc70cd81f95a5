// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>
#include <zlib.h>

namespace tapescope::engine::data {

/// A file with these bytes; removed at the end.
class TempFile {
public:
    TempFile(const std::string& name, const std::string& bytes)
        : m_dir(std::filesystem::temp_directory_path() /
                ("tapescope-data-" + std::to_string(getpid()) + "-" + std::to_string(counter()++))),
          m_path((m_dir / name).string()) {
        std::filesystem::create_directories(m_dir);
        std::ofstream(m_path, std::ios::binary) << bytes;
    }
    ~TempFile() { std::filesystem::remove_all(m_dir); }
    TempFile(const TempFile&) = delete;
    TempFile& operator=(const TempFile&) = delete;
    const std::string& path() const { return m_path; }
    std::string dir() const { return m_dir.string(); }

private:
    static int& counter() {
        static int value = 0;
        return value;
    }
    std::filesystem::path m_dir;
    std::string m_path;
};

inline std::string gzipped(const std::string& bytes) {
    z_stream stream{};
    deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

/// A big-endian 32-bit number, as IDX headers have it.
inline std::string bigEndian32(std::uint32_t value) {
    std::string out;
    for (int shift = 24; shift >= 0; shift -= 8)
        out += static_cast<char>(value >> static_cast<unsigned>(shift) & 0xFFU);
    return out;
}

inline std::string idxHeader(int type, const std::vector<std::uint32_t>& sizes) {
    std::string out{'\0', '\0', static_cast<char>(type), static_cast<char>(sizes.size())};
    for (const std::uint32_t size : sizes) out += bigEndian32(size);
    return out;
}

}  // namespace tapescope::engine::data
