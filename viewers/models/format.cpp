// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/models/format.h"

#include <QDateTime>

#include <algorithm>
#include <array>
#include <cmath>

namespace tapescope::viewers::format {
namespace {

const QString kNoBreak = QStringLiteral(u"\u00a0");

struct Unit {
    double size;
    const char16_t* name;
};

QString notFinite(double value) {
    if (std::isnan(value)) return QStringLiteral("NaN");
    return value > 0 ? QStringLiteral(u"∞") : QStringLiteral(u"−∞");
}

QString withMinus(QString text) { return text.replace(u'-', u'−'); }

/// Three significant digits without an exponent, for 0.001 <= |v| < 1e6.
QString threeDigits(double v) {
    const double magnitude = std::abs(v);
    if (magnitude == 0) return QStringLiteral("0");
    // 0.9996 prints as 1.00, not as 1.000: the exponent is that of the rounded value.
    const int exponent = static_cast<int>(std::floor(std::log10(magnitude * 1.0005)));
    const int decimals = std::max(0, 2 - exponent);
    return withMinus(QString::number(v, 'f', decimals));
}

QString scaled(double value, const Unit* units, std::size_t n) {
    if (!std::isfinite(value)) return notFinite(value);
    const double magnitude = std::abs(value);
    std::size_t best = 0;
    // 999.5 and more would print as 1000: take the next unit already there.
    while (best + 1 < n && magnitude >= units[best + 1].size * 0.9995) ++best;
    const double v = value / units[best].size;
    // The smallest unit is whole (ns, B, items): no made-up decimals.
    const QString text = best == 0 && magnitude == std::floor(magnitude)
                             ? withMinus(QString::number(v, 'f', 0))
                             : threeDigits(v);
    const QString unit = QString::fromUtf16(units[best].name);
    return unit.isEmpty() ? text : text + kNoBreak + unit;
}

QString grouped(std::int64_t value) {
    QString digits = QString::number(value);
    const int first = value < 0 ? 1 : 0;
    for (int at = static_cast<int>(digits.size()) - 3; at > first; at -= 3)
        digits.insert(at, kNoBreak);
    return withMinus(digits);
}

constexpr std::array kDurations{Unit{1, u"ns"}, Unit{1e3, u"µs"}, Unit{1e6, u"ms"},
                                Unit{1e9, u"s"}};
constexpr std::array kBytes{Unit{1, u"B"}, Unit{1e3, u"KB"}, Unit{1e6, u"MB"}, Unit{1e9, u"GB"},
                            Unit{1e12, u"TB"}};
constexpr std::array kCounts{Unit{1, u""}, Unit{1e3, u"k"}, Unit{1e6, u"M"}, Unit{1e9, u"G"},
                             Unit{1e12, u"T"}};
constexpr std::array kFlops{Unit{1, u"FLOP"},    Unit{1e3, u"kFLOP"},  Unit{1e6, u"MFLOP"},
                            Unit{1e9, u"GFLOP"}, Unit{1e12, u"TFLOP"}, Unit{1e15, u"PFLOP"}};

}  // namespace

QString number(double value) {
    if (!std::isfinite(value)) return notFinite(value);
    const double magnitude = std::abs(value);
    if (magnitude == 0) return QStringLiteral("0");
    if (magnitude >= 1e-3 && magnitude < 1e6) {
        if (value == std::floor(value)) return withMinus(QString::number(value, 'f', 0));
        return threeDigits(value);
    }
    return withMinus(QString::number(value, 'e', 2));
}

QString exactNumber(double value) {
    if (!std::isfinite(value)) return notFinite(value);
    return withMinus(QString::number(value, 'g', QLocale::FloatingPointShortest));
}

QString duration(double ns) {
    if (std::isfinite(ns) && std::abs(ns) >= 120e9) {
        const double minutes = ns / 60e9;
        if (std::abs(minutes) < 120) return threeDigits(minutes) + kNoBreak + QStringLiteral("min");
        return threeDigits(minutes / 60) + kNoBreak + QStringLiteral("h");
    }
    return scaled(ns, kDurations.data(), kDurations.size());
}

QString exactDuration(std::int64_t ns) { return grouped(ns) + kNoBreak + QStringLiteral("ns"); }

QString durationTick(double ns, double tickNs) {
    std::size_t unit = 0;
    while (unit + 1 < kDurations.size() &&
           std::max(std::abs(ns), tickNs) >= kDurations[unit + 1].size)
        ++unit;
    const double tick = tickNs / kDurations[unit].size;
    const int decimals =
        tick >= 1 ? 0 : std::min(9, static_cast<int>(std::ceil(-std::log10(tick) - 1e-9)));
    return withMinus(QString::number(ns / kDurations[unit].size, 'f', decimals)) + kNoBreak +
           QString::fromUtf16(kDurations[unit].name);
}

QString bytes(double sizeBytes) { return scaled(sizeBytes, kBytes.data(), kBytes.size()); }
QString exactBytes(std::int64_t sizeBytes) {
    return grouped(sizeBytes) + kNoBreak + QStringLiteral("B");
}
QString count(double value) { return scaled(value, kCounts.data(), kCounts.size()); }
QString exactCount(std::int64_t value) { return grouped(value); }

QString flops(double value) { return scaled(value, kFlops.data(), kFlops.size()); }

QString flopRate(double value, double durationNs) {
    if (durationNs <= 0) return QStringLiteral(u"–");
    return flops(value / durationNs * 1e9) + QStringLiteral("/s");
}

QString percent(double fraction) {
    if (!std::isfinite(fraction)) return notFinite(fraction);
    return threeDigits(fraction * 100) + kNoBreak + QStringLiteral("%");
}

QString wallTime(double unixSeconds) {
    return QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(unixSeconds * 1e3))
        .toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
}

}  // namespace tapescope::viewers::format
