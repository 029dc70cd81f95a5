// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/tensors/tensor_provider.h"

#include <QHash>
#include <QObject>
#include <QPointer>

#include <functional>

namespace tapescope::viewers {

/// Asks a TensorProvider and hands each answer to whoever asked. Answers to cancelled requests, and
/// of earlier providers, are dropped.
class TensorClient final : public QObject {
    Q_OBJECT
public:
    using OnStats = std::function<void(const TensorStats&)>;
    using OnSlice = std::function<void(const TensorSlice&)>;
    using OnError = std::function<void(const QString&)>;

    using QObject::QObject;
    void setProvider(TensorProvider* provider);
    bool hasProvider() const { return !m_provider.isNull(); }
    quint64 stats(const TensorRef& tensor, int bins, OnStats done, OnError failed);
    quint64 slice(const TensorRef& tensor, const QString& text, qint64 maxElements, OnSlice done,
                  OnError failed);
    void cancel(quint64 id) { m_waiting.remove(id); }
    void cancelAll() { m_waiting.clear(); }

private:
    struct Waiting {
        OnStats stats;
        OnSlice slice;
        OnError failed;
    };
    quint64 ask(Waiting waiting);

    QPointer<TensorProvider> m_provider;
    QHash<quint64, Waiting> m_waiting;
};

}  // namespace tapescope::viewers
