// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/keys_dialog.h"

#include "viewers/common/theme.h"

#include <QAction>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace tapescope::app {

using viewers::Theme;

KeysDialog::KeysDialog(const QList<QAction*>& commands, QWidget* parent) : QDialog(parent) {
    setStyleSheet(QStringLiteral("QDialogButtonBox{dialogbuttonbox-buttons-have-icons:0}"));
    setWindowTitle(tr("Keys"));
    resize(520, 560);
    auto* tree = new QTreeWidget;
    tree->setColumnCount(2);
    tree->setHeaderHidden(true);
    tree->setRootIsDecorated(false);
    tree->setAccessibleName(windowTitle());
    tree->setSelectionMode(QAbstractItemView::NoSelection);
    tree->header()->setStretchLastSection(false);
    tree->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    tree->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
    const Theme& theme = Theme::current();
    QTreeWidgetItem* group = nullptr;
    const auto startGroup = [&](const QString& title) {
        group = new QTreeWidgetItem(tree, {title});
        group->setFont(0, theme.boldFont());
        group->setExpanded(true);
    };
    const auto addRow = [&](const QString& what, const QString& keys) {
        auto* item = new QTreeWidgetItem(group, {what, keys});
        item->setFont(1, theme.monoFont());
    };
    for (const QAction* action : commands) {
        if (action->shortcuts().isEmpty()) continue;
        const QString title = action->property("commandGroup").toString();
        if (group == nullptr || group->text(0) != title) startGroup(title);
        addRow(QString(action->text()).remove(QLatin1Char('&')),
               action->shortcut().toString(QKeySequence::NativeText));
    }
    startGroup(tr("Graph and source"));
    addRow(tr("Set or remove a breakpoint on the node or line"), QStringLiteral("F9"));
    addRow(tr("Show the whole graph"), QStringLiteral("F"));
    startGroup(tr("Timeline"));
    addRow(tr("Zoom in, out; pan left, right"), QStringLiteral("W S A D"));
    addRow(tr("All keys of the timeline"), QStringLiteral("?"));
    startGroup(tr("Step scrubber"));
    addRow(tr("One step, ten steps back and forth"), QStringLiteral("← → PgDn PgUp"));
    addRow(tr("Follow the newest step"), QStringLiteral("End"));

    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 12, 12, 12);
    column->addWidget(tree);
    column->addWidget(buttons);
}

}  // namespace tapescope::app
