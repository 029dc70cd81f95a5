// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/runs_panel.h"

#include "app/workbench/calm_selection.h"
#include "app/workbench/run_library.h"
#include "viewers/common/empty_state.h"
#include "viewers/common/theme.h"
#include "viewers/models/runs_model.h"

#include <QApplication>
#include <QClipboard>
#include <QFileInfo>
#include <QListView>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QPushButton>
#include <QRegularExpression>
#include <QStackedLayout>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

namespace tapescope::app {
namespace {

using viewers::RunsModel;
using viewers::RunStatus;
using viewers::TapeSession;
using viewers::Theme;

TapeSession* sessionAt(const QModelIndex& index) {
    return qobject_cast<TapeSession*>(index.data(RunsModel::SessionRole).value<QObject*>());
}

QColor statusColour(RunStatus status) {
    const Theme& theme = Theme::current();
    switch (status) {
        case RunStatus::Live:
            return theme.color(Theme::Good);
        case RunStatus::Failed:
        case RunStatus::Unreadable:
            return theme.color(Theme::Bad);
        case RunStatus::Cut:
            return theme.color(Theme::Warning);
        default:
            return theme.color(Theme::Muted);
    }
}

/// What tells this file from others of its model: "20261130-160020" of
/// "digits-cnn-20261130-160020.tape".
QString ownName(const TapeSession* session, const QString& model) {
    if (session == nullptr) return {};
    QString name = QFileInfo(session->path()).completeBaseName();
    if (name == model) return {};
    if (name.startsWith(model + QLatin1Char('-'))) name = name.mid(model.size() + 1);
    return name;
}

/// Two lines a run: "■ name … live" over "412 steps · loss 0.031".
class RunDelegate final : public QStyledItemDelegate {
public:
    RunDelegate(RunLibrary& library, RunsPanel::ColourOf colourOf, QObject* parent)
        : QStyledItemDelegate(parent), m_library(library), m_colourOf(std::move(colourOf)) {}

    static QRect box(const QRect& row) { return {row.left() + 10, row.top() + 9, 10, 10}; }

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const override {
        return {80, option.fontMetrics.height() +
                        QFontMetrics(Theme::current().smallFont()).height() + 12};
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const Theme& theme = Theme::current();
        const TapeSession* session = sessionAt(index);
        const bool front = session != nullptr && session == m_library.front();
        painter->save();
        if (front)
            painter->fillRect(option.rect, theme.color(Theme::AccentSoft));
        else if (option.state.testFlag(QStyle::State_MouseOver))
            painter->fillRect(option.rect, theme.color(Theme::Hover));
        if (option.state.testFlag(QStyle::State_HasFocus)) {
            painter->setPen(theme.color(Theme::Accent));
            painter->drawRect(option.rect.adjusted(0, 0, -1, -1));
        }
        const QColor colour = m_colourOf(session);
        painter->setRenderHint(QPainter::Antialiasing);
        painter->setPen(QPen(colour, 1.5));
        painter->setBrush(index.data(Qt::CheckStateRole).toInt() == Qt::Checked
                              ? QBrush(colour)
                              : QBrush(Qt::NoBrush));
        painter->drawRoundedRect(QRectF(box(option.rect)).adjusted(0.5, 0.5, -0.5, -0.5), 2, 2);

        const QRect inner = option.rect.adjusted(28, 5, -8, -5);
        const auto status = static_cast<RunStatus>(index.data(RunsModel::StatusRole).toInt());
        const QString state = index.data(RunsModel::StatusTextRole).toString();
        painter->setFont(theme.smallFont());
        painter->setPen(statusColour(status));
        painter->drawText(inner, Qt::AlignRight | Qt::AlignTop, state);
        const int stateWidth = painter->fontMetrics().horizontalAdvance(state) + 8;
        painter->setFont(front ? theme.boldFont() : theme.font());
        painter->setPen(theme.color(Theme::Text));
        const QRect name = inner.adjusted(0, 0, -stateWidth, 0);
        const QString title = painter->fontMetrics().elidedText(index.data().toString(),
                                                                Qt::ElideMiddle, name.width());
        painter->drawText(name, Qt::AlignLeft | Qt::AlignTop, title);
        const QRect rest =
            name.adjusted(painter->fontMetrics().horizontalAdvance(title) + 6, 2, 0, 0);
        painter->setFont(theme.smallFont());
        painter->setPen(theme.color(Theme::Muted));
        if (rest.width() > 24)
            painter->drawText(
                rest, Qt::AlignLeft | Qt::AlignTop,
                painter->fontMetrics().elidedText(ownName(session, index.data().toString()),
                                                  Qt::ElideLeft, rest.width()));
        QString detail = index.data(RunsModel::DetailRole).toString();
        if (detail.startsWith(state))
            detail = detail.mid(state.size()).remove(QRegularExpression("^ · "));
        painter->drawText(inner, Qt::AlignLeft | Qt::AlignBottom,
                          painter->fontMetrics().elidedText(detail, Qt::ElideRight, inner.width()));
        painter->restore();
    }

