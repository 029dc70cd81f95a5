// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QHash>
#include <QObject>
#include <QSet>
#include <QString>

#include <vector>

class QSettings;

namespace tapescope::app {

/// A breakpoint as the user made it, and what the adapter last said about it.
struct Breakpoint {
    enum class Kind { Function, Source };
    int key = 0;  ///< ours, stable while the window lives
    Kind kind = Kind::Function;
    QString name;  ///< Function: "conv2d", "conv*", "conv2: conv2d", "backward:conv2d"
    QString file;  ///< Source: as the tape names it, "plugins/models/digits_cnn.cpp"
    int line = 0;
    bool enabled = true;
    int fromHit = 1;         ///< stop from this hit on
    bool temporary = false;  ///< "run to here": gone at the next stop, whichever it is

    int adapterId = 0;  ///< 0: not known to a running adapter
    bool verified = false;
    QString message;  ///< why it can match nothing
    qint64 hits = 0;

    /// "conv2: conv2d" or "digits_cnn.cpp:41".
    QString title() const;
};

/// The breakpoints of the window: kept over runs and restarts. GUI thread only.
class BreakpointStore final : public QObject {
    Q_OBJECT

public:
    explicit BreakpointStore(QObject* parent = nullptr);

    const std::vector<Breakpoint>& all() const { return m_breakpoints; }
    const Breakpoint* find(int key) const;
    const Breakpoint* findFunction(const QString& name) const;
    const Breakpoint* findSource(const QString& file, int line) const;
    QSet<int> linesOf(const QString& file) const;

    /// Returns the key; an equal one that exists is enabled and returned.
    int addFunction(const QString& name);
    int addSource(const QString& file, int line);
    /// "Run to here": as the two above, removed by dropTemporary(). A place with a breakpoint keeps
    /// its own.
    void addTemporaryFunction(const QString& name);
    void addTemporarySource(const QString& file, int line);
    void dropTemporary();
    void toggleFunction(const QString& name);
    void toggleSource(const QString& file, int line);
    void remove(int key);
    void clear();
    void setEnabled(int key, bool enabled);
    void setFromHit(int key, int fromHit);
    void rename(int key, const QString& name);

    /// What the adapter answered, and hits. These never cause a new request.
    void setAdapterState(int key, int adapterId, bool verified, const QString& message);
    void updateByAdapterId(int adapterId, bool verified, const QString& message);
    void countHit(int adapterId, qint64 hits);
    void forgetAdapter();
    void resetHits();

    void load(QSettings& settings);
    void save(QSettings& settings) const;

signals:
    /// The user's part changed: the adapter must hear of it.
    void definitionsChanged();
    /// Anything changed: views repaint.
    void changed();

private:
    Breakpoint* mutableFind(int key);
    Breakpoint* byAdapterId(int adapterId);
    int add(Breakpoint breakpoint);
    void notify();

    std::vector<Breakpoint> m_breakpoints;
    int m_nextKey = 1;
};

/// True if one path is the other or ends with it at a '/': a tape names files relative to its
/// project.
bool samePath(const QString& a, const QString& b);

}  // namespace tapescope::app
