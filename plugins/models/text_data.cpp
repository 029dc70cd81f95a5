// SPDX-License-Identifier: Apache-2.0
#include "plugins/models/text_data.h"

#include "engine/data/byte_source.h"
#include "engine/data/shuffle.h"
#include "engine/errors.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace tapescope::plugins {
namespace {

using namespace engine;

constexpr std::size_t kMostWords = 40000;
constexpr std::size_t kMadeUpWords = 12000;

std::uint32_t pick(Generator& generator, std::size_t count) {
    return static_cast<std::uint32_t>(std::uint64_t{generator.next32()} * count >> 32U);
}

/// "Zürich" and "AA's" are none.
bool tidy(std::string& word) {
    for (char& c : word) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (c < 'a' || c > 'z') return false;
    }
    return word.size() >= 2;
}

std::vector<std::string> readWords(const std::string& path) {
    data::ByteSource source = data::ByteSource::file(path);
    std::vector<std::string> words;
    std::string word;
    std::array<std::byte, 65536> buffer;
    const auto finish = [&] {
        if (tidy(word)) words.push_back(word);
        word.clear();
    };
    for (std::size_t got = 0; (got = source.read(buffer)) > 0;) {
        for (std::size_t i = 0; i < got; ++i) {
            const char c = static_cast<char>(buffer[i]);
            if (c == '\n' || c == '\r') {
                finish();
            } else {
                word += c;
                if (word.size() > 1000)
                    throw DataError(path +
                                    ": has a line of over 1000 characters; it takes a "
                                    "list of words, one a line");
            }
        }
    }
    finish();
    if (words.size() < 100) {
        throw DataError(path + ": holds only " + std::to_string(words.size()) +
                        " words of the letters a to z; it takes a list of words, one a line");
    }
    return words;
}

/// Syllables with letters that prefer some neighbours: enough structure to learn for minutes.
std::vector<std::string> makeUpWords(Generator& generator) {
    constexpr std::array<std::string_view, 14> kOnsets{"b", "br", "d", "f", "g",  "gl", "k",
                                                       "m", "n",  "p", "s", "st", "t",  "v"};
    constexpr std::array<std::string_view, 7> kVowels{"a", "e", "i", "o", "u", "ai", "ou"};
    constexpr std::array<std::string_view, 6> kEnds{"", "", "n", "r", "l", "s"};
    constexpr std::array<std::string_view, 5> kSuffixes{"", "", "ing", "er", "ly"};
    std::vector<std::string> words;
    while (words.size() < kMadeUpWords) {
        std::string word;
        std::uint32_t onset = pick(generator, kOnsets.size());
        const std::uint32_t syllables = 1 + pick(generator, 3);
        for (std::uint32_t i = 0; i < syllables; ++i) {
            word += kOnsets[onset];
            // A vowel follows from its onset three times in four.
            const std::uint32_t vowel = pick(generator, 4) == 0
                                            ? pick(generator, kVowels.size())
                                            : onset % static_cast<std::uint32_t>(kVowels.size());
            word += kVowels[vowel];
            word += kEnds[pick(generator, kEnds.size())];
            onset = (onset * 5 + vowel + pick(generator, 3)) %
                    static_cast<std::uint32_t>(kOnsets.size());
        }
        word += kSuffixes[pick(generator, kSuffixes.size())];
        words.push_back(std::move(word));
    }
    return words;
}

std::string findWords(const std::string& dir) {
    for (const char* name : {"words.txt.gz", "words.txt"}) {
        const std::filesystem::path path = std::filesystem::path(dir) / name;
        std::error_code ignored;
        if (std::filesystem::is_regular_file(path, ignored)) return path.string();
    }
    throw DataError(dir + ": holds no words; it takes " + wordsHelp());
}

}  // namespace

CharText CharText::load(const std::optional<std::string>& dir, Generator& generator) {
    CharText out;
    std::vector<std::string> words;
    if (dir) {
        out.m_source = findWords(*dir);
        words = readWords(out.m_source);
    } else {
        out.m_source = "made-up words";
        words = makeUpWords(generator);
    }
    const std::vector<std::int64_t> order =
        data::shuffledIndices(static_cast<std::int64_t>(words.size()), generator);
    for (std::size_t i = 0; i < std::min(order.size(), kMostWords); ++i) {
        for (const char c : words[static_cast<std::size_t>(order[i])])
            out.m_text.push_back(c - 'a' + 1);
        out.m_text.push_back(0);
    }
    out.m_trainEnd = out.size() * 9 / 10;
    return out;
}

void CharText::requireRoom(std::int64_t begin, std::int64_t end, std::int64_t length) const {
    if (end - begin > length) return;
    throw DataError(m_source + ": has " + std::to_string(end - begin) +
                    " characters, too few for a context of " + std::to_string(length));
}

CharText::Windows CharText::windows(const std::vector<std::int64_t>& starts,
                                    std::int64_t length) const {
    std::vector<std::int64_t> input;
    std::vector<std::int64_t> target;
    for (const std::int64_t start : starts) {
        const auto from = m_text.begin() + start;
        input.insert(input.end(), from, from + length);
        target.insert(target.end(), from + 1, from + length + 1);
    }
    const Dims sizes{static_cast<std::int64_t>(starts.size()), length};
    Windows out{Tensor::from(std::span<const std::int64_t>(input), sizes),
                Tensor::from(std::span<const std::int64_t>(target), sizes)};
    out.input.set_role(MemoryRole::Input);
    out.target.set_role(MemoryRole::Input);
    return out;
}

CharText::Windows CharText::training(std::int64_t batch, std::int64_t length,
                                     Generator& generator) const {
    requireRoom(0, m_trainEnd, length);
    std::vector<std::int64_t> starts;
    for (std::int64_t i = 0; i < batch; ++i)
        starts.push_back(pick(generator, static_cast<std::size_t>(m_trainEnd - length)));
    return windows(starts, length);
}

CharText::Windows CharText::heldBack(std::int64_t batch, std::int64_t length) const {
    requireRoom(m_trainEnd, size(), length);
    const std::int64_t room = size() - m_trainEnd - length;
    std::vector<std::int64_t> starts;
    for (std::int64_t i = 0; i < batch; ++i) starts.push_back(m_trainEnd + i * room / batch);
    return windows(starts, length);
}

std::string CharText::decode(const std::vector<std::int64_t>& tokens) {
    std::string text;
    for (const std::int64_t token : tokens)
        text += token == 0 ? ' ' : static_cast<char>('a' + token - 1);
    return text;
}

std::string wordsHelp() { return "words.txt or words.txt.gz, a list of words, one a line"; }

}  // namespace tapescope::plugins
