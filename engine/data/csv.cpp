// SPDX-License-Identifier: Apache-2.0
#include "engine/data/csv.h"

#include "engine/errors.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace tapescope::engine::data {
namespace {

constexpr std::size_t kMaxLineBytes = 1U << 20U;
constexpr std::size_t kChunkBytes = 64U << 10U;

/// Lines of a source; the memory held is one line and one chunk.
class LineReader {
public:
    explicit LineReader(ByteSource source) : m_source(std::move(source)) {}

    /// The next line that is not empty, without its end. False at the end of the file.
    bool next(std::string& line) {
        while (rawLine(line)) {
            ++m_number;
            if (m_number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
            if (!line.empty() && line.back() == '\r') line.pop_back();
            if (line.find_first_not_of(" \t") != std::string::npos) return true;
        }
        return false;
    }
    std::int64_t number() const { return m_number; }
    [[noreturn]] void fail(const std::string& what) const {
        throw DataError(m_source.name() + ", line " + std::to_string(m_number) + ": " + what);
    }
    [[noreturn]] void failFile(const std::string& what) const {
        throw DataError(m_source.name() + ": " + what);
    }

private:
    bool rawLine(std::string& line) {
        line.clear();
        bool any = false;
        for (;;) {
            if (m_at == m_end) {
                m_chunk.resize(kChunkBytes);
                m_end = m_source.read(std::as_writable_bytes(std::span(m_chunk)));
                m_at = 0;
                if (m_end == 0) return any;
            }
            any = true;
            const auto begin = m_chunk.begin() + static_cast<std::ptrdiff_t>(m_at);
            const auto end = m_chunk.begin() + static_cast<std::ptrdiff_t>(m_end);
            const auto newline = std::find(begin, end, '\n');
            line.append(begin, newline);
            m_at += static_cast<std::size_t>(newline - begin);
            if (line.size() > kMaxLineBytes) {
                ++m_number;
                fail(
                    "is longer than 1 MiB; this does not look like a table of numbers, check the "
                    "file");
            }
            if (newline != end) {
                ++m_at;
                return true;
            }
        }
    }

    ByteSource m_source;
    std::vector<char> m_chunk;
    std::size_t m_at = 0;
    std::size_t m_end = 0;
    std::int64_t m_number = 0;
};

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    text = text.substr(first, text.find_last_not_of(" \t") - first + 1);
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
        text = text.substr(1, text.size() - 2);
    return text;
}

template <class Fn>
std::int64_t forEachCell(std::string_view line, char separator, Fn&& fn) {
    std::int64_t count = 0;
    for (std::size_t at = 0;;) {
        const std::size_t end = line.find(separator, at);
        fn(count++, trimmed(line.substr(at, end == std::string_view::npos ? end : end - at)));
        if (end == std::string_view::npos) return count;
        at = end + 1;
    }
}

/// A cell as shown in a message: short, and without bytes that a terminal would obey.
std::string shown(std::string_view cell) {
    std::string text;
    for (const char c : cell.substr(0, 40)) text += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    return cell.size() > 40 ? text + "…" : text;
}

float numberIn(const LineReader& lines, std::int64_t column, std::string_view cell) {
    std::string_view digits = cell;
    if (digits.starts_with('+')) digits.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) {
        const std::string where = "column " + std::to_string(column + 1);
        if (cell.empty())
            lines.fail(where + " is empty, a number was expected; fill it in or drop the line");
        lines.fail(where + " is \"" + shown(cell) + "\", a number was expected; correct the cell" +
                   (lines.number() == 1 ? ", or say that the first line is a header" : ""));
    }
    return static_cast<float>(value);
}

}  // namespace

CsvTable read_csv(ByteSource source, const CsvOptions& options) {
    LineReader lines(std::move(source));
    CsvTable table;
    std::vector<float> values;
    std::int64_t columns = 0;
    std::int64_t rows = 0;
    std::string line;
    if (options.header && lines.next(line)) {
        columns = forEachCell(line, options.separator, [&](std::int64_t, std::string_view cell) {
            table.columns.emplace_back(cell);
        });
    }
    while (lines.next(line)) {
        const std::int64_t count = std::count(line.begin(), line.end(), options.separator) + 1;
        if (columns == 0) columns = count;
        if (count != columns) {
            lines.fail("has " + std::to_string(count) + (count == 1 ? " cell" : " cells") +
                       ", the lines before have " + std::to_string(columns) +
                       "; correct the line, or get the file again if it is cut");
        }
        if ((rows + 1) * columns > options.maxElements) {
            lines.fail("the table has more than " + std::to_string(options.maxElements) +
                       " cells, the limit; use a part of it");
        }
        forEachCell(line, options.separator, [&](std::int64_t column, std::string_view cell) {
            values.push_back(numberIn(lines, column, cell));
        });
        ++rows;
    }
    if (rows == 0) lines.failFile("holds no line of numbers; check that it is the right file");
    table.values = Tensor::from<float>(values, {rows, columns});
    return table;
}

CsvTable read_csv(const std::string& path, const CsvOptions& options) {
    return read_csv(ByteSource::file(path), options);
}

}  // namespace tapescope::engine::data
