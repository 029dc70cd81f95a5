// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QJsonObject>
#include <QList>
#include <QString>

#include <vector>

namespace tapescope::app {

/// What to start: the arguments of DAP's launch request.
struct LaunchSpec {
    QString model;
    qint64 steps = 0;  ///< 0: the model's default
    qint64 seed = 0;
    QString tapePath;
    QJsonObject settings;
    QString dataDir;
    bool stopOnEntry = false;
};

enum class SessionState {
    Idle,
    Launching,  ///< the child starts, breakpoints are being sent
    Running,
    Stopped,  ///< the model stands; everything may be inspected
    Ending,   ///< asked to stop, not gone yet
};

/// Why and where the model stands.
struct StopInfo {
    QString reason;       ///< DAP's: "function breakpoint", "step", "exception", …
    QString description;  ///< "break on conv2: conv2d (hit 3)"
    QString text;         ///< an exception's message
    QList<int> breakpointIds;
    QList<qint64> hits;  ///< of those, so far
    qint64 step = -1;
    qint64 seq = -1;         ///< the operator's index in the step's graph; -1 at a module entry
    qint64 forwardSeq = -1;  ///< in backward: the forward operator's index
    QString phase;
    QString module;
    QString op;
    QString file;
    int line = 0;
    bool afterOp = false;
};

struct StackFrame {
    int id = 0;
    QString name;
    QString sourcePath;
    int line = 0;
};

struct Variable {
    QString name;
    QString value;
    QString type;
    QString memoryReference;  ///< of tensors
    int variablesReference = 0;
};

struct Scope {
    QString name;  ///< "Inputs", "Outputs", "Parameters", "Gradients", "Saved"
    std::vector<Variable> variables;
};

struct Progress {
    qint64 step = -1;
    qint64 steps = 0;
    double msPerStep = 0;
    double loss = 0;
    bool hasLoss = false;
    qint64 allocatedBytes = 0;
};

/// How a session ended. message is one sentence for the user.
struct SessionEnd {
    enum class Kind {
        Finished,   ///< the model ran all its steps
        Stopped,    ///< the user ended it
        Failed,     ///< the model reported an error
        Crashed,    ///< its process died
        NotStarted  ///< launch was refused, or the program is missing
    };
    Kind kind = Kind::Finished;
    QString message;
    qint64 lastStep = -1;
};

}  // namespace tapescope::app
