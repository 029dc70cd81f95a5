// SPDX-License-Identifier: Apache-2.0
#include "engine/debug/slice.h"

#include "engine/errors.h"
#include "engine/tensor/tensor_impl.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace tapescope::engine::debug {
namespace {

std::string_view trim(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

[[noreturn]] void refuse(std::string_view entry, const std::string& why) {
    throw Error("The slice entry \"" + std::string(entry) + "\" " + why);
}

std::int64_t parseInteger(std::string_view text, std::string_view entry) {
    const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) {
        refuse(entry, "is not a number, start:stop:step or \"...\".");
    }
    return value;
}

SliceItem parseItem(std::string_view entry) {
    SliceItem item;
    if (entry == "...") {
        item.kind = SliceItem::Kind::Ellipsis;
        return item;
    }
    if (entry.find(':') == std::string_view::npos) {
        item.index = parseInteger(entry, entry);
        return item;
    }
    item.kind = SliceItem::Kind::Range;
    std::vector<std::string_view> parts;
    for (std::string_view rest = entry;;) {
        const std::size_t colon = rest.find(':');
        parts.push_back(trim(rest.substr(0, colon)));
        if (colon == std::string_view::npos) break;
        rest.remove_prefix(colon + 1);
    }
    if (parts.size() > 3) refuse(entry, "has more than start:stop:step.");
    if (!parts[0].empty()) item.start = parseInteger(parts[0], entry);
    if (!parts[1].empty()) item.stop = parseInteger(parts[1], entry);
    if (parts.size() == 3 && !parts[2].empty()) item.step = parseInteger(parts[2], entry);
    if (item.step == 0) refuse(entry, "steps by 0: give a step other than 0.");
    return item;
}

/// Python's slice.indices(): first element and number of elements of a range over an axis of size
/// n.
struct Extent {
    std::int64_t first = 0;
    std::int64_t count = 0;
};
Extent extentOf(const SliceItem& item, std::int64_t n) {
    const bool back = item.step < 0;
    const std::int64_t lowest = back ? -1 : 0;  // where an end that lies outside is clipped to
    const std::int64_t highest = back ? n - 1 : n;
    const auto clip = [&](std::int64_t at) {
        return std::clamp(at < 0 ? at + n : at, lowest, highest);
    };
    const std::int64_t first = item.start ? clip(*item.start) : (back ? highest : lowest);
    const std::int64_t stop = item.stop ? clip(*item.stop) : (back ? lowest : highest);
    if (back ? first <= stop : first >= stop) return {};
    // step may be any int64: divide the distance as unsigned, where -step cannot overflow.
    const auto distance = static_cast<std::uint64_t>(back ? first - stop : stop - first);
    const std::uint64_t step = back ? std::uint64_t{0} - static_cast<std::uint64_t>(item.step)
                                    : static_cast<std::uint64_t>(item.step);
    return {first, static_cast<std::int64_t>((distance - 1) / step) + 1};
}

}  // namespace

std::vector<SliceItem> parseSlice(std::string_view text) {
    std::vector<SliceItem> items;
    if (trim(text).empty()) return items;
    bool ellipsis = false;
    for (std::string_view rest = text;;) {
        const std::size_t comma = rest.find(',');
        const std::string_view entry = trim(rest.substr(0, comma));
        const bool trailing = comma == std::string_view::npos && entry.empty() && !items.empty();
        if (!trailing) {  // "0," is NumPy's (0,)
            if (entry.empty()) refuse(text, "has nothing between two commas.");
            items.push_back(parseItem(entry));
            if (items.back().kind == SliceItem::Kind::Ellipsis) {
                if (ellipsis) refuse(text, "has \"...\" twice.");
                ellipsis = true;
            }
        }
        if (comma == std::string_view::npos) break;
        rest.remove_prefix(comma + 1);
    }
    return items;
}

Tensor applySlice(const Tensor& tensor, std::string_view text) {
    if (!tensor.defined()) throw Error("An undefined tensor cannot be sliced.");
    const std::vector<SliceItem> items = parseSlice(text);
    const int rank = tensor.dim();
    const auto taken = std::count_if(items.begin(), items.end(), [](const SliceItem& item) {
        return item.kind != SliceItem::Kind::Ellipsis;
    });
    if (taken > rank) {
        throw Error("The slice \"" + std::string(text) + "\" has " + std::to_string(taken) +
                    " entries; the tensor " + tensor.meta().toString() + " has " +
                    std::to_string(rank) + (rank == 1 ? " axis." : " axes."));
    }
    Dims sizes;
    Dims strides;
    std::int64_t offset = tensor.storage_offset();
    int axis = 0;
    const auto keep = [&](std::int64_t size, std::int64_t stride) {
        sizes.push_back(size);
        strides.push_back(stride);
        ++axis;
    };
    for (const SliceItem& item : items) {
        if (item.kind == SliceItem::Kind::Ellipsis) {
            for (auto left = rank - taken; left > 0; --left)
                keep(tensor.sizes()[axis], tensor.strides()[axis]);
            continue;
        }
        const std::int64_t n = tensor.sizes()[axis];
        const std::int64_t stride = tensor.strides()[axis];
        if (item.kind == SliceItem::Kind::Index) {
            if (item.index < -n || item.index >= n) {
                throw Error("The index " + std::to_string(item.index) +
                            " is out of range for axis " + std::to_string(axis) + " of " +
                            tensor.meta().toString() + ": it has " + std::to_string(n) +
                            (n == 1 ? " element." : " elements."));
            }
            offset += (item.index < 0 ? item.index + n : item.index) * stride;
            ++axis;
            continue;
        }
        const Extent extent = extentOf(item, n);
        offset += extent.first * stride;
        // With at most one element the step is never taken, and may be too large to multiply.
        keep(extent.count, extent.count > 1 ? stride * item.step : stride);
    }
    while (axis < rank) keep(tensor.sizes()[axis], tensor.strides()[axis]);
    return makeView(tensor, sizes, strides, offset);
}

}  // namespace tapescope::engine::debug
