// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/tensors/tensor_provider.h"

#include <QJsonObject>

namespace tapescope::app {

class DebugSession;

/// Tensors of a stopped run, asked from its debug adapter (tensorStats, tensorSlice). The session
/// must outlive it.
class DapTensorProvider final : public viewers::TensorProvider {
    Q_OBJECT

public:
    explicit DapTensorProvider(DebugSession& session, QObject* parent = nullptr);

    void requestStats(quint64 requestId, const viewers::TensorRef& tensor, int bins) override;
    void requestSlice(quint64 requestId, const viewers::TensorRef& tensor, const QString& slice,
                      qint64 maxElements) override;

    /// Requests without an answer yet.
    int pending() const { return m_pending; }

    /// The adapter's JSON as the views' structs; numbers may be the strings "NaN", "Infinity",
    /// "-Infinity".
    static viewers::TensorStats parseStats(const QJsonObject& body);
    static viewers::TensorSlice parseSlice(const QJsonObject& body);

private:
    DebugSession& m_session;
    int m_pending = 0;
};

}  // namespace tapescope::app
