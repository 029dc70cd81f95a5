// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/source/source_editor.h"

#include "viewers/common/theme.h"
#include "viewers/models/format.h"
#include "viewers/source/cpp_highlighter.h"

#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <QTextBlock>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace tapescope::viewers {

namespace {

constexpr int kDotWidth = 22;
constexpr int kNumberMargin = 8;

}  // namespace

SourceEditor::SourceEditor(QWidget* parent) : QPlainTextEdit(parent), m_gutter(new QWidget(this)) {
    setReadOnly(true);
    setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    setLineWrapMode(NoWrap);
    setFrameShape(NoFrame);
    setAccessibleName(tr("Source"));
    m_gutter->setObjectName(QStringLiteral("sourceGutter"));
    m_gutter->setCursor(Qt::PointingHandCursor);
    m_gutter->setMouseTracking(true);
    m_gutter->installEventFilter(this);
    m_highlighter = new CppHighlighter(document());
    applyTheme();
    connect(&Theme::current(), &Theme::changed, this, &SourceEditor::applyTheme);
    connect(this, &QPlainTextEdit::blockCountChanged, this, &SourceEditor::placeGutter);
    connect(this, &QPlainTextEdit::updateRequest, this, [this](const QRect& r, int dy) {
        if (dy != 0) {
            m_gutter->scroll(0, dy);
        } else {
            m_gutter->update(0, r.y(), m_gutter->width(), r.height());
        }
    });
    connect(this, &QPlainTextEdit::cursorPositionChanged, this, [this] {
        updateHighlights();
        const int line = cursorLine();
        if (line == m_lastLine) return;
        m_lastLine = line;
        if (!m_byProgram) emit cursorLineMoved(line);
    });
}

void SourceEditor::applyTheme() {
    const Theme& theme = Theme::current();
    setFont(theme.monoFont());
    setTabStopDistance(4 * QFontMetricsF(theme.monoFont()).horizontalAdvance(u' '));
    QPalette colours = theme.palette();
    colours.setColor(QPalette::Base, theme.color(Theme::Field));
    colours.setColor(QPalette::Text, theme.color(Theme::Text));
    setPalette(colours);
    m_highlighter->updateColours();
    placeGutter();
    updateHighlights();
}

void SourceEditor::setSource(const QString& text) {
    m_byProgram = true;
    m_current = 0;
    m_lastLine = 0;
    setPlainText(text);
    m_byProgram = false;
    setFindText(m_findText);
    placeGutter();
}

void SourceEditor::setMarks(const QHash<int, SourceBreakpoint>& breakpoints,
                            const QHash<int, double>& costs) {
    m_breakpoints = breakpoints;
    m_costs = costs;
    m_maxCost = 0;
    for (const double cost : costs) {
        if (cost > m_maxCost) m_maxCost = cost;
    }
    placeGutter();
}

void SourceEditor::setCurrentLine(int line) {
    m_current = line;
    updateHighlights();
    m_gutter->update();
}

int SourceEditor::cursorLine() const { return textCursor().blockNumber() + 1; }

void SourceEditor::goTo(int line, bool centre) {
    const QTextBlock block = document()->findBlockByNumber(std::clamp(line, 1, blockCount()) - 1);
    m_byProgram = true;
    setTextCursor(QTextCursor(block));
    horizontalScrollBar()->setValue(0);
    const double top = blockBoundingGeometry(block).translated(contentOffset()).top();
    const double margin = 3.0 * fontMetrics().lineSpacing();
    if (centre || top < margin || top > viewport()->height() - margin) centerCursor();
    m_byProgram = false;
}

