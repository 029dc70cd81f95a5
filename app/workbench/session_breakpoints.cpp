// SPDX-License-Identifier: GPL-3.0-or-later
// The part of DebugSession that keeps the adapter's breakpoints in step with the store, and the
// words for a session's end.
#include "app/workbench/dap_client.h"
#include "app/workbench/debug_session.h"

#include <QJsonArray>

#include <cstring>
#include <memory>
#include <utility>

namespace tapescope::app {
namespace {

/// Calls onDone when the last of `count` answers is there.
std::function<void()> countdown(int count, std::function<void()> onDone) {
    auto left = std::make_shared<int>(count);
    return [left, onDone = std::move(onDone)] {
        if (--*left == 0 && onDone) onDone();
    };
}

}  // namespace

void DebugSession::sendBreakpoints(std::function<void()> onDone) {
    if (m_client == nullptr) return;
    QSet<QString> files;
    for (const Breakpoint& b : m_breakpoints.all()) {
        if (b.kind == Breakpoint::Kind::Source && b.enabled) files.insert(b.file);
    }
    const QSet<QString> toSend =
        files | m_sentFiles;  // a file that lost its last one gets an empty list
    m_sentFiles = files;
    const auto one = countdown(static_cast<int>(toSend.size()) + 1, std::move(onDone));
    sendFunctionBreakpoints(one);
    for (const QString& file : toSend) sendSourceBreakpoints(file, one);
}

void DebugSession::sendFunctionBreakpoints(std::function<void()> onDone) {
    QJsonArray list;
    std::vector<int> keys;
    for (const Breakpoint& b : m_breakpoints.all()) {
        if (b.kind != Breakpoint::Kind::Function || !b.enabled) continue;
        QJsonObject o{{"name", b.name}};
        if (b.fromHit > 1) o.insert("hitCondition", QString::number(b.fromHit));
        list.append(o);
        keys.push_back(b.key);
    }
    m_client->request(
        QStringLiteral("setFunctionBreakpoints"), {{"breakpoints", list}}, this,
        [this, keys = std::move(keys), onDone = std::move(onDone)](const DapReply& reply) {
            applyBreakpointReply(keys, reply);
            onDone();
        });
}

void DebugSession::sendSourceBreakpoints(const QString& file, std::function<void()> onDone) {
    QJsonArray list;
    std::vector<int> keys;
    for (const Breakpoint& b : m_breakpoints.all()) {
        if (b.kind != Breakpoint::Kind::Source || !b.enabled || b.file != file) continue;
        QJsonObject o{{"line", b.line}};
        if (b.fromHit > 1) o.insert("hitCondition", QString::number(b.fromHit));
        list.append(o);
        keys.push_back(b.key);
    }
    const QJsonObject arguments{{"source", QJsonObject{{"path", file}}}, {"breakpoints", list}};
    m_client->request(
        QStringLiteral("setBreakpoints"), arguments, this,
        [this, keys = std::move(keys), onDone = std::move(onDone)](const DapReply& reply) {
            applyBreakpointReply(keys, reply);
            onDone();
        });
}

void DebugSession::applyBreakpointReply(const std::vector<int>& keys, const DapReply& reply) {
    if (!reply.success) {
        emit output(reply.message, QStringLiteral("protocol"));
        return;
    }
    // DAP: the answer has the request's order.
    const QJsonArray answers = reply.body.value("breakpoints").toArray();
    for (std::size_t i = 0; i < keys.size() && static_cast<qsizetype>(i) < answers.size(); ++i) {
        const QJsonObject o = answers.at(static_cast<qsizetype>(i)).toObject();
        m_breakpoints.setAdapterState(keys[i], o.value("id").toInt(), o.value("verified").toBool(),
                                      o.value("message").toString());
    }
}

SessionEnd DebugSession::describeEnd(const DapExit& exit) const {
    SessionEnd end;
    end.lastStep = m_lastFinished;
    if (!m_refusal.isEmpty()) {
        end.kind = SessionEnd::Kind::NotStarted;
        end.message = m_refusal;
        return end;
    }
    if (exit.kind == DapExit::Kind::NotStarted) {
        end.kind = SessionEnd::Kind::NotStarted;
        end.message =
            m_remoteHost.isEmpty()
                ? tr("The debug adapter \"%1\" could not be started (%2): install tapescope beside "
                     "this program or put it on PATH.")
                      .arg(m_program, exit.message)
                : tr("No debug adapter answers at %1:%2 (%3): start one there with \"tapescope dap "
                     "--port %2\".")
                      .arg(m_remoteHost)
                      .arg(m_remotePort)
                      .arg(exit.message);
        return end;
    }
    if (m_terminatedSeen || m_userStopped) {
        if (m_userStopped)
            end.kind = SessionEnd::Kind::Stopped;
        else
            end.kind = m_exitCode == 0 ? SessionEnd::Kind::Finished : SessionEnd::Kind::Failed;
        if (end.kind == SessionEnd::Kind::Failed)
            end.message = m_failure.isEmpty()
                              ? tr("The model failed; its last lines are in the console.")
                              : m_failure;
        return end;
    }
    end.kind = SessionEnd::Kind::Crashed;
    const QString kept = m_spec.tapePath.isEmpty() ? tr("nothing was being recorded")
                         : end.lastStep >= 0
                             ? tr("the tape up to step %1 is kept").arg(end.lastStep)
                             : tr("the tape ends before the first step");
    switch (exit.kind) {
        case DapExit::Kind::Signalled:
            end.message = tr("The model's process ended (signal %1, %2); %3. Run starts it again.")
                              .arg(exit.code)
                              .arg(QString::fromLocal8Bit(strsignal(exit.code)), kept);
            break;
        case DapExit::Kind::Exited:
            end.message =
                tr("The model's process ended unexpectedly (exit status %1); %2. Its last "
                   "lines are in the console.")
                    .arg(exit.code)
                    .arg(kept);
            break;
        default:
            end.message = tr("The connection to the debug adapter was lost (%1); %2.")
                              .arg(exit.message, kept);
    }
    return end;
}

}  // namespace tapescope::app
