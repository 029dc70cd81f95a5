// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/serialize/safetensors.h"

#include "engine/errors.h"
#include "engine/ops/shape.h"
#include "engine/text.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace tapescope::engine::nn {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr std::uint64_t kLongestHeader = 100'000'000;  // the format's own limit

std::string errorText() { return std::generic_category().message(errno); }

/// A descriptor that closes itself.
class Descriptor {
public:
    explicit Descriptor(int fd) : m_fd(fd) {}
    ~Descriptor() {
        if (m_fd >= 0) ::close(m_fd);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return m_fd; }
    bool ok() const { return m_fd >= 0; }

private:
    int m_fd;
};

void readAt(int fd, const std::string& path, std::uint64_t offset, void* out, std::uint64_t size) {
    auto* to = static_cast<char*>(out);
    while (size > 0) {
        const std::size_t want = std::min<std::uint64_t>(size, std::uint64_t{1} << 30U);
        const ssize_t got = ::pread(fd, to, want, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            throw DataError(path + ": reading failed at byte " + std::to_string(offset) + " (" +
                            (got == 0 ? "the file has become shorter" : errorText()) +
                            "); check the disk and the file");
        }
        to += got;
        offset += static_cast<std::uint64_t>(got);
        size -= static_cast<std::uint64_t>(got);
    }
}

/// A new file beside the wanted one, gone again unless commit() was called.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& path)
        : m_path(path), m_temporary(freeName(path)), m_file(open()) {
        if (!m_file.ok()) fail("cannot be written");
    }
    ~TemporaryFile() {
        if (!m_done) ::unlink(m_temporary.c_str());
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    void write(const void* data, std::uint64_t size) {
        const auto* from = static_cast<const char*>(data);
        while (size > 0) {
            const std::size_t want = std::min<std::uint64_t>(size, std::uint64_t{1} << 30U);
            const ssize_t done = ::write(m_file.get(), from, want);
            if (done < 0 && errno == EINTR) continue;
            if (done < 0) fail("cannot be written");
            from += done;
            size -= static_cast<std::uint64_t>(done);
        }
    }
    void commit() {
        if (::fsync(m_file.get()) != 0) fail("cannot be written");
        if (::rename(m_temporary.c_str(), m_path.c_str()) != 0) fail("cannot be replaced");
        m_done = true;
    }

private:
    static std::string freeName(const std::string& path) {
        static std::atomic<int> counter{0};
        return path + ".part-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
    }
    int open() const {
        return ::open(m_temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    [[noreturn]] void fail(const char* what) const {
        throw DataError(m_path + ": " + what + " (" + errorText() +
                        "); check that the folder exists, may be written and has room");
    }

    std::string m_path;
    std::string m_temporary;
    Descriptor m_file;
    bool m_done = false;
};

/// The largest dtype first, then by name, as the format's own writer has it: every tensor is
/// aligned.
std::vector<const Module::NamedTensor*> inFileOrder(const NamedTensors& tensors,
                                                    const std::string& path) {
    std::vector<const Module::NamedTensor*> order;
    std::set<std::string> names;
    for (const Module::NamedTensor& entry : tensors) {
        const auto& [name, tensor] = entry;
        const std::string who = path + ": tensor \"" + name + "\" ";
        if (name == "__metadata__") throw DataError(who + "has the name of the metadata");
        if (!names.insert(name).second)
            throw DataError(who + "comes twice; give each one its own name");
        if (!tensor.defined()) throw DataError(who + "is undefined; leave it out");
        if (safetensorsName(tensor.dtype()).empty()) {
            throw DataError(who + "is " + std::string(dtypeName(tensor.dtype())) +
                            ", which safetensors cannot hold; convert it with to()");
        }
        order.push_back(&entry);
    }
    std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
        const std::size_t sizeA = itemSize(a->second.dtype());
        const std::size_t sizeB = itemSize(b->second.dtype());
        return sizeA != sizeB ? sizeA > sizeB : a->first < b->first;
    });
    return order;
}

}  // namespace

struct SafetensorsFile::Handle {
    Descriptor file;
};

