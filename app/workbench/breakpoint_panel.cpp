// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/breakpoint_panel.h"

#include "app/workbench/breakpoint_model.h"
#include "app/workbench/breakpoint_store.h"
#include "app/workbench/calm_selection.h"
#include "viewers/common/empty_state.h"
#include "viewers/common/icons.h"
#include "viewers/common/theme.h"

#include <QAction>
#include <QCompleter>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QStackedLayout>
#include <QStringListModel>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>

namespace tapescope::app {
namespace {

using viewers::Theme;

/// Colours by state: a place that can match nothing is a warning, one that is off is grey.
class PlaceDelegate final : public RowDelegate {
public:
    using RowDelegate::RowDelegate;
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        const Theme& theme = Theme::current();
        const QModelIndex place = index.siblingAtColumn(BreakpointModel::Place);
        const bool off = place.data(Qt::CheckStateRole).toInt() != Qt::Checked;
        Theme::Role role = Theme::Text;
        if (off)
            role = Theme::Disabled;
        else if (index.data(BreakpointModel::ProblemRole).toBool())
            role = Theme::Warning;
        else if (index.column() != BreakpointModel::Place)
            role = Theme::Muted;
        option->palette.setColor(QPalette::Text, theme.color(role));
        option->palette.setColor(QPalette::HighlightedText, theme.color(role));
        option->font = index.column() == BreakpointModel::Note ? theme.font() : theme.monoFont();
    }
};

QToolButton* toolButton(const QString& icon, const QString& tip) {
    auto* button = new QToolButton;
    button->setToolTip(tip);
    button->setAccessibleName(tip);
    viewers::setThemedIcon(button, icon);
    return button;
}

}  // namespace

BreakpointPanel::BreakpointPanel(BreakpointStore& store, QWidget* parent)
    : QWidget(parent),
      m_store(store),
      m_model(new BreakpointModel(store, this)),
      m_pages(new QStackedLayout),
      m_empty(new viewers::EmptyState(QStringLiteral("breakpoint"), {}, {})),
      m_view(new QTreeView),
      m_input(new QLineEdit),
      m_names(new QStringListModel(this)) {
    m_view->setModel(m_model);
    m_view->setItemDelegate(new PlaceDelegate(m_view));
    m_view->setRootIsDecorated(false);
    m_view->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_view->setUniformRowHeights(true);
    calmSelection(m_view);
    m_view->setAllColumnsShowFocus(true);
    m_view->setAccessibleName(tr("Breakpoints"));
    m_view->setEditTriggers(QAbstractItemView::EditKeyPressed | QAbstractItemView::DoubleClicked);
    m_view->setSelectionMode(QAbstractItemView::ExtendedSelection);
    QHeaderView* header = m_view->header();
    header->setStretchLastSection(true);
    header->setSectionResizeMode(BreakpointModel::Place, QHeaderView::Interactive);
    header->resizeSection(BreakpointModel::Place, 190);
    header->resizeSection(BreakpointModel::FromHit, 74);
    header->resizeSection(BreakpointModel::Hits, 46);

    m_pages->addWidget(m_empty);
    setCudaRecord(false);
    m_pages->addWidget(m_view);

    m_input->setObjectName(QStringLiteral("breakpointInput"));
    m_input->setPlaceholderText(
        tr("Add: conv2d   conv2   conv2: conv2d   backward:linear   conv*"));
    m_input->setAccessibleName(tr("New breakpoint"));
    auto* completer = new QCompleter(m_names, this);
    completer->setCaseSensitivity(Qt::CaseInsensitive);
    completer->setFilterMode(Qt::MatchContains);
    completer->setMaxVisibleItems(12);
    m_input->setCompleter(completer);
    connect(m_input, &QLineEdit::returnPressed, this, &BreakpointPanel::add);

    auto* addButton = toolButton(QStringLiteral("plus"), tr("Add the named breakpoint"));
    auto* removeButton =
        toolButton(QStringLiteral("minus"), tr("Remove the selected breakpoints (Del)"));
    auto* clearButton =
        toolButton(QStringLiteral("breakpoint-clear"), tr("Remove all breakpoints"));
    connect(addButton, &QToolButton::clicked, this, &BreakpointPanel::add);
    connect(removeButton, &QToolButton::clicked, this, &BreakpointPanel::removeSelected);
    connect(clearButton, &QToolButton::clicked, &m_store, &BreakpointStore::clear);

    auto* remove = new QAction(tr("Remove"), m_view);
    remove->setShortcut(QKeySequence::Delete);
    remove->setShortcutContext(Qt::WidgetShortcut);
    connect(remove, &QAction::triggered, this, &BreakpointPanel::removeSelected);
    m_view->addAction(remove);

    auto* row = new QHBoxLayout;
    row->setContentsMargins(4, 4, 4, 4);
    row->setSpacing(2);
    row->addWidget(m_input, 1);
    row->addWidget(addButton);
    row->addWidget(removeButton);
    row->addWidget(clearButton);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(m_pages, 1);
    column->addLayout(row);

    connect(m_view, &QTreeView::activated, this, [this](const QModelIndex& index) {
        const Breakpoint* b = m_store.find(index.data(BreakpointModel::KeyRole).toInt());
        if (b != nullptr && b->kind == Breakpoint::Kind::Source)
            emit sourceChosen(b->file, b->line);
    });
    connect(&m_store, &BreakpointStore::changed, this, &BreakpointPanel::updatePage);
    updatePage();
}

void BreakpointPanel::setCudaRecord(bool on) {
    if (on)
        m_empty->setTexts(tr("Nothing to stop in"),
                          tr("This tape records a CUDA program, without steps of the engine: look "
                             "at the Timeline (Ctrl+3). Breakpoints named below are for models "
                             "that run from here (F5)."));
    else
        m_empty->setTexts(
            tr("No breakpoints"),
            tr("Click in the source's gutter or on a node of the graph, "
               "or name an operator or module below: conv2d, conv2, backward:linear"));
}

void BreakpointPanel::updatePage() { m_pages->setCurrentIndex(m_store.all().empty() ? 0 : 1); }

void BreakpointPanel::setCompletions(const QStringList& names) {
    if (names != m_names->stringList()) m_names->setStringList(names);
}

QStringList BreakpointPanel::completions() const { return m_names->stringList(); }

void BreakpointPanel::startAdding() {
    m_input->setFocus();
    m_input->selectAll();
}

void BreakpointPanel::add() {
    const QString name = m_input->text().simplified();
    if (name.isEmpty()) {
        startAdding();
        return;
    }
    // "file.cpp:41" names a line, everything else an operator or module.
    const qsizetype colon = name.lastIndexOf(QLatin1Char(':'));
    bool isLine = false;
    const int line = colon > 0 ? name.mid(colon + 1).trimmed().toInt(&isLine) : 0;
    if (isLine && line > 0 && name.left(colon).contains(QLatin1Char('.')))
        m_store.addSource(name.left(colon), line);
    else
        m_store.addFunction(name);
    m_input->clear();
}

void BreakpointPanel::removeSelected() {
    std::vector<int> keys;
    for (const QModelIndex& index : m_view->selectionModel()->selectedRows())
        keys.push_back(index.data(BreakpointModel::KeyRole).toInt());
    for (const int key : keys) m_store.remove(key);
}

}  // namespace tapescope::app
