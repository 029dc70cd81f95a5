// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/stack_panel.h"

#include "app/workbench/calm_selection.h"
#include "app/workbench/debug_session.h"
#include "viewers/common/empty_state.h"
#include "viewers/common/theme.h"

#include <QFileInfo>
#include <QHeaderView>
#include <QStackedLayout>
#include <QTreeWidget>

namespace tapescope::app {

using viewers::Theme;

namespace {
constexpr int kFileRole = Qt::UserRole + 1;
constexpr int kLineRole = Qt::UserRole + 2;
}  // namespace

StackPanel::StackPanel(DebugSession& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_pages(new QStackedLayout(this)),
      m_empty(new viewers::EmptyState(QStringLiteral("stack"), {}, {})),
      m_view(new QTreeWidget) {
    m_view->setObjectName(QStringLiteral("stackView"));
    m_view->setColumnCount(2);
    m_view->setHeaderHidden(true);
    m_view->setRootIsDecorated(false);
    m_view->setUniformRowHeights(true);
    calmSelection(m_view);
    m_view->setItemDelegate(new RowDelegate(m_view));
    m_view->setAccessibleName(tr("Stack"));
    m_view->header()->setStretchLastSection(false);
    m_view->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_view->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
    m_pages->addWidget(m_empty);
    setCudaRecord(false);
    m_pages->addWidget(m_view);
    connect(&m_session, &DebugSession::framesChanged, this,
            [this] { show(m_session.frames(), m_session.currentFrame()); });
    connect(m_view, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem* item) {
        if (item == nullptr) return;
        m_session.selectFrame(m_view->indexOfTopLevelItem(item));
        emit frameChosen(item->data(0, kFileRole).toString(), item->data(0, kLineRole).toInt());
    });
}

void StackPanel::setCudaRecord(bool on) {
    if (on)
        m_empty->setTexts(tr("No stack on this tape"),
                          tr("It records a CUDA program and has no steps of the engine. Its calls "
                             "and kernels are in the Timeline (Ctrl+3)."));
    else
        m_empty->setTexts(
            tr("Not stopped"),
            tr("The stack appears when the model stops at a breakpoint or is paused (F6). In "
               "a recorded step, choose an operator in the graph."));
}

void StackPanel::showRecorded(const std::vector<StackFrame>& frames) {
    if (!m_session.isStopped()) show(frames, 0);
}

void StackPanel::show(const std::vector<StackFrame>& frames, int current) {
    const QSignalBlocker quiet(m_view);
    const Theme& theme = Theme::current();
    m_view->clear();
    int row = 0;
    for (const StackFrame& frame : frames) {
        const QString place = frame.sourcePath.isEmpty()
                                  ? QString()
                                  : QFileInfo(frame.sourcePath).fileName() + QLatin1Char(':') +
                                        QString::number(frame.line);
        auto* item = new QTreeWidgetItem(m_view, {frame.name, place});
        item->setForeground(1, theme.color(Theme::Muted));
        item->setFont(1, theme.smallMonoFont());
        item->setFont(0, row == 0 ? theme.boldFont() : theme.font());
        item->setToolTip(0, frame.name);
        if (!frame.sourcePath.isEmpty())
            item->setToolTip(1, QStringLiteral("%1:%2").arg(frame.sourcePath).arg(frame.line));
        item->setData(0, kFileRole, frame.sourcePath);
        item->setData(0, kLineRole, frame.line);
        ++row;
    }
    if (row > 0) m_view->setCurrentItem(m_view->topLevelItem(current));
    m_pages->setCurrentIndex(row > 0 ? 1 : 0);
}

}  // namespace tapescope::app