    bool editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                     const QModelIndex& index) override {
        if (event->type() != QEvent::MouseButtonRelease) return false;
        const auto* mouse = static_cast<QMouseEvent*>(event);
        if (!box(option.rect).adjusted(-6, -6, 6, 6).contains(mouse->position().toPoint()))
            return false;
        const bool checked = index.data(Qt::CheckStateRole).toInt() == Qt::Checked;
        return model->setData(index, checked ? Qt::Unchecked : Qt::Checked, Qt::CheckStateRole);
    }

private:
    RunLibrary& m_library;
    RunsPanel::ColourOf m_colourOf;
};

}  // namespace

RunsPanel::RunsPanel(RunLibrary& library, ColourOf colourOf, QWidget* parent)
    : QWidget(parent),
      m_library(library),
      m_pages(new QStackedLayout(this)),
      m_view(new QListView) {
    m_view->setObjectName(QStringLiteral("runsView"));
    m_view->setModel(library.model());
    m_view->setItemDelegate(new RunDelegate(library, std::move(colourOf), m_view));
    calmSelection(m_view);
    m_view->setMouseTracking(true);
    m_view->setUniformItemSizes(true);
    m_view->setAccessibleName(tr("Runs"));
    m_view->setContextMenuPolicy(Qt::CustomContextMenu);
    m_view->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);

    auto* empty = new QWidget;
    auto* column = new QVBoxLayout(empty);
    auto* text = new viewers::EmptyState(
        QStringLiteral("runs"), tr("No runs open"),
        tr("Start one, or open a tape or a folder of tapes; dropping one here works too."));
    auto* newRun = new QPushButton(tr("New run…"));
    auto* open = new QPushButton(tr("Open tape…"));
    column->setContentsMargins(0, 0, 0, 12);
    column->setSpacing(8);
    column->addWidget(text, 1);
    for (QPushButton* button : {newRun, open}) {
        button->setMinimumWidth(140);
        column->addWidget(button, 0, Qt::AlignHCenter);
    }
    empty->setAutoFillBackground(true);
    empty->setBackgroundRole(QPalette::AlternateBase);  // the panel's colour
    connect(newRun, &QPushButton::clicked, this, &RunsPanel::newRunWanted);
    connect(open, &QPushButton::clicked, this, &RunsPanel::openWanted);
    m_pages->addWidget(empty);
    m_pages->addWidget(m_view);

    const auto updatePage = [this] {
        m_pages->setCurrentIndex(m_library.model()->rowCount() > 0 ? 1 : 0);
    };
    connect(library.model(), &QAbstractItemModel::rowsInserted, this, updatePage);
    connect(library.model(), &QAbstractItemModel::rowsRemoved, this, updatePage);
    connect(library.model(), &QAbstractItemModel::dataChanged, this,
            [this](const QModelIndex& first, const QModelIndex& last, const QList<int>& roles) {
                if (!roles.isEmpty() && !roles.contains(Qt::CheckStateRole)) return;
                for (int row = first.row(); row <= last.row(); ++row) {
                    const QModelIndex index = m_library.model()->index(row);
                    if (TapeSession* session = sessionAt(index))
                        emit shownChanged(session, m_library.model()->isShown(session));
                }
            });
    connect(m_view, &QListView::clicked, this, [this](const QModelIndex& index) {
        if (TapeSession* session = sessionAt(index)) m_library.setFront(session);
    });
    connect(m_view, &QListView::activated, this, [this](const QModelIndex& index) {
        if (TapeSession* session = sessionAt(index)) m_library.setFront(session);
    });
    connect(m_view, &QWidget::customContextMenuRequested, this, &RunsPanel::showMenu);
    connect(&library, &RunLibrary::frontChanged, this, &RunsPanel::showFront);
    updatePage();
}

void RunsPanel::showFront() {
    for (int row = 0; row < m_library.model()->rowCount(); ++row) {
        const QModelIndex index = m_library.model()->index(row);
        if (sessionAt(index) == m_library.front()) m_view->setCurrentIndex(index);
    }
    m_view->viewport()->update();
}

void RunsPanel::showMenu(const QPoint& position) {
    TapeSession* session = sessionAt(m_view->indexAt(position));
    if (session == nullptr) return;
    const QString path = session->path();
    QMenu menu;
    menu.addAction(tr("Show this run"), this, [this, session] { m_library.setFront(session); });
    menu.addAction(tr("Copy the tape's path"), this,
                   [path] { QApplication::clipboard()->setText(path); });
    menu.addSeparator();
    menu.addAction(tr("Close (the file stays)"), this,
                   [this, session] { m_library.close(session); });
    menu.exec(m_view->viewport()->mapToGlobal(position));
}

}  // namespace tapescope::app
