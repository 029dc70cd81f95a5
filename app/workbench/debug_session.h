// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/workbench/breakpoint_store.h"
#include "app/workbench/session_types.h"

#include <QObject>
#include <QSet>
#include <QStringList>
#include <QTimer>

#include <functional>
#include <optional>
#include <vector>

namespace tapescope::app {

class DapClient;
struct DapExit;
struct DapReply;

/// One debugged run at a time, through a DapClient: launches it, keeps its breakpoints in step with
/// the store, and at each stop fetches stack, scopes and tensors. GUI thread only; nothing here
/// waits. The store must outlive the session.
class DebugSession final : public QObject {
    Q_OBJECT

public:
    explicit DebugSession(BreakpointStore& breakpoints, QObject* parent = nullptr);
    ~DebugSession() override;

    /// The adapter's program and arguments for the next launch; default: `tapescope dap` beside
    /// this program.
    void setProgram(const QString& program, const QStringList& arguments);
    /// Speak to a listening adapter instead of a child.
    void setRemote(const QString& host, quint16 port);

    /// Starts a run. A run that is still going is stopped first.
    void launch(const LaunchSpec& spec);
    void resume();
    /// Continues once the adapter has the store's present breakpoints ("run to here").
    void resumeWhenBreakpointsAreSet();
    void pause();
    /// Ends the run with a sealed tape; asked a second time, or after ten seconds, kills the child.
    void stop();
    void stepOver();
    void stepInto();
    void stepOut();
    void stepOperator();
    void stepBackward();
    void nextTrainingStep();

    SessionState state() const { return m_state; }
    bool isActive() const { return m_state != SessionState::Idle; }
    bool isStopped() const { return m_state == SessionState::Stopped; }
    const LaunchSpec& spec() const { return m_spec; }
    const StopInfo& stopInfo() const { return m_stop; }
    const Progress& progress() const { return m_progress; }
    const std::vector<StackFrame>& frames() const { return m_frames; }
    const std::vector<Scope>& scopes() const { return m_scopes; }
    int currentFrame() const { return m_currentFrame; }
    /// Counts stops: answers that belong to an earlier one are dropped.
    quint64 stopGeneration() const { return m_generation; }
    qint64 processId() const;

    void selectFrame(int index);
    /// Evaluates in the current frame. onDone: text or error, and the tensor's memoryReference if
    /// it is one.
    using EvaluateCallback =
        std::function<void(bool ok, const QString& text, const Variable& value)>;
    void evaluate(const QString& expression, QObject* context, EvaluateCallback onDone);
    /// Any request, for the tensor provider.
    void request(const QString& command, const QJsonObject& arguments, QObject* context,
                 std::function<void(const DapReply&)> onReply);

signals:
    void stateChanged(tapescope::app::SessionState state);
    void stopped(const tapescope::app::StopInfo& stop);
    void framesChanged();
    void scopesChanged();
    void progressChanged();
    /// category: "console", "stderr" or "protocol".
    void output(const QString& text, const QString& category);
    void ended(const tapescope::app::SessionEnd& end);

private:
    void begin();
    void setState(SessionState state);
    void onOpened();
    void onEvent(const QString& event, const QJsonObject& body);
    void onStopped(const QJsonObject& body);
    void onClosed(const DapExit& exit);
    void sendBreakpoints(std::function<void()> onDone);
    void sendFunctionBreakpoints(std::function<void()> onDone);
    void sendSourceBreakpoints(const QString& file, std::function<void()> onDone);
    void applyBreakpointReply(const std::vector<int>& keys, const DapReply& reply);
    void launchRefused(const QString& message);
    void go(const QString& command, const QJsonObject& extra = {});
    void leaveStop();
    void fetchFrames();
    void fetchScopes(const StackFrame& frame);
    SessionEnd describeEnd(const DapExit& exit) const;

    BreakpointStore& m_breakpoints;
    DapClient* m_client = nullptr;
    QString m_program;
    QStringList m_arguments;
    QString m_remoteHost;
    quint16 m_remotePort = 0;

    LaunchSpec m_spec;
    std::optional<LaunchSpec> m_next;  ///< waits for the present run to end
    SessionState m_state = SessionState::Idle;
    StopInfo m_stop;
    Progress m_progress;
    std::vector<StackFrame> m_frames;
    std::vector<Scope> m_scopes;
    int m_currentFrame = 0;
    quint64 m_generation = 0;
    QSet<QString> m_sentFiles;
    QTimer m_resend;
    QTimer m_killTimer;

    QString m_refusal;           ///< why launch was refused
    QString m_failure;           ///< the model's own last error
    qint64 m_lastFinished = -1;  ///< the last step that is known to have ended
    bool m_userStopped = false;
    bool m_terminatedSeen = false;
    int m_exitCode = 0;
};

}  // namespace tapescope::app
