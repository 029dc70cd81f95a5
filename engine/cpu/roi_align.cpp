// SPDX-License-Identifier: Apache-2.0
// Semantics: torchvision.ops.roi_align (He et al. 2017).
#include "engine/cpu/roi_align.h"

#include "engine/cpu/dense.h"
#include "engine/cpu/parallel.h"
#include "engine/ops/checks.h"

#include <algorithm>
#include <cmath>

namespace tapescope::engine::cpu {

namespace {

/// The box in elements of the image.
struct Region {
    std::int64_t image;
    double top;
    double left;
    double binHeight;
    double binWidth;
    std::int64_t gridRows;  ///< samples a bin
    std::int64_t gridColumns;
};
template <class T>
Region regionOf(const RoiAlignShape& s, const T* box) {
    const double offset = s.aligned ? 0.5 : 0.0;
    const auto corner = [&](int i) { return static_cast<double>(box[i]) * s.scale - offset; };
    Region r{};
    r.image = static_cast<std::int64_t>(box[0]);
    r.left = corner(1);
    r.top = corner(2);
    double width = corner(3) - r.left;
    double height = corner(4) - r.top;
    if (!s.aligned) {
        width = std::max(width, 1.0);
        height = std::max(height, 1.0);
    }
    r.binHeight = height / static_cast<double>(s.binRows);
    r.binWidth = width / static_cast<double>(s.binColumns);
    // More samples than this in one bin cannot be meant; the box is off by orders of magnitude.
    const auto samples = [&](double bin) {
        if (s.samplingRatio > 0) return s.samplingRatio;
        if (!(bin > 0)) return std::int64_t{0};  // NaN too
        return static_cast<std::int64_t>(
            std::min(std::ceil(bin), static_cast<double>(kMaxRoiSamples)));
    };
    r.gridRows = samples(r.binHeight);
    r.gridColumns = samples(r.binWidth);
    return r;
}

/// fn(element of the plane, weight) for what a sample at (y, x) reads.
template <class Fn>
void bilinear(const RoiAlignShape& s, double y, double x, const Fn& fn) {
    if (!(y >= -1 && y <= static_cast<double>(s.height) && x >= -1 &&
          x <= static_cast<double>(s.width)))
        return;
    const auto split = [](double at, std::int64_t size, std::int64_t& low, std::int64_t& high) {
        at = std::max(at, 0.0);
        low = static_cast<std::int64_t>(at);
        if (low >= size - 1) {
            low = high = size - 1;
            return 0.0;
        }
        high = low + 1;
        return at - static_cast<double>(low);
    };
    std::int64_t top = 0, bottom = 0, left = 0, right = 0;
    const double down = split(y, s.height, top, bottom);
    const double across = split(x, s.width, left, right);
    fn(top * s.width + left, (1 - down) * (1 - across));
    fn(top * s.width + right, (1 - down) * across);
    fn(bottom * s.width + left, down * (1 - across));
    fn(bottom * s.width + right, down * across);
}

/// fn(bin, element, weight): everything the bins of a region read; the weights of a bin are those
/// of its mean.
template <class Fn>
void forEachRead(const RoiAlignShape& s, const Region& r, const Fn& fn) {
    const double share =
        1 / static_cast<double>(std::max<std::int64_t>(r.gridRows * r.gridColumns, 1));
    for (std::int64_t row = 0; row < s.binRows; ++row)
        for (std::int64_t column = 0; column < s.binColumns; ++column)
            for (std::int64_t i = 0; i < r.gridRows; ++i) {
                const double y =
                    r.top + static_cast<double>(row) * r.binHeight +
                    (static_cast<double>(i) + 0.5) * r.binHeight / static_cast<double>(r.gridRows);
                for (std::int64_t j = 0; j < r.gridColumns; ++j) {
                    const double x = r.left + static_cast<double>(column) * r.binWidth +
                                     (static_cast<double>(j) + 0.5) * r.binWidth /
                                         static_cast<double>(r.gridColumns);
                    bilinear(s, y, x, [&](std::int64_t at, double weight) {
                        fn(row * s.binColumns + column, at, weight * share);
                    });
                }
            }
}

void checkImages(const RoiAlignShape& s, const Tensor& boxes) {
    const auto values = boxes.to_vector<double>();
    for (std::int64_t k = 0; k < s.boxes; ++k) {
        const double image = values[static_cast<std::size_t>(k * 5)];
        if (!(image >= 0 && image < static_cast<double>(s.batch)))
            throw IndexError(message("roi_align: box ", k, " is of image ", std::to_string(image),
                                     ", input has ", s.batch));
    }
}

}  // namespace

void roiAlign(const RoiAlignShape& shape, const Tensor& input, const Tensor& boxes,
              const Tensor& out) {
    checkImages(shape, boxes);
    const Tensor x = dense(input);
    const Tensor b = dense(boxes);
    const std::int64_t plane = shape.height * shape.width;
    const std::int64_t bins = shape.binRows * shape.binColumns;
    visitFloating(x.dtype(), [&]<class T>() {
        const T* from = x.data<T>();
        T* to = out.data<T>();
        std::fill_n(to, out.numel(), T(0));
        parallelFor(shape.boxes, 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t k = begin; k < end; ++k) {
                const Region r = regionOf(shape, b.data<T>() + k * 5);
                const T* image = from + r.image * shape.channels * plane;
                T* result = to + k * shape.channels * bins;
                forEachRead(shape, r, [&](std::int64_t bin, std::int64_t at, double weight) {
                    for (std::int64_t c = 0; c < shape.channels; ++c)
                        result[c * bins + bin] += static_cast<T>(weight) * image[c * plane + at];
                });
            }
        });
    });
}

void roiAlignBackward(const RoiAlignShape& shape, const Tensor& grad, const Tensor& boxes,
                      const Tensor& out) {
    checkImages(shape, boxes);
    const Tensor g = dense(grad);
    const Tensor b = dense(boxes);
    const std::int64_t plane = shape.height * shape.width;
    const std::int64_t bins = shape.binRows * shape.binColumns;
    visitFloating(g.dtype(), [&]<class T>() {
        const T* from = g.data<T>();
        T* to = out.data<T>();
        std::fill_n(to, out.numel(), T(0));
        // Boxes overlap: the channels are split, so that each sum runs in the order of the boxes.
        parallelFor(shape.channels, 8, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t k = 0; k < shape.boxes; ++k) {
                const Region r = regionOf(shape, b.data<T>() + k * 5);
                T* image = to + r.image * shape.channels * plane;
                const T* result = from + k * shape.channels * bins;
                forEachRead(shape, r, [&](std::int64_t bin, std::int64_t at, double weight) {
                    for (std::int64_t c = begin; c < end; ++c)
                        image[c * plane + at] += static_cast<T>(weight) * result[c * bins + bin];
                });
            }
        });
    });
}

}  // namespace tapescope::engine::cpu