void SourceEditor::updateHighlights() {
    const Theme& theme = Theme::current();
    QList<QTextEdit::ExtraSelection> marks;
    const auto wholeLine = [&](int line, const QColor& color) {
        QTextEdit::ExtraSelection mark;
        mark.format.setBackground(color);
        mark.format.setProperty(QTextFormat::FullWidthSelection, true);
        mark.cursor = QTextCursor(document()->findBlockByNumber(line - 1));
        marks.append(mark);
    };
    if (document()->characterCount() > 1 && cursorLine() != m_current)
        wholeLine(cursorLine(), theme.color(Theme::Hover));
    if (m_current > 0 && m_current <= blockCount()) {
        wholeLine(m_current,
                  Theme::mix(theme.color(Theme::Field), theme.color(Category::Stopped), 0.28));
    }
    const QColor found = Theme::mix(theme.color(Theme::Field), theme.color(Theme::Warning), 0.4);
    for (const int position : m_matches) {
        QTextEdit::ExtraSelection mark;
        mark.format.setBackground(found);
        mark.cursor = QTextCursor(document());
        mark.cursor.setPosition(position);
        mark.cursor.setPosition(position + static_cast<int>(m_findText.size()),
                                QTextCursor::KeepAnchor);
        marks.append(mark);
    }
    setExtraSelections(marks);
}

int SourceEditor::setFindText(const QString& text) {
    m_findText = text;
    m_matches.clear();
    const QString all = text.isEmpty() ? QString() : toPlainText();
    qsizetype at = 0;
    while (!text.isEmpty() && static_cast<int>(m_matches.size()) < kMaxMatches &&
           (at = all.indexOf(text, at, Qt::CaseInsensitive)) >= 0) {
        m_matches.push_back(static_cast<int>(at));
        at += text.size();
    }
    updateHighlights();
    return matchCount();
}

int SourceEditor::step(int direction) {
    if (m_matches.empty()) return -1;
    const QTextCursor cursor = textCursor();
    std::size_t i = 0;
    if (direction > 0) {
        const int from = cursor.hasSelection() ? cursor.selectionStart() + 1 : cursor.position();
        const auto it = std::ranges::lower_bound(m_matches, from);
        i = it == m_matches.end() ? 0 : static_cast<std::size_t>(it - m_matches.begin());
    } else {
        const auto it = std::ranges::lower_bound(m_matches, cursor.selectionStart());
        i = (it == m_matches.begin() ? m_matches.size()
                                     : static_cast<std::size_t>(it - m_matches.begin())) -
            1;
    }
    QTextCursor found(document());
    found.setPosition(m_matches[i]);
    found.setPosition(m_matches[i] + static_cast<int>(m_findText.size()), QTextCursor::KeepAnchor);
    m_byProgram = true;
    setTextCursor(found);
    ensureCursorVisible();
    m_byProgram = false;
    return static_cast<int>(i);
}

int SourceEditor::costWidth() const {
    return m_costs.isEmpty() ? 0
                             : QFontMetrics(Theme::current().smallMonoFont())
                                       .horizontalAdvance(QStringLiteral("000.0 ms")) +
                                   8;
}

int SourceEditor::gutterWidth() const {
    const int digits = std::max(3, static_cast<int>(std::log10(std::max(1, blockCount()))) + 1);
    return kDotWidth + costWidth() + digits * fontMetrics().horizontalAdvance(u'9') +
           2 * kNumberMargin;
}

void SourceEditor::placeGutter() {
    setViewportMargins(gutterWidth(), 0, 0, 0);
    const QRect area = contentsRect();
    m_gutter->setGeometry(area.left(), area.top(), gutterWidth(), viewport()->height());
    m_gutter->update();
}

void SourceEditor::resizeEvent(QResizeEvent* event) {
    QPlainTextEdit::resizeEvent(event);
    placeGutter();
}

int SourceEditor::lineAt(double y) const {
    for (QTextBlock block = firstVisibleBlock(); block.isValid(); block = block.next()) {
        const QRectF r = blockBoundingGeometry(block).translated(contentOffset());
        if (r.top() > y) break;
        if (r.bottom() > y) return block.blockNumber() + 1;
    }
    return 0;
}

