// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/tensors/slice_spec.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>

namespace tapescope::viewers {

namespace {

struct SliceText {
    Q_DECLARE_TR_FUNCTIONS(tapescope::viewers::SliceText)
};

QString rangeText(qint64 start, qint64 step, qint64 count, qint64 size) {
    const qint64 stop = count > 0 ? start + (count - 1) * step + 1 : start;
    if (start == 0 && step == 1 && stop == size) return QStringLiteral(":");
    // Whole axes by step keep NumPy's short form.
    const bool toEnd = count > 0 && stop + step > size;
    QString text = start == 0 && toEnd ? QStringLiteral(":") : QStringLiteral("%1:").arg(start);
    if (!(start == 0 && toEnd)) text += QString::number(stop);
    if (step != 1) text += QStringLiteral(":%1").arg(step);
    return text;
}

}  // namespace

SliceSpec::SliceSpec(std::vector<qint64> shape)
    : m_shape(std::move(shape)), m_axes(m_shape.size()) {
    const int last = rank() - 1;
    if (last >= 1) setShownAxes(last - 1, last);
    if (last == 0) setShownAxes(0, -1);
}

qint64 SliceSpec::rows() const {
    if (std::ranges::any_of(m_shape, [](qint64 n) { return n == 0; })) return 0;
    return m_rowAxis < 0 ? 1 : axis(m_rowAxis).count;
}

qint64 SliceSpec::columns() const {
    if (std::ranges::any_of(m_shape, [](qint64 n) { return n == 0; })) return 0;
    return m_columnAxis < 0 ? 1 : axis(m_columnAxis).count;
}

void SliceSpec::setShownAxes(int row, int column) {
    for (int i = 0; i < rank(); ++i) {
        Axis& a = m_axes[static_cast<std::size_t>(i)];
        const bool show = i == row || i == column;
        if (show && !a.range) a = {true, 0, 1, m_shape[static_cast<std::size_t>(i)]};
        if (!show && a.range) a = {false, a.count > 0 ? a.start : 0, 1, 0};
    }
    m_rowAxis = row;
    m_columnAxis = column;
}

void SliceSpec::setIndex(int axis, qint64 index) {
    const qint64 size = m_shape[static_cast<std::size_t>(axis)];
    m_axes[static_cast<std::size_t>(axis)].start =
        std::clamp<qint64>(index, 0, std::max<qint64>(0, size - 1));
}

SliceSpec SliceSpec::strided(qint64 n) const {
    SliceSpec result = *this;
    for (Axis& a : result.m_axes) {
        if (!a.range) continue;
        a.count = (a.count + n - 1) / n;
        a.step *= n;
    }
    return result;
}

std::optional<SliceSpec> SliceSpec::parse(const QString& text, const std::vector<qint64>& shape,
                                          QString* error) {
    const auto fail = [error](const QString& message) {
        if (error != nullptr) *error = message;
        return std::nullopt;
    };
    QString inner = text.trimmed();
    if (inner.startsWith(u'[') && inner.endsWith(u']'))
        inner = inner.mid(1, inner.size() - 2).trimmed();
    QStringList parts = inner.isEmpty() ? QStringList() : inner.split(u',');
    for (QString& part : parts) part = part.trimmed();
    if (!parts.isEmpty() && parts.back().isEmpty()) parts.removeLast();  // "0," as NumPy takes it
    const auto rank = static_cast<qsizetype>(shape.size());
    const qsizetype dots = parts.count(QStringLiteral("..."));
    if (dots > 1) return fail(SliceText::tr("“...” may stand only once in a slice."));
    if (parts.size() - dots > rank) {
        return fail(SliceText::tr("The slice has %1 entries, the tensor %2 axes.")
                        .arg(parts.size() - dots)
                        .arg(rank));
    }
    qsizetype fill = parts.indexOf(QStringLiteral("..."));
    if (fill >= 0) {
        parts.removeAt(fill);
    } else {
        fill = parts.size();
    }
    while (parts.size() < rank) parts.insert(fill, QStringLiteral(":"));

    SliceSpec result;
    result.m_shape = shape;
    std::vector<int> ranges;
    for (qsizetype i = 0; i < rank; ++i) {
        const qint64 size = shape[static_cast<std::size_t>(i)];
        const QStringList fields = parts[i].split(u':');
        Axis axis;
        bool good = true;
        const auto number = [&](const QString& field, qint64 otherwise) {
            if (field.trimmed().isEmpty()) return otherwise;
            bool ok = false;
            const qint64 value = field.trimmed().toLongLong(&ok);
            good = good && ok;
            return value;
        };
        if (fields.size() == 1) {
            bool ok = false;
            qint64 index = fields[0].toLongLong(&ok);
            if (!ok)
                return fail(
                    SliceText::tr("“%1” is no index or range; write for example 0, 2:5 or :")
                        .arg(parts[i]));
            if (index < -size || index >= size) {
                return fail(SliceText::tr("Index %1 is outside axis %2 of size %3.")
                                .arg(index)
                                .arg(i)
                                .arg(size));
            }
            if (index < 0) index += size;
            axis.start = index;
        } else {
            if (fields.size() > 3) good = false;
            qint64 start = number(fields[0], 0);
            qint64 stop = number(fields[1], size);
            axis.step = fields.size() > 2 ? number(fields[2], 1) : 1;
            if (!good)
                return fail(
                    SliceText::tr("“%1” is no index or range; write for example 0, 2:5 or :")
                        .arg(parts[i]));
            if (axis.step < 1)
                return fail(SliceText::tr("The step of “%1” must be 1 or more.").arg(parts[i]));
            if (start < 0) start += size;
            if (stop < 0) stop += size;
            start = std::clamp<qint64>(start, 0, size);
            stop = std::clamp<qint64>(stop, start, size);
            if (start == stop && size > 0)
                return fail(SliceText::tr("“%1” is empty on axis %2 of size %3.")
                                .arg(parts[i])
                                .arg(i)
                                .arg(size));
            axis.range = true;
            axis.start = start;
            axis.count = (stop - start + axis.step - 1) / axis.step;
            ranges.push_back(static_cast<int>(i));
        }
        result.m_axes.push_back(axis);
    }
    while (ranges.size() > 2) {
        Axis& surplus = result.m_axes[static_cast<std::size_t>(ranges.front())];
        surplus = {false, surplus.start, 1, 0};
        ranges.erase(ranges.begin());
    }
    if (!ranges.empty()) result.m_rowAxis = ranges[0];
    if (ranges.size() > 1) result.m_columnAxis = ranges[1];
    return result;
}

QString SliceSpec::text() const {
    QStringList parts;
    for (int i = 0; i < rank(); ++i) {
        const Axis& a = axis(i);
        parts << (a.range
                      ? rangeText(a.start, a.step, a.count, m_shape[static_cast<std::size_t>(i)])
                      : QString::number(a.start));
    }
    return parts.join(QStringLiteral(", "));
}

QString SliceSpec::blockText(qint64 row, qint64 rows, qint64 column, qint64 columns) const {
    QStringList parts;
    for (int i = 0; i < rank(); ++i) {
        const Axis& a = axis(i);
        const qint64 size = m_shape[static_cast<std::size_t>(i)];
        if (i == m_rowAxis) {
            parts << rangeText(a.start + row * a.step, a.step, rows, size);
        } else if (i == m_columnAxis) {
            parts << rangeText(a.start + column * a.step, a.step, columns, size);
        } else {
            parts << QString::number(a.start);
        }
    }
    return parts.join(QStringLiteral(", "));
}

QString SliceSpec::stackText(int stack, qint64 count) const {
    QStringList parts;
    for (int i = 0; i < rank(); ++i) {
        const Axis& a = axis(i);
        const qint64 size = m_shape[static_cast<std::size_t>(i)];
        if (i == stack) {
            parts << rangeText(0, 1, count, size);
        } else {
            parts << (a.range ? rangeText(a.start, a.step, a.count, size)
                              : QString::number(a.start));
        }
    }
    return parts.join(QStringLiteral(", "));
}

QString SliceSpec::cellText(qint64 row, qint64 column) const {
    QStringList parts;
    for (int i = 0; i < rank(); ++i) {
        const Axis& a = axis(i);
        const qint64 offset = i == m_rowAxis ? row : i == m_columnAxis ? column : 0;
        parts << QString::number(a.start + offset * a.step);
    }
    return parts.join(QStringLiteral(", "));
}

}  // namespace tapescope::viewers
