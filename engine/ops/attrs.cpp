// SPDX-License-Identifier: Apache-2.0
#include "engine/errors.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"

#include <charconv>

namespace tapescope::engine {
namespace {

std::int64_t parseInt(std::string_view text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}
double parseReal(std::string_view text) {
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// "[2, 3]", "[]", or a bare "1": one number, which stands for every dimension.
Dims parseDims(std::string_view text) {
    if (!text.starts_with('[')) return {parseInt(text)};
    Dims dims;
    for (std::size_t at = 1; at < text.size() && text[at] != ']';) {
        dims.push_back(parseInt(text.substr(at)));
        at = text.find_first_of(",]", at);
        if (text[at] == ',') at = text.find_first_not_of(' ', at + 1);
    }
    return dims;
}

DType parseDType(std::string_view text) {
    for (const DType dtype : kAllDTypes) {
        if (text == dtypeName(dtype)) return dtype;
    }
    return DType::F32;
}

AttrValue defaultOf(const AttrDef& attr) {
    if (attr.defaultText == "none") return std::monostate{};
    switch (attr.kind) {
        case AttrKind::Bool:
            return attr.defaultText == "true";
        case AttrKind::Int:
            return parseInt(attr.defaultText);
        case AttrKind::Float:
            return parseReal(attr.defaultText);
        case AttrKind::Dims:
            return parseDims(attr.defaultText);
        case AttrKind::DType:
            return parseDType(attr.defaultText);
    }
    return {};
}

std::string_view kindName(AttrKind kind) {
    switch (kind) {
        case AttrKind::Bool:
            return "true or false";
        case AttrKind::Int:
            return "a whole number";
        case AttrKind::Float:
            return "a number";
        case AttrKind::Dims:
            return "a list of whole numbers";
        case AttrKind::DType:
            return "a dtype";
    }
    return "?";
}

/// value as the kind the row wants; whole numbers do as numbers.
AttrValue checked(const OpDef& op, const AttrDef& attr, const AttrValue& value) {
    if (attr.kind == AttrKind::Float && std::holds_alternative<std::int64_t>(value))
        return static_cast<double>(std::get<std::int64_t>(value));
    // The alternatives of AttrValue after monostate are in the order of AttrKind.
    if (value.index() == static_cast<std::size_t>(attr.kind) + 1) return value;
    throw Error(message(op.name, ": the argument ", attr.name, " must be ", kindName(attr.kind)));
}

}  // namespace

Attrs completeAttrs(const OpDef& op, const Attrs& given) {
    const int count = static_cast<int>(op.attrs.size());
    if (given.size() > count)
        throw Error(message(op.name, ": ", given.size(),
                            " numbers were given as arguments, it takes ", count));
    Attrs complete;
    for (int i = 0; i < count; ++i) {
        const AttrDef& attr = op.attrs[static_cast<std::size_t>(i)];
        if (given.has(i)) {
            complete.push_back(checked(op, attr, given[i]));
        } else if (!attr.defaultText.empty()) {
            complete.push_back(defaultOf(attr));
        } else {
            throw Error(message(op.name, ": the argument ", attr.name, " is missing; it must be ",
                                kindName(attr.kind)));
        }
    }
    return complete;
}

}  // namespace tapescope::engine