void SourceEditor::paintGutter(const QRect& dirty) {
    const Theme& theme = Theme::current();
    QPainter p(m_gutter);
    p.fillRect(dirty, theme.color(Theme::Panel));
    p.setRenderHint(QPainter::Antialiasing);
    const int width = m_gutter->width();
    const int costs = costWidth();
    for (QTextBlock block = firstVisibleBlock(); block.isValid(); block = block.next()) {
        const QRectF r = blockBoundingGeometry(block).translated(contentOffset());
        if (r.top() > dirty.bottom()) break;
        const int line = block.blockNumber() + 1;
        const QPointF dot(kDotWidth / 2.0, r.center().y());
        if (const double cost = m_costs.value(line); cost > 0) {
            const double share = m_maxCost > 0 ? cost / m_maxCost : 0;
            const QRectF bar(kDotWidth, r.top() + 1, costs - 4, r.height() - 2);
            p.fillRect(
                QRectF(bar.left(), bar.top(), std::max(1.0, bar.width() * share), bar.height()),
                Theme::mix(theme.color(Theme::Panel), theme.color(Theme::Accent),
                           0.2 + 0.3 * share));
            p.setFont(theme.smallMonoFont());
            p.setPen(theme.color(Theme::Text));
            p.drawText(bar.adjusted(2, 0, -2, 0), Qt::AlignVCenter | Qt::AlignRight,
                       format::duration(cost));
        }
        if (const auto it = m_breakpoints.constFind(line); it != m_breakpoints.cend()) {
            const QColor red = it->enabled ? theme.color(Theme::Bad) : theme.color(Theme::Disabled);
            p.setPen(QPen(red, 1.5));
            p.setBrush(it->verified ? QBrush(red) : QBrush(Qt::NoBrush));
            p.drawEllipse(dot, 5, 5);
        } else if (line == m_hoverLine) {
            QColor faint = theme.color(Theme::Bad);
            faint.setAlphaF(0.35F);
            p.setPen(Qt::NoPen);
            p.setBrush(faint);
            p.drawEllipse(dot, 5, 5);
        }
        if (line == m_current) {
            const QColor arrow = theme.color(Category::Stopped);
            const QPointF triangle[] = {dot + QPointF(-4, -5.5), dot + QPointF(7, 0),
                                        dot + QPointF(-4, 5.5)};
            p.setPen(QPen(Theme::textOn(arrow), 0.7));
            p.setBrush(arrow);
            p.drawPolygon(triangle, 3);
        }
        p.setFont(font());
        p.setPen(theme.color(line == m_current ? Theme::Text : Theme::Muted));
        p.drawText(QRectF(0, r.top(), width - kNumberMargin, r.height()),
                   Qt::AlignRight | Qt::AlignVCenter, QString::number(line));
    }
    p.setPen(theme.color(Theme::Border));
    p.setRenderHint(QPainter::Antialiasing, false);
    p.drawLine(width - 1, dirty.top(), width - 1, dirty.bottom());
}

QString SourceEditor::gutterToolTip(int line) const {
    if (line <= 0) return {};
    QStringList parts;
    if (const auto it = m_breakpoints.constFind(line); it != m_breakpoints.cend()) {
        if (!it->enabled) {
            parts << tr("Breakpoint, switched off.");
        } else if (it->verified) {
            parts << (it->hits == 1 ? tr("Breakpoint, hit once.")
                                    : tr("Breakpoint, hit %1 times.").arg(it->hits));
        } else {
            parts << (it->message.isEmpty() ? tr("Breakpoint, not confirmed: no operator has been "
                                                 "called on this line yet.")
                                            : it->message);
        }
    } else {
        parts << tr("Click or F9: stop at line %1.").arg(line);
    }
    if (const double cost = m_costs.value(line); cost > 0) {
        parts
            << tr("This line took %1.").arg(format::exactDuration(static_cast<std::int64_t>(cost)));
    }
    return parts.join(u'\n');
}

