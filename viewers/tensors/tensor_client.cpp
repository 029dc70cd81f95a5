// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/tensors/tensor_client.h"

namespace tapescope::viewers {

namespace {

/// Ids are unique in the window: several clients share one provider and each hears all answers.
quint64 nextId() {
    static quint64 last = 0;
    return ++last;
}

}  // namespace

void TensorClient::setProvider(TensorProvider* provider) {
    if (provider == m_provider) return;
    if (m_provider) disconnect(m_provider, nullptr, this, nullptr);
    m_provider = provider;
    m_waiting.clear();
    if (provider == nullptr) return;
    connect(provider, &TensorProvider::statsReady, this,
            [this](quint64 id, const TensorStats& stats) {
                const Waiting w = m_waiting.take(id);
                if (w.stats) w.stats(stats);
            });
    connect(provider, &TensorProvider::sliceReady, this,
            [this](quint64 id, const TensorSlice& slice) {
                const Waiting w = m_waiting.take(id);
                if (w.slice) w.slice(slice);
            });
    connect(provider, &TensorProvider::requestFailed, this,
            [this](quint64 id, const QString& message) {
                const Waiting w = m_waiting.take(id);
                if (w.failed) w.failed(message);
            });
}

quint64 TensorClient::ask(Waiting waiting) {
    const quint64 id = nextId();
    m_waiting.insert(id, std::move(waiting));
    return id;
}

quint64 TensorClient::stats(const TensorRef& tensor, int bins, OnStats done, OnError failed) {
    if (!m_provider) return 0;
    const quint64 id = ask({std::move(done), {}, std::move(failed)});
    m_provider->requestStats(id, tensor, bins);
    return id;
}

quint64 TensorClient::slice(const TensorRef& tensor, const QString& text, qint64 maxElements,
                            OnSlice done, OnError failed) {
    if (!m_provider) return 0;
    const quint64 id = ask({{}, std::move(done), std::move(failed)});
    m_provider->requestSlice(id, tensor, text, maxElements);
    return id;
}

}  // namespace tapescope::viewers
