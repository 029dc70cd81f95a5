// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "storage/tape/records.h"

#include <QObject>
#include <QString>

#include <cstdint>

namespace tapescope::viewers {

/// [beginNs, endNs) in the run's time.
struct TimeRange {
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    bool empty() const { return endNs <= beginNs; }
    std::int64_t lengthNs() const { return endNs - beginNs; }
    friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

/// One operator: a node of a step's graph, and, where known, the very call on the timeline.
struct OpRef {
    storage::GraphId graph = 0;
    std::int64_t seq = -1;   ///< node in that graph
    std::uint64_t opId = 0;  ///< the call; 0: any call of this node
    std::int64_t step = -1;  ///< the call's step, -1: any
    bool valid() const { return (graph != 0 && seq >= 0) || opId != 0; }
    friend bool operator==(const OpRef&, const OpRef&) = default;
};

struct SiteRef {
    QString file;
    int line = 0;
    bool valid() const { return line > 0; }
    friend bool operator==(const SiteRef&, const SiteRef&) = default;
};

/// What the user looks at, shared by all views of a window: the one place where views meet. Owned
/// by the window; GUI thread. A setter that changes nothing emits nothing, so views may write back
/// what they were told.
class Selection final : public QObject {
    Q_OBJECT
public:
    explicit Selection(QObject* parent = nullptr) : QObject(parent) {}

    const TimeRange& timeRange() const { return m_timeRange; }
    std::int64_t step() const { return m_step; }  ///< -1: the latest
    const OpRef& op() const { return m_op; }
    const QString& modulePath() const { return m_modulePath; }
    const SiteRef& site() const { return m_site; }
    const QString& tensor() const {
        return m_tensor;
    }  ///< "conv1.weight", or a variable's name at a stop
    const QString& tag() const { return m_tag; }  ///< "train/loss"
    const QString& run() const { return m_run; }  ///< path of the tape in front

public slots:
    void setTimeRange(const tapescope::viewers::TimeRange& range);
    void setStep(std::int64_t step);
    void setOp(const tapescope::viewers::OpRef& op);
    void setModulePath(const QString& path);
    void setSite(const tapescope::viewers::SiteRef& site);
    void setTensor(const QString& name);
    void setTag(const QString& tag);
    void setRun(const QString& path);
    /// Forgets op, module, site, tensor and time range; step, tag and run stay.
    void clear();

signals:
    void timeRangeChanged();
    void stepChanged();
    void opChanged();
    void modulePathChanged();
    void siteChanged();
    void tensorChanged();
    void tagChanged();
    void runChanged();

private:
    TimeRange m_timeRange;
    std::int64_t m_step = -1;
    OpRef m_op;
    QString m_modulePath;
    SiteRef m_site;
    QString m_tensor;
    QString m_tag;
    QString m_run;
};

}  // namespace tapescope::viewers