bool SourceEditor::eventFilter(QObject* watched, QEvent* event) {
    if (watched != m_gutter) return QPlainTextEdit::eventFilter(watched, event);
    switch (event->type()) {
        case QEvent::Paint:
            paintGutter(static_cast<QPaintEvent*>(event)->rect());
            return true;
        case QEvent::MouseButtonPress: {
            const auto* mouse = static_cast<QMouseEvent*>(event);
            const int line = lineAt(mouse->position().y());
            if (mouse->button() == Qt::LeftButton && line > 0) emit breakpointClicked(line);
            return true;
        }
        case QEvent::MouseMove: {
            const int line = lineAt(static_cast<QMouseEvent*>(event)->position().y());
            if (line != m_hoverLine) m_gutter->update();
            m_hoverLine = line;
            return false;
        }
        case QEvent::Leave:
            m_hoverLine = 0;
            m_gutter->update();
            return false;
        case QEvent::Wheel:
            return viewportEvent(event);
        case QEvent::ToolTip: {
            const auto* help = static_cast<QHelpEvent*>(event);
            QToolTip::showText(help->globalPos(), gutterToolTip(lineAt(help->pos().y())), m_gutter);
            return true;
        }
        default:
            return false;
    }
}

bool SourceEditor::event(QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride) {
        // Our own keys win over the window's while the source has the focus.
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool plain = key->modifiers() == Qt::NoModifier;
        const bool control = key->modifiers() == Qt::ControlModifier;
        if ((plain && (key->key() == Qt::Key_F9 || key->key() == Qt::Key_F3)) ||
            (key->modifiers() == Qt::ShiftModifier && key->key() == Qt::Key_F3) ||
            (control && (key->key() == Qt::Key_F || key->key() == Qt::Key_G))) {
            event->accept();
            return true;
        }
    }
    return QPlainTextEdit::event(event);
}

void SourceEditor::keyPressEvent(QKeyEvent* event) {
    const bool control = event->modifiers() == Qt::ControlModifier;
    if (event->key() == Qt::Key_F9 && event->modifiers() == Qt::NoModifier) {
        emit breakpointClicked(cursorLine());
    } else if (event->key() == Qt::Key_F3) {
        emit findNextRequested(event->modifiers() & Qt::ShiftModifier ? -1 : 1);
    } else if (control && event->key() == Qt::Key_F) {
        emit findRequested();
    } else if (control && event->key() == Qt::Key_G) {
        emit goToRequested();
    } else {
        QPlainTextEdit::keyPressEvent(event);
    }
}

void SourceEditor::contextMenuEvent(QContextMenuEvent* event) {
    const int line = event->reason() == QContextMenuEvent::Mouse
                         ? cursorForPosition(event->pos()).blockNumber() + 1
                         : cursorLine();
    QMenu menu(this);
    QAction* toggle = menu.addAction(
        m_breakpoints.contains(line) ? tr("Remove breakpoint") : tr("Set breakpoint"), this,
        [this, line] { emit breakpointClicked(line); });
    toggle->setShortcut(Qt::Key_F9);
    menu.addAction(tr("Run to this line"), this, [this, line] { emit runToRequested(line); });
    menu.addSeparator();
    QAction* copyText = menu.addAction(tr("Copy"), this, &QPlainTextEdit::copy);
    copyText->setShortcut(QKeySequence::Copy);
    copyText->setEnabled(textCursor().hasSelection());
    QAction* find = menu.addAction(tr("Find…"), this, &SourceEditor::findRequested);
    find->setShortcut(QKeySequence::Find);
    QAction* go = menu.addAction(tr("Go to line…"), this, &SourceEditor::goToRequested);
    go->setShortcut(Qt::CTRL | Qt::Key_G);
    menu.exec(event->globalPos());
}

}  // namespace tapescope::viewers
