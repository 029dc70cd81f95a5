// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace tapescope::engine::data {

/// Bytes of a file or of memory, in order, gunzipped on the way if they are gzip (told by content).
/// Holds two buffers of 64 KiB whatever the size. Every error is a DataError that names the file,
/// the place and the remedy.
class ByteSource final {
public:
    /// Throws if the file is missing or unreadable, or is named .gz and is none.
    static ByteSource file(const std::string& path);
    /// name stands for the file in messages; bytes must outlive the source.
    static ByteSource memory(std::string name, std::span<const std::byte> bytes);
    ByteSource(ByteSource&&) noexcept;
    ByteSource& operator=(ByteSource&&) noexcept;
    ~ByteSource();

    /// Fills out as far as there are bytes; less than out.size() only at the end. Throws if a gzip
    /// stream is cut or damaged.
    std::size_t read(std::span<std::byte> out);
    /// Bytes handed out so far, after decompression.
    std::int64_t offset() const;
    const std::string& name() const;

private:
    struct Impl;
    explicit ByteSource(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

}  // namespace tapescope::engine::data
