// SPDX-License-Identifier: Apache-2.0
#include "engine/errors.h"
#include "engine/ops/families.h"
#include "engine/ops/op_def.h"
#include "engine/text.h"

#include <cstdio>
#include <unordered_map>

namespace tapescope::engine {
namespace {

using NameIndex = std::unordered_map<std::string_view, const OpDef*>;

const NameIndex& nameIndex() {
    static const NameIndex index = [] {
        NameIndex names;
        for (const OpDef* op : OpTable::instance().rows()) names.emplace(op->name, op);
        return names;
    }();
    return index;
}

std::string realText(double v) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%g", v);
    return buffer;
}

std::string attrText(const AttrValue& value) {
    switch (value.index()) {
        case 0:
            return "none";
        case 1:
            return std::get<bool>(value) ? "true" : "false";
        case 2:
            return std::to_string(std::get<std::int64_t>(value));
        case 3:
            return realText(std::get<double>(value));
        case 4:
            return toString(std::get<Dims>(value));
        default:
            return std::string(dtypeName(std::get<DType>(value)));
    }
}

}  // namespace

std::string_view familyName(Family family) {
    switch (family) {
        case Family::Pointwise:
            return "pointwise";
        case Family::Comparison:
            return "comparison";
        case Family::Reduction:
            return "reduction";
        case Family::Shape:
            return "shape";
        case Family::Index:
            return "indexing";
        case Family::Linalg:
            return "linear algebra";
        case Family::Nn:
            return "nn";
        case Family::Random:
            return "random";
        case Family::Create:
            return "creation";
        case Family::Fft:
            return "fft";
    }
    return "?";
}

OpTable& OpTable::instance() {
    static OpTable table;
    return table;
}

OpTable::OpTable() {
    for (const auto family : {pointwiseOps, pointwiseMoreOps, compareOps, reduceOps,   sortingOps,
                              scanOps,      statisticsOps,    shapeOps,   diagonalOps, rearrangeOps,
                              indexOps,     linalgOps,        nnOps,      createOps,   randomOps,
                              sequenceOps,  complexOps,       fftOps,     optimOps,    ampOps}) {
        for (OpDef* op : family()) m_rows.push_back(op);
    }
}

const OpDef* OpTable::find(std::string_view name) const {
    const NameIndex& index = nameIndex();
    const auto it = index.find(name);
    return it == index.end() ? nullptr : it->second;
}

std::vector<std::string> OpTable::nearest(std::string_view name, int count) const {
    std::vector<std::string> names;
    names.reserve(m_rows.size());
    for (const OpDef* op : m_rows) names.emplace_back(op->name);
    return nearestNames(name, names, count);
}

bool OpTable::supports(const OpDef& op, DeviceKind device) const {
    return op.view != nullptr || op.composite != nullptr ||
           op.kernels[static_cast<std::size_t>(device)] != nullptr;
}

std::string signature(const OpDef& op) {
    std::string text = std::string(op.name) + "(";
    bool first = true;
    for (const ArgDef& arg : op.args) {
        if (!first) text += ", ";
        first = false;
        text += arg.list ? "*" + std::string(arg.name) : std::string(arg.name);
        if (arg.optional) text += "?";
    }
    if (!op.attrs.empty()) text += first ? "*" : ", *";
    for (const AttrDef& attr : op.attrs) {
        text += ", " + std::string(attr.name);
        if (!attr.defaultText.empty()) text += "=" + std::string(attr.defaultText);
    }
    return text + ")";
}

std::string attrsText(const OpDef& op, const Attrs& attrs) {
    std::string text;
    for (int i = 0; i < attrs.size(); ++i) {
        if (!text.empty()) text += ", ";
        if (static_cast<std::size_t>(i) < op.attrs.size()) {
            text += std::string(op.attrs[static_cast<std::size_t>(i)].name) + "=";
        }
        text += attrText(attrs[i]);
    }
    return text;
}

}  // namespace tapescope::engine
