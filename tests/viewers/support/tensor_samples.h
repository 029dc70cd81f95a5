// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/tensors/tensor_provider.h"

#include <QStringList>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

namespace tapescope::viewers::test {

/// A tensor in memory as a debug adapter would serve it: slices by NumPy text, answers only when
/// answer() is called.
class MemoryTensor final : public TensorProvider {
public:
    MemoryTensor(std::vector<qint64> shape, std::vector<double> values,
                 QString dtype = QStringLiteral("f32"))
        : m_shape(std::move(shape)), m_values(std::move(values)), m_dtype(std::move(dtype)) {}

    void requestStats(quint64 id, const TensorRef& tensor, int bins) override {
        log << QStringLiteral("stats %1 %2").arg(tensor.reference).arg(bins);
        m_waiting.push_back([this, id, bins] { emit statsReady(id, stats(bins)); });
    }
    void requestSlice(quint64 id, const TensorRef& tensor, const QString& slice,
                      qint64 maxElements) override {
        log << QStringLiteral("slice %1 [%2] %3").arg(tensor.reference, slice).arg(maxElements);
        if (!failure.isEmpty()) {
            m_waiting.push_back([this, id] { emit requestFailed(id, failure); });
            return;
        }
        m_waiting.push_back(
            [this, id, slice, maxElements] { emit sliceReady(id, cut(slice, maxElements)); });
    }
    /// Answers what was asked, also what is asked meanwhile. Returns how many answers were sent.
    int answer() {
        int sent = 0;
        while (!m_waiting.empty()) {
            const auto waiting = std::exchange(m_waiting, {});
            for (const auto& w : waiting) w();
            sent += static_cast<int>(waiting.size());
        }
        return sent;
    }
    std::size_t waiting() const { return m_waiting.size(); }

    TensorStats stats(int bins) const {
        TensorStats s;
        s.shape = m_shape;
        s.dtype = m_dtype;
        s.device = QStringLiteral("cpu");
        s.numel = static_cast<qint64>(m_values.size());
        std::vector<double> finite;
        for (const double v : m_values) {
            if (std::isnan(v)) {
                ++s.nanCount;
            } else if (std::isinf(v)) {
                ++s.infCount;
            } else {
                finite.push_back(v);
            }
        }
        if (finite.empty()) return s;
        s.min = *std::ranges::min_element(finite);
        s.max = *std::ranges::max_element(finite);
        double sum = 0;
        double squares = 0;
        for (const double v : finite) {
            sum += v;
            squares += v * v;
        }
        const auto n = static_cast<double>(finite.size());
        s.mean = sum / n;
        s.std = std::sqrt(std::max(0.0, squares / n - s.mean * s.mean));
        if (!(s.max > s.min)) return s;
        s.counts.assign(static_cast<std::size_t>(bins), 0);
        for (int i = 0; i <= bins; ++i) s.edges.push_back(s.min + (s.max - s.min) * i / bins);
        for (const double v : finite) {
            const int bin =
                std::min(bins - 1, static_cast<int>((v - s.min) / (s.max - s.min) * bins));
            ++s.counts[static_cast<std::size_t>(bin)];
        }
        return s;
    }

    QStringList log;
    QString failure;

private:
    struct Range {
        qint64 start, stop, step;
        bool keep;
    };
    TensorSlice cut(const QString& text, qint64 maxElements) const {
        std::vector<Range> ranges;
        const QStringList parts = text.isEmpty() ? QStringList() : text.split(u',');
        for (qsizetype i = 0; i < parts.size(); ++i) {
            const qint64 size = m_shape[static_cast<std::size_t>(i)];
            const QStringList fields = parts[i].trimmed().split(u':');
            if (fields.size() == 1) {
                const qint64 at = fields[0].toLongLong();
                ranges.push_back({at, at + 1, 1, false});
            } else {
                ranges.push_back({fields[0].isEmpty() ? 0 : fields[0].toLongLong(),
                                  fields[1].isEmpty() ? size : fields[1].toLongLong(),
                                  fields.size() > 2 ? fields[2].toLongLong() : 1, true});
            }
        }
        TensorSlice slice;
        for (const Range& r : ranges) {
            if (r.keep) slice.shape.push_back((r.stop - r.start + r.step - 1) / r.step);
        }
        const std::function<void(std::size_t, qint64)> walk = [&](std::size_t axis, qint64 offset) {
            if (axis == ranges.size()) {
                if (static_cast<qint64>(slice.values.size()) < maxElements) {
                    slice.values.push_back(m_values[static_cast<std::size_t>(offset)]);
                } else {
                    slice.truncated = true;
                }
                return;
            }
            for (qint64 i = ranges[axis].start; i < ranges[axis].stop; i += ranges[axis].step)
                walk(axis + 1, offset * m_shape[axis] + i);
        };
        if (!m_values.empty()) walk(0, 0);
        return slice;
    }

    std::vector<qint64> m_shape;
    std::vector<double> m_values;
    QString m_dtype;
    std::vector<std::function<void()>> m_waiting;
};

/// Smooth waves with both signs.
inline std::vector<double> waves(qint64 count) {
    std::vector<double> values;
    for (qint64 i = 0; i < count; ++i) {
        const auto x = static_cast<double>(i);
        values.push_back(std::sin(x * 0.11) * (1 + 0.3 * std::cos(x * 0.017)));
    }
    return values;
}

}  // namespace tapescope::viewers::test
