// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/op_summary_model.h"
#include "viewers/timeline/event_text.h"

#include <QWidget>

#include <memory>

class QLabel;
class QSortFilterProxyModel;
class QStackedLayout;
class QTableView;

namespace tapescope::viewers {

/// Below the timeline: what is known of the selected event, or the operators of a stretch of time
/// (or of the whole run) summed.
class TimelineDetails final : public QWidget {
    Q_OBJECT
public:
    explicit TimelineDetails(QWidget* parent = nullptr);

    void showEvent(const TimelineData& timeline, EventRef event, const storage::Graph* graph);
    /// gpu: the rows are kernels and copies.
    void showTable(const QString& heading, OpSummaryModel::Rows rows,
                   OpSummaryModel::Medians medians = {}, bool gpu = false);
    void showBusy(const QString& heading);
    OpSummaryModel* model() const { return m_model; }

signals:
    void operatorActivated(const QString& name);  ///< a row of the table, by double click or Enter

private:
    class FieldPane;
    void arrangeColumns();
    QLabel* m_heading;
    QStackedLayout* m_stack;
    FieldPane* m_fields;
    QTableView* m_table;
    OpSummaryModel* m_model;
    QSortFilterProxyModel* m_sorted;
};

}  // namespace tapescope::viewers
