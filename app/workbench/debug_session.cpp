// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/debug_session.h"

#include "app/workbench/dap_client.h"
#include "app/workbench/program_path.h"

#include <QJsonArray>

#include <algorithm>
#include <memory>
#include <utility>

namespace tapescope::app {
namespace {

constexpr int kThreadId = 1;
constexpr int kStopGraceMs =
    10'000;  // a long operator must come to its end before the run can stop
constexpr int kCloseGraceMs = 3'000;  // sealing the tape after `terminated`

QJsonObject launchArguments(const LaunchSpec& spec) {
    QJsonObject out{{"model", spec.model}, {"seed", spec.seed}};
    if (spec.steps > 0) out.insert("steps", spec.steps);
    if (!spec.tapePath.isEmpty()) out.insert("tape", spec.tapePath);
    if (!spec.settings.isEmpty()) out.insert("set", spec.settings);
    if (!spec.dataDir.isEmpty()) out.insert("data", spec.dataDir);
    if (spec.stopOnEntry) out.insert("stopOnEntry", true);
    return out;
}

StopInfo parseStop(const QJsonObject& body) {
    StopInfo stop;
    stop.reason = body.value("reason").toString();
    stop.description = body.value("description").toString();
    stop.text = body.value("text").toString();
    for (const QJsonValue& id : body.value("hitBreakpointIds").toArray())
        stop.breakpointIds.append(id.toInt());
    const QJsonObject more = body.value("tapescope").toObject();
    stop.step = more.value("step").toInteger(-1);
    stop.seq = more.value("seq").toInteger(-1);
    stop.forwardSeq = more.value("forwardSeq").toInteger(-1);
    for (const QJsonValue& hits : more.value("hits").toArray()) stop.hits.append(hits.toInteger());
    stop.phase = more.value("phase").toString();
    stop.module = more.value("module").toString();
    stop.op = more.value("operator").toString();
    stop.file = more.value("file").toString();
    stop.line = more.value("line").toInt();
    stop.afterOp = more.value("afterOp").toBool();
    if (stop.description.isEmpty()) stop.description = stop.reason;
    return stop;
}

Variable parseVariable(const QJsonObject& object) {
    Variable v;
    v.name = object.value("name").toString();
    v.value = object.value("value").toString();
    v.type = object.value("type").toString();
    v.memoryReference = object.value("memoryReference").toString();
    v.variablesReference = object.value("variablesReference").toInt();
    return v;
}

}  // namespace

DebugSession::DebugSession(BreakpointStore& breakpoints, QObject* parent)
    : QObject(parent),
      m_breakpoints(breakpoints),
      m_program(siblingProgram(QStringLiteral("tapescope"))),
      m_arguments{QStringLiteral("dap")} {
    m_resend.setSingleShot(true);
    m_resend.setInterval(0);
    connect(&m_resend, &QTimer::timeout, this, [this] { sendBreakpoints({}); });
    connect(&m_breakpoints, &BreakpointStore::definitionsChanged, this, [this] {
        // While launching, the configuration phase sends them anyway.
        if (m_state == SessionState::Running || m_state == SessionState::Stopped) m_resend.start();
    });
    m_killTimer.setSingleShot(true);
    connect(&m_killTimer, &QTimer::timeout, this, [this] {
        if (m_client != nullptr) m_client->close(0);
    });
}

DebugSession::~DebugSession() {
    if (m_client != nullptr) m_client->disconnect(this);
}

void DebugSession::setProgram(const QString& program, const QStringList& arguments) {
    m_program = program;
    m_arguments = arguments;
    m_remoteHost.clear();
}

void DebugSession::setRemote(const QString& host, quint16 port) {
    m_remoteHost = host;
    m_remotePort = port;
}

qint64 DebugSession::processId() const { return m_client == nullptr ? 0 : m_client->processId(); }

void DebugSession::setState(SessionState state) {
    if (m_state == state) return;
    m_state = state;
    emit stateChanged(state);
}

void DebugSession::launch(const LaunchSpec& spec) {
    if (isActive()) {
        m_next = spec;
        if (m_state != SessionState::Ending) stop();
        return;
    }
    m_spec = spec;
    begin();
}

void DebugSession::begin() {
    m_stop = {};
    m_progress = {};
    m_progress.steps = m_spec.steps;
    m_lastFinished = -1;
    m_frames.clear();
    m_scopes.clear();
    m_sentFiles.clear();
    m_refusal.clear();
    m_failure.clear();
    m_userStopped = false;
    m_terminatedSeen = false;
    m_exitCode = 0;
    ++m_generation;
    m_breakpoints.forgetAdapter();
    m_breakpoints.resetHits();

    m_client = new DapClient(this);
    connect(m_client, &DapClient::opened, this, &DebugSession::onOpened);
    connect(m_client, &DapClient::eventReceived, this, &DebugSession::onEvent);
    connect(m_client, &DapClient::closed, this, &DebugSession::onClosed);
    connect(m_client, &DapClient::textReceived, this,
            [this](const QString& text) { emit output(text, QStringLiteral("stderr")); });
    connect(m_client, &DapClient::protocolError, this,
            [this](const QString& text) { emit output(text, QStringLiteral("protocol")); });
    setState(SessionState::Launching);
    emit framesChanged();
    emit scopesChanged();
    emit progressChanged();
    if (m_remoteHost.isEmpty())
        m_client->start(m_program, m_arguments);
    else
        m_client->connectTo(m_remoteHost, m_remotePort);
}

void DebugSession::onOpened() {
    const QJsonObject arguments{{"clientID", "tapescope-workbench"},
                                {"clientName", "Tapescope"},
                                {"adapterID", "tapescope"},
                                {"linesStartAt1", true},
                                {"pathFormat", "path"},
                                {"supportsMemoryReferences", true}};
    m_client->request(QStringLiteral("initialize"), arguments, this, [this](const DapReply& reply) {
        if (!reply.success) {
            launchRefused(reply.message);
            return;
        }
        m_client->request(QStringLiteral("launch"), launchArguments(m_spec), this,
                          [this](const DapReply& launched) {
                              if (!launched.success) launchRefused(launched.message);
                          });
    });
}

void DebugSession::launchRefused(const QString& message) {
    // When the process died meanwhile, onClosed knows more than this answer.
    if (m_client == nullptr || !m_client->isOpen() || !m_refusal.isEmpty()) return;
    m_refusal = message;
    setState(SessionState::Ending);
    m_client->request(QStringLiteral("disconnect"), {}, this, {});
    m_client->close(kCloseGraceMs);
}

void DebugSession::onEvent(const QString& event, const QJsonObject& body) {
    if (event == QLatin1String("initialized")) {
        sendBreakpoints([this] {
            m_client->request(
                QStringLiteral("configurationDone"), {}, this, [this](const DapReply& reply) {
                    if (!reply.success)
                        launchRefused(reply.message);
                    else if (m_state == SessionState::Launching && m_refusal.isEmpty())
                        setState(SessionState::Running);
                });
        });
    } else if (event == QLatin1String("stopped")) {
        onStopped(body);
    } else if (event == QLatin1String("continued")) {
        if (m_state == SessionState::Stopped) leaveStop();
    } else if (event == QLatin1String("output")) {
        const QString category = body.value("category").toString(QStringLiteral("console"));
        QString text = body.value("output").toString();
        while (text.endsWith(QLatin1Char('\n'))) text.chop(1);
        if (category == QLatin1String("stderr") && !text.isEmpty()) m_failure = text;
        emit output(text, category);
    } else if (event == QLatin1String("tapescopeProgress")) {
        m_progress.step = body.value("step").toInteger(m_progress.step);
        m_lastFinished = std::max(m_lastFinished, m_progress.step);
        m_progress.steps = body.value("steps").toInteger(m_progress.steps);
        m_progress.msPerStep = body.value("msPerStep").toDouble();
        m_progress.allocatedBytes = body.value("allocatedBytes").toInteger();
        m_progress.hasLoss = body.value("loss").isDouble();
        m_progress.loss = body.value("loss").toDouble();
        emit progressChanged();
    } else if (event == QLatin1String("breakpoint")) {
        const QJsonObject b = body.value("breakpoint").toObject();
        m_breakpoints.updateByAdapterId(b.value("id").toInt(), b.value("verified").toBool(),
                                        b.value("message").toString());
    } else if (event == QLatin1String("exited")) {
        m_exitCode = body.value("exitCode").toInt();
    } else if (event == QLatin1String("terminated")) {
        m_terminatedSeen = true;
        setState(SessionState::Ending);
        m_client->request(QStringLiteral("disconnect"), {}, this, {});
        m_client->close(kCloseGraceMs);
    }
}

void DebugSession::onStopped(const QJsonObject& body) {
    if (m_state == SessionState::Ending) return;
    ++m_generation;
    m_stop = parseStop(body);
    if (m_stop.reason == QLatin1String("exception")) {
        const QString why = m_stop.text.isEmpty() ? m_stop.description : m_stop.text;
        if (!why.isEmpty()) m_failure = why;
    }
    if (m_stop.step >= 0) m_progress.step = m_stop.step;
    m_lastFinished = std::max(m_lastFinished, m_stop.step - 1);
    for (qsizetype i = 0; i < m_stop.breakpointIds.size(); ++i)
        m_breakpoints.countHit(m_stop.breakpointIds[i], m_stop.hits.value(i));
    m_currentFrame = 0;
    setState(SessionState::Stopped);
    m_breakpoints.dropTemporary();
    emit stopped(m_stop);
    fetchFrames();
}

void DebugSession::fetchFrames() {
    const quint64 generation = m_generation;
    m_client->request(
        QStringLiteral("stackTrace"), {{"threadId", kThreadId}}, this,
        [this, generation](const DapReply& reply) {
            if (generation != m_generation) return;
            if (!reply.success) {
                emit output(reply.message, QStringLiteral("protocol"));
                return;
            }
            m_frames.clear();
            for (const QJsonValue& each : reply.body.value("stackFrames").toArray()) {
                const QJsonObject o = each.toObject();
                m_frames.push_back({o.value("id").toInt(), o.value("name").toString(),
                                    o.value("source").toObject().value("path").toString(),
                                    o.value("line").toInt()});
            }
            emit framesChanged();
            if (!m_frames.empty()) fetchScopes(m_frames.front());
        });
}

void DebugSession::selectFrame(int index) {
    if (m_state != SessionState::Stopped || index < 0 ||
        index >= static_cast<int>(m_frames.size()) || index == m_currentFrame)
        return;
    m_currentFrame = index;
    fetchScopes(m_frames[static_cast<std::size_t>(index)]);
}

void DebugSession::fetchScopes(const StackFrame& frame) {
    // Scopes arrive one by one; they are shown together, in the adapter's order, when the last one
    // is there.
    struct Pending {
        std::vector<Scope> scopes;
        int missing = 0;
    };
    const quint64 generation = m_generation;
    const int frameIndex = m_currentFrame;
    const auto current = [this, generation, frameIndex] {
        return generation == m_generation && frameIndex == m_currentFrame;
    };
    m_client->request(
        QStringLiteral("scopes"), {{"frameId", frame.id}}, this,
        [this, current](const DapReply& reply) {
            if (!current()) return;
            auto pending = std::make_shared<Pending>();
            const QJsonArray list = reply.body.value("scopes").toArray();
            pending->missing = static_cast<int>(list.size());
            if (list.isEmpty()) {
                m_scopes.clear();
                emit scopesChanged();
                return;
            }
            for (const QJsonValue& each : list) {
                const QJsonObject o = each.toObject();
                const std::size_t slot = pending->scopes.size();
                pending->scopes.push_back({o.value("name").toString(), {}});
                m_client->request(
                    QStringLiteral("variables"),
                    {{"variablesReference", o.value("variablesReference").toInt()}}, this,
                    [this, current, pending, slot](const DapReply& answer) {
                        if (!current()) return;
                        for (const QJsonValue& v : answer.body.value("variables").toArray())
                            pending->scopes[slot].variables.push_back(parseVariable(v.toObject()));
                        if (--pending->missing > 0) return;
                        m_scopes = std::move(pending->scopes);
                        emit scopesChanged();
                    });
            }
        });
}

void DebugSession::leaveStop() {
    ++m_generation;
    m_stop = {};
    m_frames.clear();
    m_scopes.clear();
    setState(SessionState::Running);
    emit framesChanged();
    emit scopesChanged();
}

void DebugSession::go(const QString& command, const QJsonObject& extra) {
    if (m_state != SessionState::Stopped) return;
    QJsonObject arguments = extra;
    arguments.insert("threadId", kThreadId);
    // Leave the stop at once: a second key press before the answer must not send a second step.
    leaveStop();
    if (m_resend.isActive()) {
        // A breakpoint changed just before must not be missed, or hit once more.
        m_resend.stop();
        sendBreakpoints({});
    }
    m_client->request(command, arguments, this, [this](const DapReply& reply) {
        if (!reply.success) emit output(reply.message, QStringLiteral("protocol"));
    });
}

void DebugSession::resume() { go(QStringLiteral("continue")); }
void DebugSession::resumeWhenBreakpointsAreSet() {
    if (m_state != SessionState::Stopped) return;
    m_resend.stop();
    const quint64 generation = m_generation;
    sendBreakpoints([this, generation] {
        if (generation == m_generation) resume();
    });
}

void DebugSession::stepOver() { go(QStringLiteral("next")); }
void DebugSession::stepInto() { go(QStringLiteral("stepIn")); }
void DebugSession::stepOut() { go(QStringLiteral("stepOut")); }
void DebugSession::stepOperator() { go(QStringLiteral("next"), {{"granularity", "instruction"}}); }
void DebugSession::stepBackward() { go(QStringLiteral("stepBackward")); }
void DebugSession::nextTrainingStep() { go(QStringLiteral("nextStep")); }

void DebugSession::pause() {
    if (m_state != SessionState::Running) return;
    m_client->request(QStringLiteral("pause"), {{"threadId", kThreadId}}, this,
                      [this](const DapReply& reply) {
                          if (!reply.success)
                              emit output(reply.message, QStringLiteral("protocol"));
                      });
}

void DebugSession::stop() {
    if (!isActive()) return;
    if (m_userStopped) {
        m_client->close(0);
        return;
    }
    m_userStopped = true;
    const bool open = m_client->isOpen();
    ++m_generation;
    setState(SessionState::Ending);
    if (open) m_client->request(QStringLiteral("terminate"), {}, this, {});
    m_killTimer.start(open ? kStopGraceMs : 0);
}

void DebugSession::evaluate(const QString& expression, QObject* context, EvaluateCallback onDone) {
    if (m_state != SessionState::Stopped) {
        const QString why = tr("Values can be read while the model stands: pause it first (F6).");
        QTimer::singleShot(0, context,
                           [onDone = std::move(onDone), why] { onDone(false, why, {}); });
        return;
    }
    QJsonObject arguments{{"expression", expression}, {"context", "repl"}};
    if (m_currentFrame < static_cast<int>(m_frames.size()))
        arguments.insert("frameId", m_frames[static_cast<std::size_t>(m_currentFrame)].id);
    m_client->request(QStringLiteral("evaluate"), arguments, context,
                      [expression, onDone = std::move(onDone)](const DapReply& reply) {
                          if (!reply.success) {
                              onDone(false, reply.message, {});
                              return;
                          }
                          Variable v = parseVariable(reply.body);
                          v.name = expression;
                          v.value = reply.body.value("result").toString();
                          onDone(true, v.value, v);
                      });
}

void DebugSession::request(const QString& command, const QJsonObject& arguments, QObject* context,
                           std::function<void(const DapReply&)> onReply) {
    if (m_client == nullptr) {
        QTimer::singleShot(0, context, [onReply = std::move(onReply)] {
            onReply({false, tr("No model is running: start one with Run."), {}});
        });
        return;
    }
    m_client->request(command, arguments, context, std::move(onReply));
}

void DebugSession::onClosed(const DapExit& exit) {
    m_killTimer.stop();
    m_resend.stop();
    const SessionEnd end = describeEnd(exit);
    m_client->deleteLater();
    m_client = nullptr;
    ++m_generation;
    m_stop = {};
    m_frames.clear();
    m_scopes.clear();
    m_breakpoints.forgetAdapter();
    setState(SessionState::Idle);
    emit framesChanged();
    emit scopesChanged();
    emit ended(end);
    if (m_next && m_state == SessionState::Idle) {
        m_spec = *std::exchange(m_next, std::nullopt);
        begin();
    }
}

}  // namespace tapescope::app
