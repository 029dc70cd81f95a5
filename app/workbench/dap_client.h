// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/workbench/dap_framing.h"

#include <QHash>
#include <QJsonObject>
#include <QObject>
#include <QPointer>
#include <QString>
#include <QStringList>

#include <functional>

class QIODevice;
class QProcess;
class QTcpSocket;

namespace tapescope::app {

/// The answer to one request.
struct DapReply {
    bool success = false;
    QString
        message;  ///< why not, for the user; also when the connection ended before an answer came
    QJsonObject body;
};

/// How the other side went away.
struct DapExit {
    enum class Kind { Exited, Signalled, Disconnected, NotStarted };
    Kind kind = Kind::Disconnected;
    int code = 0;        ///< exit status, or the signal's number
    QString message;     ///< NotStarted, Disconnected: the system's text
    QString stderrTail;  ///< the child's last words, at most some 4 KiB
};

/// Debug Adapter Protocol over a child process or a socket. Lives on the GUI thread and never
/// blocks it. Every request is answered exactly once: by the adapter, or with an error when the
/// connection ends.
class DapClient final : public QObject {
    Q_OBJECT

public:
    using Callback = std::function<void(const DapReply&)>;

    explicit DapClient(QObject* parent = nullptr);
    ~DapClient() override;

    /// Starts the adapter as a child and speaks on its stdin and stdout. opened() or closed()
    /// follows.
    void start(const QString& program, const QStringList& arguments);
    void connectTo(const QString& host, quint16 port);

    bool isOpen() const { return m_open; }
    /// Process id of the child; 0 when there is none.
    qint64 processId() const;
    /// Sends a request; onReply runs in the event loop unless its context died before.
    void request(const QString& command, const QJsonObject& arguments, QObject* context,
                 Callback onReply);
    /// Ends the connection: closes the socket, or closes the child's stdin and kills it if it has
    /// not gone within graceMs. closed() still follows.
    void close(int graceMs);

signals:
    void opened();
    void eventReceived(const QString& event, const QJsonObject& body);
    /// Text the child wrote outside the protocol: stderr, or stray lines on stdout.
    void textReceived(const QString& text);
    void protocolError(const QString& what);
    void closed(const tapescope::app::DapExit& exit);

private:
    struct Pending {
        Callback callback;
        QPointer<QObject> context;
        QString command;
    };
    void setDevice(QIODevice* device);
    void readStdout();
    void readStderr();
    void handleMessage(const QByteArray& body);
    void finish(DapExit exit);

    DapFraming m_framing;
    QProcess* m_process = nullptr;
    QTcpSocket* m_socket = nullptr;
    QIODevice* m_device = nullptr;
    QHash<int, Pending> m_pending;
    QString m_stderrTail;
    int m_nextSeq = 1;
    bool m_open = false;
    bool m_finished = false;
};

}  // namespace tapescope::app
