// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "storage/tape/records.h"

#include <QHash>
#include <QWidget>

#include <memory>
#include <vector>

namespace tapescope::viewers {

/// A line breakpoint as the gutter shows it. Lines count from 1.
struct SourceBreakpoint {
    int line = 0;
    bool verified = true;  ///< false: hollow
    bool enabled = true;   ///< false: grey
    int hits = 0;          ///< shown beside the dot on hover
    QString message = {};  ///< why it is not verified
};

/// Source files, read-only, with a gutter: breakpoints, time a line, line numbers, the line where
/// the run stands. Files are named by any path ending in the same components. GUI thread only.
class SourceView final : public QWidget {
    Q_OBJECT
public:
    explicit SourceView(QWidget* parent = nullptr);
    ~SourceView() override;

    /// The files to choose from, replacing those before. The shown file and line stay if they are
    /// among them.
    void setSources(const std::vector<storage::SourceRow>& sources);
    /// Adds or replaces one file (the debug adapter's `source` request).
    void addSource(const QString& file, const QString& text);
    QStringList files() const;
    QString currentFile() const;
    void setEmptyText(const QString& text);

    /// Shows a file at a line (from 1), with the text cursor there. False: no such file is loaded.
    bool showLine(const QString& file, int line);
    /// The line where the run stands; also shown. False: no such file is loaded (the mark is kept
    /// for when it comes).
    bool setCurrentLine(const QString& file, int line);
    void clearCurrentLine();
    void setBreakpoints(const QString& file, const std::vector<SourceBreakpoint>& breakpoints);
    /// Time by line, in nanoseconds; bars are relative to the file's largest.
    void setLineCosts(const QString& file, const QHash<int, double>& nsByLine);
    /// The text cursor's line, from 1; 0 if nothing is shown.
    int cursorLine() const;

    void showFind();
    void showGoToLine();

signals:
    /// The gutter was clicked, or F9 pressed on the cursor's line.
    void breakpointToggled(const QString& file, int line);
    /// The text cursor was moved by the user to this line.
    void lineChosen(const QString& file, int line);
    /// "Run to this line" of the context menu.
    void runToRequested(const QString& file, int line);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace tapescope::viewers
