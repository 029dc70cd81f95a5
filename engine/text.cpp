// SPDX-License-Identifier: Apache-2.0
#include "engine/text.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace tapescope::engine {
namespace {

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

std::size_t editDistance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
        }
    }
    return row[b.size()];
}

}  // namespace

std::vector<std::string> nearestNames(std::string_view name,
                                      std::span<const std::string> candidates, int count) {
    const std::string wanted =
        lower(name.substr(0, 128));  // a hostile name must not cost quadratic time
    if (wanted.empty()) return {};
    std::vector<std::pair<std::size_t, const std::string*>> scored;
    for (const std::string& candidate : candidates) {
        const std::string have = lower(candidate);
        std::size_t distance = editDistance(wanted, have);
        if (have.find(wanted) != std::string::npos ||
            (have.size() > 2 && wanted.find(have) != std::string::npos)) {
            distance = std::min<std::size_t>(distance, 1);
        }
        if (distance <= std::max<std::size_t>(1, wanted.size() / 3 + 1))
            scored.emplace_back(distance, &candidate);
    }
    std::stable_sort(scored.begin(), scored.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> out;
    for (const auto& [distance, candidate] : scored) {
        // With hundreds of names something is always a little alike: only the nearest are meant.
        if (static_cast<int>(out.size()) == count || distance > scored.front().first) break;
        out.push_back(*candidate);
    }
    return out;
}

std::string didYouMean(std::string_view name, std::span<const std::string> candidates) {
    const std::vector<std::string> near = nearestNames(name, candidates);
    if (near.empty()) return "";
    std::string text = "; did you mean ";
    for (std::size_t i = 0; i < near.size(); ++i) {
        if (i > 0) text += i + 1 == near.size() ? " or " : ", ";
        text += near[i];
    }
    return text + "?";
}

}  // namespace tapescope::engine
