// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/source/source_view.h"

#include <QHash>
#include <QPlainTextEdit>

namespace tapescope::viewers {

class CppHighlighter;

/// The text of one file with its gutter. Lines count from 1; 0 means none. Used by SourceView only.
class SourceEditor final : public QPlainTextEdit {
    Q_OBJECT
public:
    explicit SourceEditor(QWidget* parent = nullptr);

    void setSource(const QString& text);
    void setMarks(const QHash<int, SourceBreakpoint>& breakpoints, const QHash<int, double>& costs);
    void setCurrentLine(int line);
    int currentLine() const { return m_current; }
    int cursorLine() const;
    /// Puts the text cursor there; `centre` also if the line is in view already.
    void goTo(int line, bool centre);
    /// Highlights all occurrences; returns their number, at most kMaxMatches.
    int setFindText(const QString& text);
    /// Selects the next (+1) or previous (-1) occurrence from the cursor; its index, or -1.
    int step(int direction);
    int matchCount() const { return static_cast<int>(m_matches.size()); }
    QWidget* gutter() const { return m_gutter; }
    static constexpr int kMaxMatches = 10000;

signals:
    void breakpointClicked(int line);
    /// By the user, not by goTo or setCurrentLine.
    void cursorLineMoved(int line);
    void findRequested();
    void goToRequested();
    void findNextRequested(int direction);
    void runToRequested(int line);

protected:
    bool event(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void applyTheme();
    int costWidth() const;
    int gutterWidth() const;
    void placeGutter();
    void paintGutter(const QRect& dirty);
    int lineAt(double y) const;
    QString gutterToolTip(int line) const;
    void updateHighlights();

    QWidget* m_gutter;
    CppHighlighter* m_highlighter;
    QHash<int, SourceBreakpoint> m_breakpoints;
    QHash<int, double> m_costs;  ///< ns
    double m_maxCost = 0;
    int m_current = 0;
    int m_hoverLine = 0;
    bool m_byProgram = false;
    int m_lastLine = 0;
    QString m_findText;
    std::vector<int> m_matches;  ///< positions
};

}  // namespace tapescope::viewers
