// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/workbench/dap_framing.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QObject>
#include <QTcpServer>
#include <QTcpSocket>

#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace tapescope::app {

/// A debug adapter for tests, listening in this process: keeps every request, answers as it is
/// told. The default answers make a session that runs; tests replace single ones with on().
class FakeAdapter final : public QObject {
public:
    struct Answer {
        bool success = true;
        QString message;
        QJsonObject body;
    };
    using Handler = std::function<Answer(const QJsonObject& arguments)>;

    FakeAdapter() {
        m_server.listen(QHostAddress::LocalHost);
        connect(&m_server, &QTcpServer::newConnection, this, [this] {
            m_socket = m_server.nextPendingConnection();
            m_socket->setSocketOption(QAbstractSocket::LowDelayOption, 1);
            m_framing = {};
            connect(m_socket, &QTcpSocket::readyRead, this, [this] { read(); });
        });
        on("initialize", [this](const QJsonObject&) {
            later([this] { event("initialized"); });
            return Answer{};
        });
    }
    quint16 port() const { return m_server.serverPort(); }
    void on(const char* command, Handler handler) { m_handlers[command] = std::move(handler); }
    void event(const QString& name, const QJsonObject& body = {}) {
        send({{"seq", m_seq++}, {"type", "event"}, {"event", name}, {"body", body}});
    }
    void raw(const QByteArray& bytes) {
        m_socket->write(bytes);
        m_socket->flush();
    }
    void hangUp() { m_socket->abort(); }
    /// Arguments of every request of this command so far.
    std::vector<QJsonObject> received(const QString& command) const {
        std::vector<QJsonObject> out;
        for (const auto& [name, arguments] : m_received)
            if (name == command) out.push_back(arguments);
        return out;
    }
    std::vector<QString> commands() const {
        std::vector<QString> out;
        for (const auto& [name, arguments] : m_received) out.push_back(name);
        return out;
    }

private:
    void later(std::function<void()> what) {
        QMetaObject::invokeMethod(this, std::move(what), Qt::QueuedConnection);
    }
    void send(const QJsonObject& message) {
        raw(DapFraming::frame(QJsonDocument(message).toJson(QJsonDocument::Compact)));
    }
    void read() {
        for (const QByteArray& body : m_framing.feed(m_socket->readAll()).bodies) {
            const QJsonObject request = QJsonDocument::fromJson(body).object();
            const QString command = request.value("command").toString();
            const QJsonObject arguments = request.value("arguments").toObject();
            m_received.emplace_back(command, arguments);
            Answer answer;
            if (const auto it = m_handlers.find(command); it != m_handlers.end())
                answer = it->second(arguments);
            QJsonObject reply{{"seq", m_seq++},
                              {"type", "response"},
                              {"request_seq", request.value("seq")},
                              {"command", command},
                              {"success", answer.success},
                              {"body", answer.body}};
            if (!answer.message.isEmpty()) reply.insert("message", answer.message);
            send(reply);
        }
    }

    QTcpServer m_server;
    QTcpSocket* m_socket = nullptr;
    DapFraming m_framing;
    std::map<QString, Handler> m_handlers;
    std::vector<std::pair<QString, QJsonObject>> m_received;
    int m_seq = 1;
};

}  // namespace tapescope::app
