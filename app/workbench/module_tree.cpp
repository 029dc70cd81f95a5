// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/module_tree.h"

#include "app/workbench/breakpoint_store.h"
#include "app/workbench/calm_selection.h"
#include "viewers/common/empty_state.h"
#include "viewers/common/theme.h"
#include "viewers/models/format.h"
#include "viewers/models/selection.h"

#include <QHash>
#include <QHeaderView>
#include <QMenu>
#include <QStackedLayout>
#include <QTreeWidget>

namespace tapescope::app {

using viewers::Theme;

namespace {
constexpr int kPathRole = Qt::UserRole + 1;
}

ModuleTree::ModuleTree(viewers::Selection& selection, BreakpointStore& breakpoints, QWidget* parent)
    : QWidget(parent),
      m_selection(selection),
      m_breakpoints(breakpoints),
      m_pages(new QStackedLayout(this)),
      m_view(new QTreeWidget) {
    m_view->setObjectName(QStringLiteral("moduleTree"));
    m_view->setColumnCount(2);
    m_view->setHeaderHidden(true);
    m_view->setIndentation(12);
    m_view->setUniformRowHeights(true);
    calmSelection(m_view);
    m_view->setItemDelegate(new RowDelegate(m_view));
    m_view->setAccessibleName(tr("Modules"));
    m_view->setContextMenuPolicy(Qt::CustomContextMenu);
    m_view->header()->setStretchLastSection(false);
    m_view->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_view->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
    m_empty = new viewers::EmptyState(QStringLiteral("module"), {}, {});
    m_pages->addWidget(m_empty);
    setWhyNone({});
    m_pages->addWidget(m_view);
    connect(m_view, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem* item) {
        if (item != nullptr) m_selection.setModulePath(item->data(0, kPathRole).toString());
    });
    connect(m_view, &QWidget::customContextMenuRequested, this, &ModuleTree::showMenu);
    connect(&m_selection, &viewers::Selection::modulePathChanged, this, &ModuleTree::showSelection);
}

void ModuleTree::setWhyNone(const QString& why) {
    if (why.isEmpty()) {
        m_empty->setTexts(tr("No model"), tr("Its modules appear once a run is open."));
    } else {
        m_empty->setTexts(tr("No modules"), why);
    }
}

void ModuleTree::setStructure(std::shared_ptr<const viewers::Structure> structure) {
    if (structure && m_structure && structure->modules.size() == m_structure->modules.size() &&
        (structure->modules.empty() ||
         structure->modules.back().path == m_structure->modules.back().path)) {
        m_structure = std::move(structure);
        return;
    }
    m_structure = std::move(structure);
    const QSignalBlocker quiet(m_view);
    m_view->clear();
    const bool any = m_structure && !m_structure->modules.empty();
    m_pages->setCurrentIndex(any ? 1 : 0);
    if (!any) return;
    const Theme& theme = Theme::current();
    QHash<storage::ModuleId, QTreeWidgetItem*> items;
    for (const storage::ModuleRow& row : m_structure->modules) {
        QTreeWidgetItem* parent = items.value(row.parent);
        auto* item = parent == nullptr ? new QTreeWidgetItem(m_view) : new QTreeWidgetItem(parent);
        items.insert(row.id, item);
        const QString path = QString::fromStdString(row.path);
        const QString type = QString::fromStdString(row.type);
        item->setText(0, path.isEmpty() ? type : path.section(QLatin1Char('.'), -1));
        item->setText(1, path.isEmpty() ? QString() : type);
        item->setForeground(1, theme.color(Theme::Muted));
        item->setFont(1, theme.smallFont());
        item->setData(0, kPathRole, path);
        QString tip = path.isEmpty() ? type : QStringLiteral("%1 — %2").arg(path, type);
        if (!row.details.empty()) tip += QLatin1Char('\n') + QString::fromStdString(row.details);
        if (row.parameters > 0)
            tip += QLatin1Char('\n') +
                   tr("%1 parameters").arg(viewers::format::exactCount(row.parameters));
        item->setToolTip(0, tip);
        item->setToolTip(1, tip);
    }
    m_view->expandToDepth(1);
    showSelection();
}

void ModuleTree::showSelection() {
    const QSignalBlocker quiet(m_view);
    const QString path = m_selection.modulePath();
    for (QTreeWidgetItemIterator it(m_view); *it != nullptr; ++it) {
        if ((*it)->data(0, kPathRole).toString() != path || path.isEmpty()) continue;
        m_view->setCurrentItem(*it);
        return;
    }
    m_view->setCurrentItem(nullptr);
}

void ModuleTree::showMenu(const QPoint& position) {
    const QTreeWidgetItem* item = m_view->itemAt(position);
    if (item == nullptr) return;
    const QString path = item->data(0, kPathRole).toString();
    if (path.isEmpty()) return;
    QMenu menu;
    const bool set = m_breakpoints.findFunction(path) != nullptr;
    menu.addAction(set ? tr("Remove the breakpoint on entering %1").arg(path)
                       : tr("Break on entering %1").arg(path),
                   this, [this, path] { m_breakpoints.toggleFunction(path); });
    menu.exec(m_view->viewport()->mapToGlobal(position));
}

}  // namespace tapescope::app
