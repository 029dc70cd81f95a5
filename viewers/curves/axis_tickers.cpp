// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/curves/axis_tickers.h"

#include "viewers/models/format.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tapescope::viewers {
namespace {

QString withMinus(QString text) { return text.replace(u'-', u'−'); }

int decimalsFor(double step) {
    return std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 12);
}

/// A step that reads well at 1, 2 or 5 times a power of ten.
double niceStep(double raw) {
    const double power = std::pow(10, std::floor(std::log10(raw)));
    const double mantissa = raw / power;
    return power * (mantissa <= 1 ? 1 : mantissa <= 2 ? 2 : mantissa <= 5 ? 5 : 10);
}

}  // namespace

double ValueTicker::getTickStep(const QCPRange& range) {
    return niceStep(range.size() / std::max(1, tickCount()));
}

QVector<double> ValueTicker::createTickVector(double tickStep, const QCPRange& range) {
    m_step = tickStep;
    return QCPAxisTicker::createTickVector(tickStep, range);
}

QString ValueTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    if (std::abs(tick) < m_step * 1e-9) return QStringLiteral("0");
    const double magnitude = std::max(std::abs(tick), m_step);
    if (magnitude < 1e-4)
        return withMinus(QString::number(
            tick, 'e',
            tick == 0
                ? 0
                : decimalsFor(m_step / std::pow(10, std::floor(std::log10(std::abs(tick)))))));
    if (magnitude >= 1e6) return format::count(tick);
    return withMinus(QString::number(tick, 'f', decimalsFor(m_step)));
}

double StepTicker::getTickStep(const QCPRange& range) {
    return std::max(1.0, niceStep(range.size() / std::max(1, tickCount())));
}

QString StepTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    return format::exactCount(std::llround(tick));
}

int StepTicker::getSubTickCount(double tickStep) {
    return tickStep < 2 ? 0 : QCPAxisTicker::getSubTickCount(tickStep);
}

double ElapsedTicker::getTickStep(const QCPRange& range) {
    const double raw = range.size() / std::max(1, tickCount());
    constexpr std::array kSteps{1.0,    2.0,    5.0,     10.0,    15.0,   30.0,
                                60.0,   120.0,  300.0,   600.0,   900.0,  1800.0,
                                3600.0, 7200.0, 14400.0, 43200.0, 86400.0};
    if (raw < 1) return niceStep(raw);
    for (const double step : kSteps)
        if (step >= raw) return step;
    return niceStep(raw / 86400) * 86400;
}

QVector<double> ElapsedTicker::createTickVector(double tickStep, const QCPRange& range) {
    m_step = tickStep;
    return QCPAxisTicker::createTickVector(tickStep, range);
}

QString ElapsedTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    const double magnitude = std::abs(tick);
    if (magnitude < 60 || m_step < 1)
        return withMinus(QString::number(tick, 'f', decimalsFor(m_step))) +
               QStringLiteral(u"\u00a0s");
    const auto seconds = static_cast<qint64>(std::llround(magnitude));
    const QString sign = tick < 0 ? QStringLiteral(u"−") : QString();
    const QChar zero = u'0';
    if (seconds < 3600)
        return sign + QStringLiteral("%1:%2").arg(seconds / 60).arg(seconds % 60, 2, 10, zero);
    return sign + QStringLiteral("%1:%2:%3")
                      .arg(seconds / 3600)
                      .arg(seconds / 60 % 60, 2, 10, zero)
                      .arg(seconds % 60, 2, 10, zero);
}

QString LogTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    if (tick >= 1e-3 && tick < 1e6) return QString::number(tick, 'g', 6);
    return withMinus(QString::number(tick, 'g', 3));
}

}  // namespace tapescope::viewers
