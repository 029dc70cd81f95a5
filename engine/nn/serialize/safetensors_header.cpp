// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/serialize/safetensors_header.h"

#include "engine/errors.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>

namespace tapescope::engine::nn {
namespace {

struct NamePair {
    std::string_view format;
    std::string_view dtype;
};
/// By PyTorch's names, so that a dtype the engine gains is known here at once.
constexpr std::array<NamePair, 12> kNames{{{"F64", "float64"},
                                           {"F32", "float32"},
                                           {"F16", "float16"},
                                           {"BF16", "bfloat16"},
                                           {"I64", "int64"},
                                           {"I32", "int32"},
                                           {"I16", "int16"},
                                           {"I8", "int8"},
                                           {"U8", "uint8"},
                                           {"BOOL", "bool"},
                                           {"C64", "complex64"},
                                           {"C128", "complex128"}}};

std::optional<DType> dtypeOf(std::string_view format) {
    for (const NamePair& pair : kNames) {
        if (pair.format != format) continue;
        for (int i = 0; i < kDTypeCount; ++i) {
            const auto dtype = static_cast<DType>(i);
            if (dtypeName(dtype) == pair.dtype) return dtype;
        }
    }
    return std::nullopt;
}

/// A name from a file for a message: short, and nothing that could steer a terminal.
std::string quoted(std::string_view name) {
    constexpr std::size_t kMost = 80;
    std::string text = "\"";
    for (const char c : name.substr(0, kMost))
        text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    return text + (name.size() > kMost ? "…\"" : "\"");
}

void appendUtf8(std::string& out, std::uint32_t code) {
    const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xC0U | code >> 6U);
        put(0x80U | (code & 0x3FU));
    } else if (code < 0x10000) {
        put(0xE0U | code >> 12U);
        put(0x80U | (code >> 6U & 0x3FU));
        put(0x80U | (code & 0x3FU));
    } else {
        put(0xF0U | code >> 18U);
        put(0x80U | (code >> 12U & 0x3FU));
        put(0x80U | (code >> 6U & 0x3FU));
        put(0x80U | (code & 0x3FU));
    }
}

/// The format's part of JSON: an object of objects of strings and lists of whole numbers. Fixed
/// depth, so nothing recurses.
class Parser {
public:
    Parser(const std::string& file, std::string_view text) : m_file(file), m_text(text) {}

    [[noreturn]] void fail(const std::string& what) const {
        throw DataError(m_file + ": " + what + "; get the file again, or write it anew");
    }
    [[noreturn]] void failHere(const std::string& what) const {
        fail("its header is not safetensors' JSON: " + what + " at byte " + std::to_string(m_at));
    }

    bool accept(char c) {
        skipSpace();
        if (m_at == m_text.size() || m_text[m_at] != c) return false;
        ++m_at;
        return true;
    }
    void require(char c) {
        if (!accept(c)) failHere(std::string("there is no ") + c);
    }
    void requireEnd() {
        skipSpace();
        if (m_at != m_text.size()) failHere("something follows the end");
    }

    std::string string() {
        require('"');
        std::string out;
        for (;;) {
            const char c = take();
            if (c == '"') return out;
            if (static_cast<unsigned char>(c) < 0x20) failHere("there is a control character");
            if (c != '\\') {
                out += c;
                continue;
            }
            escape(out);
        }
    }

    std::uint64_t number() {
        skipSpace();
        std::uint64_t value = 0;
        const std::size_t start = m_at;
        while (m_at < m_text.size() && m_text[m_at] >= '0' && m_text[m_at] <= '9') {
            const auto digit = static_cast<std::uint64_t>(m_text[m_at] - '0');
            if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10)
                failHere("there is a number beyond 64 bits");
            value = value * 10 + digit;
            ++m_at;
        }
        if (m_at == start) failHere("there is no whole number");
        return value;
    }

    std::vector<std::uint64_t> numbers() {
        std::vector<std::uint64_t> out;
        require('[');
        if (accept(']')) return out;
        do {
            out.push_back(number());
        } while (accept(','));
        require(']');
        return out;
    }

