// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/tensor_tree.h"

#include "app/workbench/calm_selection.h"
#include "app/workbench/debug_session.h"
#include "app/workbench/variable_model.h"
#include "viewers/common/empty_state.h"
#include "viewers/common/theme.h"

#include <QHeaderView>
#include <QStackedLayout>
#include <QTreeView>

#include <algorithm>
#include <array>

namespace tapescope::app {
namespace {

using viewers::Theme;

class TensorDelegate final : public RowDelegate {
public:
    using RowDelegate::RowDelegate;
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        const Theme& theme = Theme::current();
        const bool scope = !index.parent().isValid();
        Theme::Role role = scope ? Theme::Muted : Theme::Text;
        if (index.column() == VariableModel::NonFinite)
            role = Theme::Bad;
        else if (index.column() == VariableModel::Type)
            role = Theme::Muted;
        option->font = scope                 ? theme.smallFont()
                       : index.column() == 0 ? theme.font()
                                             : theme.smallMonoFont();
        option->palette.setColor(QPalette::Text, theme.color(role));
        option->palette.setColor(QPalette::HighlightedText, theme.color(role));
        // The end of "conv2.weight" and the shape's end tell more than their beginnings.
        if (index.column() == VariableModel::Name) option->textElideMode = Qt::ElideLeft;
    }
};

}  // namespace

TensorTree::TensorTree(DebugSession& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_model(new VariableModel(this)),
      m_pages(new QStackedLayout(this)),
      m_empty(new viewers::EmptyState(QStringLiteral("tensor"), {}, {})),
      m_view(new QTreeView) {
    m_view->setObjectName(QStringLiteral("tensorTree"));
    m_view->setModel(m_model);
    m_view->setItemDelegate(new TensorDelegate(m_view));
    m_view->setUniformRowHeights(true);
    calmSelection(m_view);
    m_view->setAllColumnsShowFocus(true);
    m_view->setIndentation(10);
    m_view->setAccessibleName(tr("Tensors"));
    m_view->header()->setStretchLastSection(false);
    m_view->header()->setMinimumSectionSize(36);
    m_pages->addWidget(m_empty);
    setCudaRecord(false);
    m_pages->addWidget(m_view);
    connect(&m_session, &DebugSession::scopesChanged, this, &TensorTree::refresh);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this,
            [this](const QModelIndex& index) {
                const Variable* v = m_model->variable(index);
                if (v == nullptr || v->memoryReference.isEmpty()) return;
                m_name = v->name;
                m_scope = index.data(VariableModel::ScopeRole).toString();
                emit tensorChosen(v->name, v->memoryReference);
            });
}

void TensorTree::setCudaRecord(bool on) {
    if (on)
        m_empty->setTexts(tr("No tensors on this tape"),
                          tr("It records a CUDA program and has no operators of the engine. What "
                             "its kernels and copies did, and the memory they used, is in the "
                             "Timeline (Ctrl+3)."));
    else
        m_empty->setTexts(
            tr("No tensors"),
            tr("The tensors of the current operator appear when the model stops. In a recorded "
               "step, choose an operator in the graph: its inputs, outputs and cost appear here."));
}

void TensorTree::refresh() {
    if (!show(m_session.scopes())) {
        emit becameStale();
        return;
    }
    QModelIndex again = m_model->indexOf(m_scope, m_name);
    if (!again.isValid()) again = m_model->indexOf({}, m_name);
    if (!again.isValid()) {
        for (int row = 0; row < m_model->rowCount() && !again.isValid(); ++row) {
            const QModelIndex scope = m_model->index(row, 0);
            if (m_model->rowCount(scope) > 0) again = m_model->index(0, 0, scope);
        }
    }
    if (again.isValid()) m_view->setCurrentIndex(again);
}

void TensorTree::showRecorded(const std::vector<Scope>& scopes) {
    if (!m_session.isStopped()) show(scopes);
}

bool TensorTree::show(const std::vector<Scope>& scopes) {
    m_model->setScopes(scopes);
    const bool any = m_model->rowCount() > 0;
    m_pages->setCurrentIndex(any ? 1 : 0);
    if (!any) return false;
    // Inputs and outputs are what a stop is about; long parameter lists stay closed unless they are
    // all there is.
    int shown = 0;
    for (int row = 0; row < m_model->rowCount(); ++row) {
        const QModelIndex scope = m_model->index(row, 0);
        m_view->setFirstColumnSpanned(row, {}, true);
        const int size = m_model->rowCount(scope);
        const bool open = size <= 8 || shown == 0;
        m_view->setExpanded(scope, open);
        if (open) shown += size;
    }
    fitColumns();
    return true;
}

void TensorTree::fitColumns() {
    // Numbers get the room they need, the name the rest; a value that is no tensor must not widen
    // anything.
    const Theme& theme = Theme::current();
    const QFontMetrics mono(theme.smallMonoFont());
    std::array<int, VariableModel::ColumnCount> widths{};
    bool trouble = false;
    for (int row = 0; row < m_model->rowCount(); ++row) {
        const QModelIndex scope = m_model->index(row, 0);
        for (int i = 0; i < m_model->rowCount(scope); ++i) {
            const QModelIndex name = m_model->index(i, 0, scope);
            trouble |= name.data(VariableModel::TroubleRole).toBool();
            if (!name.data(VariableModel::TensorRole).toBool()) continue;
            for (int column = VariableModel::NonFinite; column < VariableModel::ColumnCount;
                 ++column) {
                int& width = widths[static_cast<std::size_t>(column)];
                width = std::max(
                    width, mono.horizontalAdvance(name.siblingAtColumn(column).data().toString()));
            }
        }
    }
    m_view->setColumnHidden(VariableModel::NonFinite, !trouble);
    QHeaderView* header = m_view->header();
    header->setSectionResizeMode(QHeaderView::Interactive);
    const bool values = widths[VariableModel::Min] > 0;
    header->setSectionResizeMode(VariableModel::Name,
                                 values ? QHeaderView::Stretch : QHeaderView::Interactive);
    header->setSectionResizeMode(VariableModel::Type,
                                 values ? QHeaderView::Interactive : QHeaderView::Stretch);
    if (!values) header->resizeSection(VariableModel::Name, 140);
    for (int column = VariableModel::NonFinite; column < VariableModel::ColumnCount; ++column) {
        const bool number = column >= VariableModel::Min;
        const QString title =
            m_model->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
        const int least = QFontMetrics(theme.font()).horizontalAdvance(title) + 12;
        // Recorded operators have types, but no values.
        if (number) m_view->setColumnHidden(column, widths[static_cast<std::size_t>(column)] == 0);
        header->resizeSection(column,
                              std::max(least, widths[static_cast<std::size_t>(column)]) + 12);
    }
}

bool TensorTree::select(const QString& name) {
    const QModelIndex index = m_model->indexOf({}, name);
    if (!index.isValid()) return false;
    m_view->setCurrentIndex(index);
    m_view->scrollTo(index);
    return true;
}

}  // namespace tapescope::app