SafetensorsFile::SafetensorsFile(const std::string& path)
    : m_path(path), m_file(new Handle{Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC))}) {
    if (!m_file->file.ok()) {
        throw DataError(path + ": cannot be opened (" + errorText() +
                        "); check the path and its permissions");
    }
    struct stat info {};
    if (::fstat(m_file->file.get(), &info) != 0 || !S_ISREG(info.st_mode))
        throw DataError(path + ": is not a file; name a .safetensors file");
    const auto size = static_cast<std::uint64_t>(info.st_size);
    std::array<unsigned char, 8> head{};
    if (size < head.size()) {
        throw DataError(path + ": has only " + std::to_string(size) +
                        " bytes, so it is no safetensors file; get the file again");
    }
    readAt(m_file->file.get(), path, 0, head.data(), head.size());
    std::uint64_t length = 0;
    std::memcpy(&length, head.data(), sizeof length);
    if (length > kLongestHeader || length > size - head.size()) {
        throw DataError(path + ": says that its header has " + std::to_string(length) +
                        " bytes, which " +
                        (length > kLongestHeader ? "is more than the format allows"
                                                 : "is more than the file has") +
                        "; check that it is a safetensors file, or get it again");
    }
    std::string json(length, '\0');
    readAt(m_file->file.get(), path, head.size(), json.data(), length);
    m_dataStart = head.size() + length;
    m_header = parseSafetensorsHeader(path, json, size - m_dataStart);
}

SafetensorsFile::~SafetensorsFile() = default;

Tensor SafetensorsFile::load(const std::string& name) const {
    std::vector<std::string> names;
    for (const SafetensorsEntry& entry : m_header.entries) {
        if (entry.name == name) return read(entry);
        names.push_back(entry.name);
    }
    throw DataError(m_path + ": holds no tensor \"" + name + "\"" + didYouMean(name, names));
}

Tensor SafetensorsFile::read(const SafetensorsEntry& entry) const {
    Tensor tensor = Tensor::empty(entry.sizes, entry.dtype);
    if (tensor.numel() == 0) return tensor;
    readAt(m_file->file.get(), m_path, m_dataStart + entry.begin, tensor.data_ptr(),
           entry.end - entry.begin);
    if (entry.dtype == DType::Bool) {
        // Any other byte than 0 and 1 would be no bool of C++.
        auto* bytes = static_cast<unsigned char*>(tensor.data_ptr());
        for (std::int64_t i = 0; i < tensor.numel(); ++i) bytes[i] = bytes[i] != 0 ? 1 : 0;
    }
    return tensor;
}

NamedTensors load_file(const std::string& path) {
    const SafetensorsFile file(path);
    NamedTensors out;
    for (const SafetensorsEntry& entry : file.entries())
        out.emplace_back(entry.name, file.load(entry.name));
    return out;
}

void save_file(const NamedTensors& tensors, const std::string& path, const Metadata& metadata) {
    const NoGradGuard guard;
    SafetensorsHeader header;
    header.metadata = metadata;
    const std::vector<const Module::NamedTensor*> order = inFileOrder(tensors, path);
    std::uint64_t at = 0;
    for (const auto* entry : order) {
        const Tensor& tensor = entry->second;
        const std::uint64_t end = at + tensor.nbytes();
        header.entries.push_back({entry->first, tensor.dtype(), tensor.sizes(), at, end});
        at = end;
    }
    const std::string json = writeSafetensorsHeader(header);
    const std::uint64_t length = json.size();
    if (length > kLongestHeader) {
        throw DataError(path + ": the names and metadata need a header of " +
                        std::to_string(length) + " bytes, the format allows 100,000,000");
    }
    TemporaryFile file(path);
    file.write(&length, sizeof length);
    file.write(json.data(), length);
    for (const auto* entry : order) {
        const Tensor packed = contiguous(entry->second, Site::none());
        file.write(packed.data_ptr(), packed.nbytes());
    }
    file.commit();
}

void save_model(const Module& module, const std::string& path, const Metadata& metadata) {
    save_file(module.state_dict(), path, metadata);
}

Module::LoadResult load_model(Module& module, const std::string& path, bool strict) {
    return module.load_state_dict(load_file(path), strict);
}

}  // namespace tapescope::engine::nn