private:
    char take() {
        if (m_at == m_text.size()) failHere("it ends in the middle");
        return m_text[m_at++];
    }
    void skipSpace() {
        while (m_at < m_text.size() && (m_text[m_at] == ' ' || m_text[m_at] == '\t' ||
                                        m_text[m_at] == '\n' || m_text[m_at] == '\r'))
            ++m_at;
    }
    std::uint32_t hex4() {
        std::uint32_t value = 0;
        for (int i = 0; i < 4; ++i) {
            const char c = take();
            const bool digit = c >= '0' && c <= '9';
            const char lower = static_cast<char>(c | 0x20);
            if (!digit && !(lower >= 'a' && lower <= 'f')) failHere("there is a wrong \\u escape");
            value = value * 16 + static_cast<std::uint32_t>(digit ? c - '0' : lower - 'a' + 10);
        }
        return value;
    }
    void escape(std::string& out) {
        constexpr std::string_view kFrom = "\"\\/bfnrt";
        constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
        const char c = take();
        if (const std::size_t i = kFrom.find(c); i != std::string_view::npos) {
            out += kTo[i];
            return;
        }
        if (c != 'u') failHere("there is an unknown escape");
        std::uint32_t code = hex4();
        if (code >= 0xD800 && code < 0xDC00) {
            if (take() != '\\' || take() != 'u') failHere("half a surrogate pair stands alone");
            const std::uint32_t low = hex4();
            if (low < 0xDC00 || low >= 0xE000) failHere("half a surrogate pair stands alone");
            code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
        } else if (code >= 0xDC00 && code < 0xE000) {
            failHere("half a surrogate pair stands alone");
        }
        appendUtf8(out, code);
    }

    const std::string& m_file;
    std::string_view m_text;
    std::size_t m_at = 0;
};

/// The sizes as the engine keeps them, and the bytes they need. Nothing here may wrap.
std::uint64_t setSizes(const Parser& parser, SafetensorsEntry& entry,
                       const std::vector<std::uint64_t>& shape) {
    const std::string who = "tensor " + quoted(entry.name);
    if (shape.size() > kMaxRank) {
        parser.fail(who + " has " + std::to_string(shape.size()) + " dimensions, at most " +
                    std::to_string(kMaxRank) + " can be read");
    }
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    std::uint64_t bytes = itemSize(entry.dtype);
    bool empty = false;
    for (const std::uint64_t size : shape) {
        // A 0 counts as 1: the strides of an empty tensor must not wrap either.
        const std::uint64_t factor = std::max<std::uint64_t>(size, 1);
        if (factor > kMost / bytes) parser.fail(who + " has sizes whose product is beyond 64 bits");
        bytes *= factor;
        empty = empty || size == 0;
        entry.sizes.push_back(static_cast<std::int64_t>(size));
    }
    return empty ? 0 : bytes;
}

SafetensorsEntry parseEntry(Parser& parser, std::string name) {
    SafetensorsEntry entry;
    entry.name = std::move(name);
    const std::string who = "tensor " + quoted(entry.name);
    std::optional<std::string> dtype;
    std::optional<std::vector<std::uint64_t>> shape;
    std::optional<std::vector<std::uint64_t>> offsets;
    parser.require('{');
    do {
        const std::string key = parser.string();
        parser.require(':');
        if (key == "dtype" && !dtype) {
            dtype = parser.string();
        } else if (key == "shape" && !shape) {
            shape = parser.numbers();
        } else if (key == "data_offsets" && !offsets) {
            offsets = parser.numbers();
        } else {
            parser.fail(who + " has an unexpected field " + quoted(key));
        }
    } while (parser.accept(','));
    parser.require('}');
    if (!dtype || !shape || !offsets) parser.fail(who + " lacks dtype, shape or data_offsets");
    const std::optional<DType> known = dtypeOf(*dtype);
    if (!known) {
        parser.fail(who + " is of the dtype " + quoted(*dtype) +
                    ", which this engine does not have; convert it to F32 first");
    }
    entry.dtype = *known;
    const std::uint64_t bytes = setSizes(parser, entry, *shape);
    if (offsets->size() != 2 || (*offsets)[0] > (*offsets)[1])
        parser.fail(who + " has no valid data_offsets [begin, end]");
    entry.begin = (*offsets)[0];
    entry.end = (*offsets)[1];
    if (entry.end - entry.begin != bytes) {
        parser.fail(who + " needs " + std::to_string(bytes) + " bytes for " +
                    toString(entry.sizes) + " of " + *dtype + ", but its offsets hold " +
                    std::to_string(entry.end - entry.begin));
    }
    return entry;
}

