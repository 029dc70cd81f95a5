// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/random.h"
#include "engine/tensor/tensor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tapescope::plugins {

/// Words as one row of characters: 0 is the line end between words, 1 to 26 are a to z.
class CharText {
public:
    static constexpr std::int64_t kVocabulary = 27;

    /// The words of words.txt or words.txt.gz in dir, in an order drawn from the generator (words
    /// with other letters than a to z are left out, capitals made small); without a dir, words made
    /// up of syllables. The last tenth is held back. Throws engine::DataError.
    static CharText load(const std::optional<std::string>& dir, engine::Generator& generator);

    std::int64_t size() const { return static_cast<std::int64_t>(m_text.size()); }
    const std::string& source() const { return m_source; }

    /// Windows of length + 1 at random places: input i64[batch, length] and, one further, target.
    struct Windows {
        engine::Tensor input;
        engine::Tensor target;
    };
    Windows training(std::int64_t batch, std::int64_t length, engine::Generator& generator) const;
    /// The same windows every time.
    Windows heldBack(std::int64_t batch, std::int64_t length) const;

    static std::string decode(const std::vector<std::int64_t>& tokens);

private:
    Windows windows(const std::vector<std::int64_t>& starts, std::int64_t length) const;
    void requireRoom(std::int64_t begin, std::int64_t end, std::int64_t length) const;

    std::vector<std::int64_t> m_text;
    std::int64_t m_trainEnd = 0;
    std::string m_source;
};

/// Which file CharText::load looks for, for people.
std::string wordsHelp();

}  // namespace tapescope::plugins
