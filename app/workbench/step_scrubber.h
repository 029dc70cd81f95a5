// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <cstdint>
#include <vector>

namespace tapescope::app {

/// The run's steps as a line: drag or use the arrow keys to look at an earlier one; End follows the
/// newest.
class StepScrubber final : public QWidget {
    Q_OBJECT

public:
    explicit StepScrubber(QWidget* parent = nullptr);

    /// Recorded steps, ascending; total: how many the run will have, 0 if not known.
    void setSteps(std::int64_t first, std::int64_t last, std::int64_t total);
    /// -1: the newest, following it.
    void setStep(std::int64_t step);
    std::int64_t step() const { return m_step; }
    /// Where the run stands; drawn as a mark.
    void setStoppedAt(std::int64_t step);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void stepChosen(qint64 step);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

private:
    double xOf(std::int64_t step) const;
    std::int64_t stepAt(double x) const;
    void choose(std::int64_t step);
    std::int64_t shown() const { return m_step < 0 ? m_last : m_step; }

    std::int64_t m_first = 0;
    std::int64_t m_last = -1;
    std::int64_t m_total = 0;
    std::int64_t m_step = -1;
    std::int64_t m_stoppedAt = -1;
};

}  // namespace tapescope::app
