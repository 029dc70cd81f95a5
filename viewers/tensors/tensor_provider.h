// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>

#include <limits>
#include <vector>

namespace tapescope::viewers {

/// Names one tensor of a stopped run.
struct TensorRef {
    QString name;       ///< "input", "conv1.weight"
    QString reference;  ///< the provider's handle: the adapter's memoryReference
    friend bool operator==(const TensorRef&, const TensorRef&) = default;
};

/// What is said of a tensor before any value is shown. min, mean, max, std are of the finite
/// values; NaN if there is none.
struct TensorStats {
    std::vector<qint64> shape;
    QString dtype;   ///< "f32"
    QString device;  ///< "cpu"
    qint64 numel = 0;
    qint64 nanCount = 0;
    qint64 infCount = 0;
    bool magnitudes = false;  ///< complex: values, numbers and histogram are of |z|
    double min = std::numeric_limits<double>::quiet_NaN();
    double mean = std::numeric_limits<double>::quiet_NaN();
    double max = std::numeric_limits<double>::quiet_NaN();
    double std = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> edges;  ///< histogram of the finite values; size counts + 1, or empty
    std::vector<double> counts;
};

/// Part of a tensor, row-major in the tensor's order of axes. An axis taken by an index is gone
/// from `shape`.
struct TensorSlice {
    std::vector<qint64> shape;
    std::vector<double> values;
    bool truncated = false;  ///< values holds only the first of them
};

/// Gets a tensor's statistics and values, from a debug adapter, a tape or memory. Requests return
/// at once; each is answered exactly once by one of the signals, in any order, on the GUI thread,
/// never from inside the request. Ids are the asker's.
class TensorProvider : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;
    /// bins: of the histogram.
    virtual void requestStats(quint64 requestId, const TensorRef& tensor, int bins) = 0;
    /// slice: NumPy text with one entry an axis, "0, 0:64, 8:16" or "::2"; "" for a tensor without
    /// axes.
    virtual void requestSlice(quint64 requestId, const TensorRef& tensor, const QString& slice,
                              qint64 maxElements) = 0;

signals:
    void statsReady(quint64 requestId, const tapescope::viewers::TensorStats& stats);
    void sliceReady(quint64 requestId, const tapescope::viewers::TensorSlice& slice);
    /// One sentence for the user.
    void requestFailed(quint64 requestId, const QString& message);
};

}  // namespace tapescope::viewers
