// SPDX-License-Identifier: Apache-2.0
#include "engine/data/byte_source.h"

#include "engine/errors.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>
#include <zlib.h>

namespace tapescope::engine::data {
namespace {

constexpr std::size_t kBufferBytes = 64U << 10U;

struct FileCloser {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

std::string errorText() { return std::generic_category().message(errno); }

bool startsGzip(std::span<const std::byte> bytes) {
    return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

}  // namespace

struct ByteSource::Impl {
    std::string name;
    std::unique_ptr<std::FILE, FileCloser> file;
    std::vector<std::byte> buffer;       // of the file
    std::span<const std::byte> pending;  // raw bytes not yet used
    std::int64_t rawOffset = 0;          // of the end of pending
    std::int64_t offset = 0;
    bool gzip = false;
    bool streamEnded = false;  // the last gzip member is complete
    z_stream stream{};

    ~Impl() {
        if (gzip) inflateEnd(&stream);
    }

    [[noreturn]] void fail(const std::string& what) const { throw DataError(name + ": " + what); }

    /// More raw bytes into pending if there are none. False at the end.
    bool fill() {
        if (!pending.empty()) return true;
        if (!file) return false;
        const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file.get());
        if (got == 0 && std::ferror(file.get())) {
            fail("reading failed at byte " + std::to_string(rawOffset) + " (" + errorText() +
                 "); check the disk and the file");
        }
        rawOffset += static_cast<std::int64_t>(got);
        pending = {buffer.data(), got};
        return got > 0;
    }

    void open() {
        fill();
        gzip = startsGzip(pending);
        if (!gzip) {
            if (name.ends_with(".gz")) {
                fail(
                    "is not gzip although its name says so; give it its right name or compress it");
            }
            return;
        }
        // 15 + 16: largest window, gzip header and checksum.
        if (inflateInit2(&stream, 15 + 16) != Z_OK) {
            gzip = false;
            fail("zlib could not start; there may be too little memory");
        }
    }

    std::size_t readPlain(std::span<std::byte> out) {
        std::size_t done = 0;
        while (done < out.size() && fill()) {
            const std::size_t n = std::min(out.size() - done, pending.size());
            std::memcpy(out.data() + done, pending.data(), n);
            pending = pending.subspan(n);
            done += n;
        }
        return done;
    }

    std::int64_t compressedOffset() const {
        return rawOffset - static_cast<std::int64_t>(pending.size());
    }

    std::size_t readGzip(std::span<std::byte> out) {
        std::size_t done = 0;
        while (done < out.size()) {
            if (!fill()) {
                if (streamEnded) break;
                fail("is cut off: the gzip data ends in the middle, after " +
                     std::to_string(compressedOffset()) + " bytes; get the file again");
            }
            if (streamEnded) {  // gzip files may be several members one after another
                if (pending.front() != std::byte{0x1f}) {
                    fail("has other data behind the end of its gzip stream, at byte " +
                         std::to_string(compressedOffset()) + "; get the file again");
                }
                inflateReset(&stream);
                streamEnded = false;
            }
            const std::size_t room = std::min(out.size() - done, std::size_t{1} << 30U);
            // zlib's interface lacks const; it does not write its input.
            stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(pending.data()));
            stream.avail_in = static_cast<uInt>(std::min(pending.size(), std::size_t{1} << 30U));
            stream.next_out = reinterpret_cast<Bytef*>(out.data() + done);
            stream.avail_out = static_cast<uInt>(room);
            const uInt before = stream.avail_in;
            const int result = inflate(&stream, Z_NO_FLUSH);
            pending = pending.subspan(before - stream.avail_in);
            done += room - stream.avail_out;
            if (result == Z_STREAM_END) {
                streamEnded = true;
            } else if (result != Z_OK && result != Z_BUF_ERROR) {
                fail("its gzip data is damaged near byte " + std::to_string(compressedOffset()) +
                     (stream.msg ? std::string(" (") + stream.msg + ")" : std::string()) +
                     "; get the file again");
            }
        }
        return done;
    }
};

ByteSource::ByteSource(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource& ByteSource::operator=(ByteSource&&) noexcept = default;
ByteSource::~ByteSource() = default;

ByteSource ByteSource::file(const std::string& path) {
    auto impl = std::make_unique<Impl>();
    impl->name = path;
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        impl->fail("is a folder; name a data file in it");
    impl->file.reset(std::fopen(path.c_str(), "rb"));
    if (!impl->file) {
        impl->fail("cannot be opened (" + errorText() + "); check the path and its permissions");
    }
    impl->buffer.resize(kBufferBytes);
    impl->open();
    return ByteSource(std::move(impl));
}

ByteSource ByteSource::memory(std::string name, std::span<const std::byte> bytes) {
    auto impl = std::make_unique<Impl>();
    impl->name = std::move(name);
    impl->pending = bytes;
    impl->rawOffset = static_cast<std::int64_t>(bytes.size());
    impl->open();
    return ByteSource(std::move(impl));
}

std::size_t ByteSource::read(std::span<std::byte> out) {
    const std::size_t got = m_impl->gzip ? m_impl->readGzip(out) : m_impl->readPlain(out);
    m_impl->offset += static_cast<std::int64_t>(got);
    return got;
}

std::int64_t ByteSource::offset() const { return m_impl->offset; }
const std::string& ByteSource::name() const { return m_impl->name; }

}  // namespace tapescope::engine::data
