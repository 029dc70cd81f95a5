// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/dap_tensor_provider.h"

#include "app/workbench/dap_client.h"
#include "app/workbench/debug_session.h"

#include <QJsonArray>

#include <limits>

namespace tapescope::app {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double number(const QJsonValue& value) {
    if (value.isDouble()) return value.toDouble();
    if (value.isBool()) return value.toBool() ? 1.0 : 0.0;
    const QString text = value.toString();
    if (text == QLatin1String("Infinity")) return std::numeric_limits<double>::infinity();
    if (text == QLatin1String("-Infinity")) return -std::numeric_limits<double>::infinity();
    return kNaN;
}

std::vector<double> numbers(const QJsonValue& value) {
    std::vector<double> out;
    const QJsonArray array = value.toArray();
    out.reserve(static_cast<std::size_t>(array.size()));
    for (const QJsonValue& each : array) out.push_back(number(each));
    return out;
}

/// A slice's values may be nested as its axes are; the view wants them row-major and flat.
void appendFlat(const QJsonArray& array, std::vector<double>& out) {
    for (const QJsonValue& each : array) {
        if (each.isArray())
            appendFlat(each.toArray(), out);
        else
            out.push_back(number(each));
    }
}

std::vector<qint64> sizes(const QJsonValue& value) {
    std::vector<qint64> out;
    for (const QJsonValue& each : value.toArray()) out.push_back(each.toInteger());
    return out;
}

}  // namespace

DapTensorProvider::DapTensorProvider(DebugSession& session, QObject* parent)
    : viewers::TensorProvider(parent), m_session(session) {}

viewers::TensorStats DapTensorProvider::parseStats(const QJsonObject& body) {
    viewers::TensorStats s;
    s.shape = sizes(body.value("shape"));
    s.dtype = body.value("dtype").toString();
    s.device = body.value("device").toString();
    s.numel = body.value("numel").toInteger();
    s.nanCount = body.value("nan").toInteger();
    s.infCount = body.value("inf").toInteger();
    s.magnitudes = body.value("magnitudes").toBool();
    s.min = number(body.value("min"));
    s.mean = number(body.value("mean"));
    s.max = number(body.value("max"));
    s.std = number(body.value("std"));
    s.edges = numbers(body.value("edges"));
    s.counts = numbers(body.value("counts"));
    if (s.edges.size() != s.counts.size() + 1) {
        s.edges.clear();
        s.counts.clear();
    }
    return s;
}

viewers::TensorSlice DapTensorProvider::parseSlice(const QJsonObject& body) {
    viewers::TensorSlice s;
    s.shape = sizes(body.value("shape"));
    const QJsonValue values = body.value("values");
    if (values.isArray())
        appendFlat(values.toArray(), s.values);
    else
        s.values.push_back(number(values));
    s.truncated = body.value("truncated").toBool();
    return s;
}

void DapTensorProvider::requestStats(quint64 requestId, const viewers::TensorRef& tensor,
                                     int bins) {
    ++m_pending;
    m_session.request(QStringLiteral("tensorStats"),
                      {{"memoryReference", tensor.reference}, {"bins", bins}}, this,
                      [this, requestId](const DapReply& reply) {
                          --m_pending;
                          if (reply.success)
                              emit statsReady(requestId, parseStats(reply.body));
                          else
                              emit requestFailed(requestId, reply.message);
                      });
}

void DapTensorProvider::requestSlice(quint64 requestId, const viewers::TensorRef& tensor,
                                     const QString& slice, qint64 maxElements) {
    ++m_pending;
    m_session.request(
        QStringLiteral("tensorSlice"),
        {{"memoryReference", tensor.reference}, {"slice", slice}, {"maxElements", maxElements}},
        this, [this, requestId](const DapReply& reply) {
            --m_pending;
            if (reply.success)
                emit sliceReady(requestId, parseSlice(reply.body));
            else
                emit requestFailed(requestId, reply.message);
        });
}

}  // namespace tapescope::app
