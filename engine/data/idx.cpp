// SPDX-License-Identifier: Apache-2.0
#include "engine/data/idx.h"

#include "engine/errors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <vector>

namespace tapescope::engine::data {
namespace {

constexpr std::int64_t kMaxElements = std::int64_t{1} << 30U;
constexpr std::int64_t kChunkElements = 64 << 10;

[[noreturn]] void fail(const ByteSource& source, const std::string& what) {
    throw DataError(source.name() + ": " + what);
}

std::string hexText(std::span<const std::byte> bytes) {
    std::string text;
    for (const std::byte b : bytes) {
        std::array<char, 4> two{};
        std::snprintf(two.data(), two.size(), "%02x", static_cast<unsigned>(b));
        text += (text.empty() ? "" : " ") + std::string(two.data());
    }
    return text;
}

template <class U>
U bigEndian(const std::byte* bytes) {
    U value = 0;
    for (std::size_t i = 0; i < sizeof(U); ++i) {
        value = static_cast<U>(static_cast<std::uint64_t>(value) << 8U |
                               static_cast<std::uint64_t>(bytes[i]));
    }
    return value;
}

struct Encoding {
    int code;
    std::size_t bytes;
    double (*decode)(const std::byte*);
};
constexpr Encoding kEncodings[] = {
    {0x08, 1, [](const std::byte* p) { return static_cast<double>(bigEndian<std::uint8_t>(p)); }},
    {0x09, 1,
     [](const std::byte* p) { return static_cast<double>(std::bit_cast<std::int8_t>(*p)); }},
    {0x0B, 2,
     [](const std::byte* p) {
         return static_cast<double>(std::bit_cast<std::int16_t>(bigEndian<std::uint16_t>(p)));
     }},
    {0x0C, 4,
     [](const std::byte* p) {
         return static_cast<double>(std::bit_cast<std::int32_t>(bigEndian<std::uint32_t>(p)));
     }},
    {0x0D, 4,
     [](const std::byte* p) {
         return static_cast<double>(std::bit_cast<float>(bigEndian<std::uint32_t>(p)));
     }},
    {0x0E, 8,
     [](const std::byte* p) { return std::bit_cast<double>(bigEndian<std::uint64_t>(p)); }},
};

struct Header {
    const Encoding* encoding = nullptr;
    Dims sizes;
    std::int64_t numel = 1;
};

Header readHeader(ByteSource& source) {
    std::array<std::byte, 4> magic{};
    const std::size_t got = source.read(magic);
    if (got < magic.size() || magic[0] != std::byte{0} || magic[1] != std::byte{0}) {
        fail(source, "is not an IDX file: it starts with \"" +
                         hexText(std::span(magic).first(got)) +
                         "\", two zero bytes, a type and a rank were expected; check that it is "
                         "the right file");
    }
    Header header;
    for (const Encoding& encoding : kEncodings) {
        if (encoding.code == static_cast<int>(magic[2])) header.encoding = &encoding;
    }
    if (!header.encoding) {
        fail(source, "has the unknown IDX type " + hexText(std::span(magic).subspan(2, 1)) +
                         " at byte 2; 08, 09, 0b, 0c, 0d or 0e was expected, check that it is the "
                         "right file");
    }
    const int rank = static_cast<int>(magic[3]);
    if (rank < 1 || rank > kMaxRank) {
        fail(source, "has " + std::to_string(rank) + " dimensions at byte 3; 1 to " +
                         std::to_string(kMaxRank) +
                         " were expected, check that it is the right file");
    }
    for (int i = 0; i < rank; ++i) {
        std::array<std::byte, 4> bytes{};
        if (source.read(bytes) < bytes.size()) {
            fail(source, "is cut off in its header, at byte " + std::to_string(source.offset()) +
                             "; " + std::to_string(4 + 4 * rank) +
                             " bytes were expected, get the file again");
        }
        const std::int64_t size = bigEndian<std::uint32_t>(bytes.data());
        header.sizes.push_back(size);
        if (size != 0 && header.numel > kMaxElements / size) {
            fail(source,
                 "its header promises " + toString(header.sizes) +
                     " or more elements, above the limit of 2^30; check that it is the right file");
        }
        header.numel *= size;
    }
    return header;
}

template <class T>
Tensor readValues(ByteSource& source, const Header& header) {
    const std::size_t itemBytes = header.encoding->bytes;
    std::vector<std::byte> chunk;
    std::vector<T> values;
    while (static_cast<std::int64_t>(values.size()) < header.numel) {
        const std::int64_t left = header.numel - static_cast<std::int64_t>(values.size());
        chunk.resize(static_cast<std::size_t>(std::min(left, kChunkElements)) * itemBytes);
        const std::size_t got = source.read(chunk);
        for (std::size_t at = 0; at + itemBytes <= got; at += itemBytes) {
            values.push_back(static_cast<T>(header.encoding->decode(chunk.data() + at)));
        }
        if (got < chunk.size()) {
            const std::int64_t expected =
                4 + 4 * header.sizes.size() + header.numel * static_cast<std::int64_t>(itemBytes);
            fail(source, "is cut off at byte " + std::to_string(source.offset()) +
                             ": its header promises " + toString(header.sizes) + ", " +
                             std::to_string(expected) +
                             " bytes with the header; get the file again");
        }
    }
    std::array<std::byte, 1> more{};
    if (source.read(more) != 0) {
        fail(source, "goes on behind byte " + std::to_string(source.offset() - 1) +
                         ", where its header " + toString(header.sizes) +
                         " says it ends; check that it is the right file");
    }
    return Tensor::from<T>(values, header.sizes);
}

}  // namespace

Tensor read_idx(ByteSource source, DType dtype) {
    const Header header = readHeader(source);
    switch (dtype) {
        case DType::F32:
            return readValues<float>(source, header);
        case DType::F64:
            return readValues<double>(source, header);
        case DType::I64:
            return readValues<std::int64_t>(source, header);
        case DType::I32:
            return readValues<std::int32_t>(source, header);
        case DType::U8:
            return readValues<std::uint8_t>(source, header);
        default:
            break;
    }
    throw DTypeError("read_idx: the values cannot become " + std::string(dtypeName(dtype)) +
                     "; ask for float32, float64, int64, int32 or uint8");
}

Tensor read_idx(const std::string& path, DType dtype) {
    return read_idx(ByteSource::file(path), dtype);
}

}  // namespace tapescope::engine::data
