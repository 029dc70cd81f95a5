// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/scalar_series.h"
#include "viewers/models/selection.h"

#include <QString>
#include <QStringList>
#include <QWidget>

#include <memory>

class QImage;

namespace tapescope::viewers {

class TapeSession;

/// Scalars and histograms of one or more runs as a grid of live charts. Tags that measure the same
/// (train/loss, val/loss) share a chart; colours tell runs apart (or tags, while there is one run).
/// Cursor, zoom along x and the step selected are the same in all charts. Owns no session: a
/// session that is destroyed leaves the view. GUI thread only.
class CurvesView final : public QWidget {
    Q_OBJECT
public:
    /// selection may be null; it must outlive the view.
    explicit CurvesView(Selection* selection, QWidget* parent = nullptr);
    ~CurvesView() override;

    /// Shows another run; the first one is the one in front. Its name is the session's
    /// displayName() unless given.
    void addRun(TapeSession* session, const QString& name = {});
    void removeRun(TapeSession* session);
    void setRunVisible(TapeSession* session, bool visible);
    void setRunName(TapeSession* session, const QString& name);
    QList<TapeSession*> runs() const;
    /// The colour of a run's curves, for the runs sidebar.
    QColor runColor(const TapeSession* session) const;

    /// Weight of the moving average in [0, 0.999]; 0 shows the raw values only.
    void setSmoothing(double weight);
    double smoothing() const;
    void setXAxis(XAxis axis);
    XAxis xAxis() const;
    /// Log y of every chart.
    void setLogY(bool on);
    /// Titles of the charts shown, in order ("loss", "accuracy", "lr").
    QStringList chartTitles() const;
    /// Shows a tag in another chart ("loss"), or in one of its own (its name). Remembered for tags
    /// that come later.
    void setChartOf(const QString& tag, const QString& chart);

    /// Settings to remember (smoothing, axis, log, charts chosen), as one opaque value, and back.
    QByteArray saveState() const;
    bool restoreState(const QByteArray& state);

    /// The charts as they are shown. False if the file cannot be written.
    bool exportPng(const QString& path) const;
    bool exportSvg(const QString& path) const;
    /// "run,tag,step,wall,value", every point, whatever is zoomed.
    bool exportCsv(const QString& path) const;
    /// Paints the view into the image at its size, laid out for it.
    bool renderTo(QImage& image);

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace tapescope::viewers
