// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/tensors/tensor_header.h"

#include "viewers/common/theme.h"
#include "viewers/models/format.h"

#include <QPainter>

#include <algorithm>

namespace tapescope::viewers {

namespace {

constexpr int kMargin = 8;
constexpr int kGap = 12;

}  // namespace

QString typeText(const TensorStats& stats) {
    QStringList sizes;
    for (const qint64 n : stats.shape) sizes << QString::number(n);
    return stats.dtype + u'[' + sizes.join(u',') + u']';
}

TensorHeader::TensorHeader(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&Theme::current(), &Theme::changed, this, &TensorHeader::changed);
}

void TensorHeader::setTensor(const QString& name) {
    m_name = name;
    changed();
}

void TensorHeader::setStats(std::optional<TensorStats> stats) {
    m_stats = std::move(stats);
    m_error.clear();
    changed();
}

void TensorHeader::setError(const QString& message) {
    m_error = message;
    changed();
}

void TensorHeader::setStale(bool stale) {
    m_stale = stale;
    changed();
}

void TensorHeader::changed() {
    setAccessibleName(text());
    if (m_stats) {
        const TensorStats& s = *m_stats;
        setToolTip(tr("%1 %2 on %3, %4 elements\nNaN %5, Inf %6\nmin %7\nmean %8\nmax %9\nstd %10")
                       .arg(m_name, typeText(s), s.device, format::exactCount(s.numel),
                            format::exactCount(s.nanCount), format::exactCount(s.infCount),
                            format::exactNumber(s.min), format::exactNumber(s.mean),
                            format::exactNumber(s.max))
                       .arg(format::exactNumber(s.std)) +
                   (s.magnitudes ? tr("\nall of the magnitude |z|") : QString()));
    } else {
        setToolTip(m_name);
    }
    updateGeometry();
    update();
}

QList<TensorHeader::Part> TensorHeader::firstLine() const {
    const Theme& theme = Theme::current();
    QList<Part> parts{{m_name, theme.color(Theme::Text), true, false}};
    if (m_stats) {
        parts << Part{typeText(*m_stats), theme.color(Theme::Accent), false, true};
        if (m_stats->magnitudes)
            parts << Part{tr("magnitude |z|"), theme.color(Theme::Warning), false, false};
        parts << Part{m_stats->device, theme.color(Theme::Muted), false, false};
    }
    if (m_stale) parts << Part{tr("from the last stop"), theme.color(Theme::Warning), false, false};
    return parts;
}

QList<TensorHeader::Part> TensorHeader::secondLine() const {
    const Theme& theme = Theme::current();
    const QColor muted = theme.color(Theme::Muted);
    if (!m_error.isEmpty()) return {{m_error, theme.color(Theme::Bad), false, false}};
    if (!m_stats) return {{tr("asking for statistics…"), muted, false, false}};
    const TensorStats& s = *m_stats;
    const auto count = [&](const QString& name, qint64 n, Theme::Role role) {
        return Part{QStringLiteral("● %1 %2").arg(name, format::exactCount(n)),
                    n > 0 ? theme.color(role) : muted, n > 0, false};
    };
    QList<Part> parts{count(QStringLiteral("NaN"), s.nanCount, Theme::NaN),
                      count(QStringLiteral("Inf"), s.infCount, Theme::PosInf)};
    if (s.numel == 0) return parts << Part{tr("no elements"), muted, false, false};
    const auto value = [&](const QString& name, double v) {
        parts << Part{QStringLiteral("%1 %2").arg(name, format::number(v)),
                      theme.color(Theme::Text), false, true};
    };
    value(tr("min"), s.min);
    value(tr("mean"), s.mean);
    value(tr("max"), s.max);
    value(tr("std"), s.std);
    return parts;
}

QString TensorHeader::text() const {
    QStringList all;
    for (const Part& part : firstLine() + secondLine()) all << part.text;
    return all.join(QStringLiteral("  "));
}

QSize TensorHeader::sizeHint() const {
    const int line = QFontMetrics(Theme::current().font()).height();
    return {360, 2 * line + 12};
}

QSize TensorHeader::minimumSizeHint() const { return {120, sizeHint().height()}; }

void TensorHeader::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const double half = (height() - 8) / 2.0;
    paintLine(painter, firstLine(), 4, half);
    paintLine(painter, secondLine(), 4 + half, half);
}

/// The first part gives way where the line is too long: a name is shortened in its middle.
void TensorHeader::paintLine(QPainter& painter, const QList<Part>& parts, double y,
                             double height) const {
    const Theme& theme = Theme::current();
    const auto fontOf = [&](const Part& part) {
        QFont font = part.mono ? theme.monoFont() : part.bold ? theme.boldFont() : theme.font();
        font.setPixelSize(QFontInfo(theme.font()).pixelSize());
        return font;
    };
    double others = 0;
    for (qsizetype i = 1; i < parts.size(); ++i)
        others += QFontMetricsF(fontOf(parts[i])).horizontalAdvance(parts[i].text) + kGap;
    double x = kMargin;
    for (qsizetype i = 0; i < parts.size(); ++i) {
        const QFont font = fontOf(parts[i]);
        const QFontMetricsF metrics(font);
        double room = width() - kMargin - x;
        if (i == 0) room = std::max(60.0, room - others);
        if (room < 16) break;
        const QString text =
            metrics.elidedText(parts[i].text, i == 0 ? Qt::ElideMiddle : Qt::ElideRight, room);
        painter.setFont(font);
        painter.setPen(parts[i].color);
        painter.drawText(QRectF(x, y, room, height), Qt::AlignLeft | Qt::AlignVCenter, text);
        x += metrics.horizontalAdvance(text) + kGap;
    }
}

}  // namespace tapescope::viewers
