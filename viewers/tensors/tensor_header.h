// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/tensors/tensor_provider.h"

#include <QWidget>

#include <optional>

namespace tapescope::viewers {

/// Two lines about a tensor: name, type and device; then NaN and Inf, in their colours if there are
/// any, min, mean, max, std.
class TensorHeader final : public QWidget {
    Q_OBJECT
public:
    explicit TensorHeader(QWidget* parent = nullptr);
    void setTensor(const QString& name);
    void setStats(std::optional<TensorStats> stats);
    /// Instead of the second line: why there are no statistics.
    void setError(const QString& message);
    void setStale(bool stale);
    /// What is drawn, for tests and screen readers.
    QString text() const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Part {
        QString text;
        QColor color;
        bool bold = false;
        bool mono = false;
    };
    QList<Part> firstLine() const;
    QList<Part> secondLine() const;
    void paintLine(class QPainter& painter, const QList<Part>& parts, double y,
                   double height) const;
    void changed();

    QString m_name;
    std::optional<TensorStats> m_stats;
    QString m_error;
    bool m_stale = false;
};

/// "f32[64,1,8,8]"
QString typeText(const TensorStats& stats);

}  // namespace tapescope::viewers