void parseMetadata(Parser& parser, std::map<std::string, std::string>& out) {
    parser.require('{');
    if (parser.accept('}')) return;
    do {
        std::string key = parser.string();
        parser.require(':');
        std::string value = parser.string();
        if (!out.emplace(key, std::move(value)).second)
            parser.fail("its metadata has " + quoted(key) + " twice");
    } while (parser.accept(','));
    parser.require('}');
}

/// The tensors fill the data without overlap or hole.
void checkPlaces(const Parser& parser, std::vector<SafetensorsEntry>& entries,
                 std::uint64_t dataBytes) {
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
        return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::uint64_t at = 0;
    for (const SafetensorsEntry& entry : entries) {
        const std::string who = "tensor " + quoted(entry.name);
        if (entry.begin < at) parser.fail(who + " overlaps another one");
        if (entry.begin > at)
            parser.fail("there are " + std::to_string(entry.begin - at) + " bytes before " + who +
                        " that no tensor holds");
        if (entry.end > dataBytes) {
            parser.fail(who + " ends at byte " + std::to_string(entry.end) + " of " +
                        std::to_string(dataBytes) + ": the file is cut off");
        }
        at = entry.end;
    }
    if (at != dataBytes) {
        parser.fail("there are " + std::to_string(dataBytes - at) +
                    " bytes behind the last tensor that none holds");
    }
}

std::string jsonText(std::string_view text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    constexpr std::string_view kPlain = "\"\\\b\f\n\r\t";
    constexpr std::string_view kShort = "\"\\bfnrt";
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (const std::size_t i = kPlain.find(c); i != std::string_view::npos) {
            out += '\\';
            out += kShort[i];
        } else if (byte < 0x20) {
            out += "\\u00";
            out += kHex[byte >> 4U];
            out += kHex[byte & 15U];
        } else {
            out += c;
        }
    }
    return out + '"';
}

}  // namespace

std::string_view safetensorsName(DType dtype) {
    for (const NamePair& pair : kNames) {
        if (pair.dtype == dtypeName(dtype)) return pair.format;
    }
    return "";
}

SafetensorsHeader parseSafetensorsHeader(const std::string& file, std::string_view json,
                                         std::uint64_t dataBytes) {
    Parser parser(file, json);
    SafetensorsHeader header;
    std::set<std::string> names;
    bool hasMetadata = false;
    parser.require('{');
    if (!parser.accept('}')) {
        do {
            std::string name = parser.string();
            parser.require(':');
            if (name == "__metadata__") {
                if (hasMetadata) parser.fail("its header has __metadata__ twice");
                hasMetadata = true;
                parseMetadata(parser, header.metadata);
                continue;
            }
            if (!names.insert(name).second) parser.fail("tensor " + quoted(name) + " comes twice");
            header.entries.push_back(parseEntry(parser, std::move(name)));
        } while (parser.accept(','));
        parser.require('}');
    }
    parser.requireEnd();
    checkPlaces(parser, header.entries, dataBytes);
    return header;
}

std::string writeSafetensorsHeader(const SafetensorsHeader& header) {
    std::string json = "{";
    const auto key = [&](std::string_view name) {
        if (json.size() > 1) json += ',';
        json += jsonText(name) + ":";
    };
    if (!header.metadata.empty()) {
        key("__metadata__");
        std::string list;
        for (const auto& [name, value] : header.metadata)
            list += (list.empty() ? "" : ",") + jsonText(name) + ":" + jsonText(value);
        json += "{" + list + "}";
    }
    for (const SafetensorsEntry& entry : header.entries) {
        key(entry.name);
        std::string sizes;
        for (int d = 0; d < entry.sizes.size(); ++d)
            sizes += (d ? "," : "") + std::to_string(entry.sizes[d]);
        json += "{\"dtype\":\"" + std::string(safetensorsName(entry.dtype)) + "\",\"shape\":[" +
                sizes + "],\"data_offsets\":[" + std::to_string(entry.begin) + "," +
                std::to_string(entry.end) + "]}";
    }
    json += "}";
    // The data starts at a multiple of 8, as other readers map it.
    json.append((8 - json.size() % 8) % 8, ' ');
    return json;
}

}  // namespace tapescope::engine::nn
