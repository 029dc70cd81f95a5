// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/op_def.h"

#include <bit>
#include <cstdint>
#include <string_view>
#include <variant>

namespace tapescope::profiler {

// Hashes of structure, by content and never by address: a graph's signature is the same in every
// run.

/// splitmix64's finaliser over the running value: order matters, every bit spreads.
constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
    std::uint64_t z = hash + 0x9E3779B97F4A7C15U + value;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
}
constexpr std::uint64_t hashOf(std::string_view text) {
    std::uint64_t hash = 0xCBF29CE484222325U;  // FNV-1a
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    return mixed(hash, text.size());
}
inline std::uint64_t hashOf(const engine::Dims& dims) {
    std::uint64_t hash = mixed(1, static_cast<std::uint64_t>(dims.size()));
    for (const std::int64_t d : dims) hash = mixed(hash, static_cast<std::uint64_t>(d));
    return hash;
}
inline std::uint64_t hashOf(const engine::Dims& sizes, engine::DType dtype) {
    return mixed(hashOf(sizes), static_cast<std::uint64_t>(dtype));
}
inline std::uint64_t hashOf(const engine::AttrValue& value) {
    struct Visitor {
        std::uint64_t operator()(std::monostate) const { return 0; }
        std::uint64_t operator()(bool v) const { return v ? 1 : 0; }
        std::uint64_t operator()(std::int64_t v) const { return static_cast<std::uint64_t>(v); }
        std::uint64_t operator()(double v) const { return std::bit_cast<std::uint64_t>(v); }
        std::uint64_t operator()(const engine::Dims& v) const { return hashOf(v); }
        std::uint64_t operator()(engine::DType v) const { return static_cast<std::uint64_t>(v); }
    };
    return mixed(value.index(), std::visit(Visitor{}, value));
}
struct AttrsHash {
    std::uint64_t all = 0;
    /// Without the values of floats: a learning rate or Adam's bias correction changes from step to
    /// step and is no structure, as the elements of a tensor are none.
    std::uint64_t structure = 0;
};
inline AttrsHash hashOf(const engine::Attrs& attrs) {
    AttrsHash hash;
    for (int i = 0; i < attrs.size(); ++i) {
        const std::uint64_t value = hashOf(attrs[i]);
        hash.all = mixed(hash.all, value);
        hash.structure = mixed(hash.structure,
                               std::holds_alternative<double>(attrs[i]) ? attrs[i].index() : value);
    }
    return hash;
}

}  // namespace tapescope::profiler
