// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/dap_client.h"

#include <QJsonDocument>
#include <QProcess>
#include <QTcpSocket>
#include <QTimer>

#include <utility>

namespace tapescope::app {
namespace {
constexpr qsizetype kStderrTailChars = 4096;
}

DapClient::DapClient(QObject* parent) : QObject(parent) {}

DapClient::~DapClient() {
    if (m_process == nullptr) return;
    m_process->disconnect(this);
    if (m_process->state() == QProcess::NotRunning) return;
    // Only at the window's end: a session closes its client first. The child seals its tape on end
    // of input.
    m_process->closeWriteChannel();
    if (!m_process->waitForFinished(2000)) {
        m_process->kill();
        m_process->waitForFinished(1000);
    }
}

void DapClient::start(const QString& program, const QStringList& arguments) {
    m_process = new QProcess(this);
    m_process->setProcessChannelMode(QProcess::SeparateChannels);
    connect(m_process, &QProcess::started, this, [this] { setDevice(m_process); });
    connect(m_process, &QProcess::readyReadStandardError, this, &DapClient::readStderr);
    connect(m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error != QProcess::FailedToStart) return;  // others are followed by finished()
        finish({DapExit::Kind::NotStarted, 0, m_process->errorString(), {}});
    });
    connect(m_process, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
        readStdout();
        readStderr();
        // On a crash Qt hands the signal's number over as the exit code.
        finish({status == QProcess::CrashExit ? DapExit::Kind::Signalled : DapExit::Kind::Exited,
                code,
                {},
                m_stderrTail});
    });
    m_process->start(program, arguments);
}

void DapClient::connectTo(const QString& host, quint16 port) {
    m_socket = new QTcpSocket(this);
    connect(m_socket, &QTcpSocket::connected, this, [this] {
        m_socket->setSocketOption(QAbstractSocket::LowDelayOption, 1);  // else 40 ms a request
        setDevice(m_socket);
    });
    connect(m_socket, &QTcpSocket::errorOccurred, this, [this] {
        readStdout();
        finish({m_open ? DapExit::Kind::Disconnected : DapExit::Kind::NotStarted,
                0,
                m_socket->errorString(),
                {}});
    });
    connect(m_socket, &QTcpSocket::disconnected, this, [this] {
        finish({DapExit::Kind::Disconnected, 0, m_socket->errorString(), {}});
    });
    m_socket->connectToHost(host, port);
}

qint64 DapClient::processId() const { return m_process == nullptr ? 0 : m_process->processId(); }

void DapClient::setDevice(QIODevice* device) {
    m_device = device;
    m_open = true;
    connect(device, &QIODevice::readyRead, this, &DapClient::readStdout);
    emit opened();
}

void DapClient::request(const QString& command, const QJsonObject& arguments, QObject* context,
                        Callback onReply) {
    if (!m_open) {
        // Also this answer comes from the event loop, so that callers see one order only.
        QTimer::singleShot(0, context, [onReply = std::move(onReply)] {
            if (onReply) onReply({false, tr("No model is running: start one with Run."), {}});
        });
        return;
    }
    const int seq = m_nextSeq++;
    m_pending.insert(seq, {std::move(onReply), context, command});
    QJsonObject message{{"seq", seq}, {"type", "request"}, {"command", command}};
    if (!arguments.isEmpty()) message.insert("arguments", arguments);
    m_device->write(DapFraming::frame(QJsonDocument(message).toJson(QJsonDocument::Compact)));
}

void DapClient::readStdout() {
    if (m_device == nullptr) return;
    const QByteArray bytes =
        m_process != nullptr ? m_process->readAllStandardOutput() : m_device->readAll();
    if (bytes.isEmpty()) return;
    const QPointer<DapClient> self = this;
    const DapFraming::Output out = m_framing.feed(bytes);
    if (!out.stray.isEmpty()) emit textReceived(out.stray);
    for (const QByteArray& body : out.bodies) {
        if (self.isNull()) return;  // a handler may end the session
        handleMessage(body);
    }
}

void DapClient::readStderr() {
    const QString text = QString::fromUtf8(m_process->readAllStandardError());
    if (text.isEmpty()) return;
    m_stderrTail = (m_stderrTail + text).right(kStderrTailChars);
    emit textReceived(text.trimmed());
}

void DapClient::handleMessage(const QByteArray& body) {
    QJsonParseError error{};
    const QJsonDocument document = QJsonDocument::fromJson(body, &error);
    if (!document.isObject()) {
        emit protocolError(
            tr("The debug adapter sent a message that is not JSON (%1); it is ignored.")
                .arg(error.errorString()));
        return;
    }
    const QJsonObject message = document.object();
    const QString type = message.value("type").toString();
    if (type == QLatin1String("event")) {
        emit eventReceived(message.value("event").toString(), message.value("body").toObject());
        return;
    }
    if (type != QLatin1String("response")) {
        emit protocolError(
            tr("The debug adapter sent a message of type \"%1\"; it is ignored.").arg(type));
        return;
    }
    const auto it = m_pending.find(message.value("request_seq").toInt(-1));
    if (it == m_pending.end()) {
        emit protocolError(tr("The debug adapter answered a request that was not made: %1")
                               .arg(message.value("message").toString()));
        return;
    }
    const Pending pending = *it;
    m_pending.erase(it);
    if (pending.context.isNull() || !pending.callback) return;
    DapReply reply;
    reply.success = message.value("success").toBool();
    reply.message = message.value("message").toString();
    reply.body = message.value("body").toObject();
    if (!reply.success && reply.message.isEmpty())
        reply.message = tr("The debug adapter refused \"%1\".").arg(pending.command);
    pending.callback(reply);
}

void DapClient::close(int graceMs) {
    if (m_finished) return;
    if (m_socket != nullptr) {
        m_socket->disconnectFromHost();
        if (m_socket->state() == QAbstractSocket::UnconnectedState)
            finish({DapExit::Kind::Disconnected, 0, {}, {}});
        return;
    }
    if (m_process == nullptr || m_process->state() == QProcess::NotRunning) return;
    m_process->closeWriteChannel();
    QTimer::singleShot(graceMs, m_process, [process = m_process] {
        if (process->state() != QProcess::NotRunning) process->kill();
    });
}

void DapClient::finish(DapExit exit) {
    if (m_finished) return;
    m_finished = true;
    m_open = false;
    const QHash<int, Pending> pending = std::exchange(m_pending, {});
    for (const Pending& each : pending) {
        if (!each.context.isNull() && each.callback)
            each.callback({false, tr("The model's process ended before it answered."), {}});
    }
    emit closed(exit);
}

}  // namespace tapescope::app
