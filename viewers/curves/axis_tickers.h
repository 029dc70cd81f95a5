// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <qcustomplot.h>

namespace tapescope::viewers {

/// Values with as many digits as the tick distance needs: "0.25", "12 k", "1.5e-05".
class ValueTicker final : public QCPAxisTicker {
protected:
    double getTickStep(const QCPRange& range) override;
    QString getTickLabel(double tick, const QLocale& locale, QChar formatChar,
                         int precision) override;
    QVector<double> createTickVector(double tickStep, const QCPRange& range) override;

private:
    double m_step = 1;
};

/// Whole training steps only.
class StepTicker final : public QCPAxisTicker {
protected:
    double getTickStep(const QCPRange& range) override;
    QString getTickLabel(double tick, const QLocale& locale, QChar formatChar,
                         int precision) override;
    int getSubTickCount(double tickStep) override;
};

/// Seconds since the start, as "40 s", "2:30", "1:05:00".
class ElapsedTicker final : public QCPAxisTicker {
protected:
    double getTickStep(const QCPRange& range) override;
    QString getTickLabel(double tick, const QLocale& locale, QChar formatChar,
                         int precision) override;
    QVector<double> createTickVector(double tickStep, const QCPRange& range) override;

private:
    double m_step = 1;
};

/// Decades: "0.1", "1", "10", "1e-05".
class LogTicker final : public QCPAxisTickerLog {
protected:
    QString getTickLabel(double tick, const QLocale& locale, QChar formatChar,
                         int precision) override;
};

}  // namespace tapescope::viewers
