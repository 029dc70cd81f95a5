// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/command_palette.h"

#include "viewers/common/theme.h"

#include <QAction>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include <algorithm>

namespace tapescope::app {
namespace {

using viewers::Theme;

constexpr int kShortcutRole = Qt::UserRole + 1;
constexpr int kActionRole = Qt::UserRole + 2;

class CommandDelegate final : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const override {
        return {100, option.fontMetrics.height() + 10};
    }
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const Theme& theme = Theme::current();
        if (option.state.testFlag(QStyle::State_Selected))
            painter->fillRect(option.rect, theme.color(Theme::AccentSoft));
        else if (option.state.testFlag(QStyle::State_MouseOver))
            painter->fillRect(option.rect, theme.color(Theme::Hover));
        const QRect inner = option.rect.adjusted(12, 0, -12, 0);
        painter->setFont(theme.smallMonoFont());
        painter->setPen(theme.color(Theme::Muted));
        const QString keys = index.data(kShortcutRole).toString();
        painter->drawText(inner, Qt::AlignRight | Qt::AlignVCenter, keys);
        const int keysWidth = painter->fontMetrics().horizontalAdvance(keys) + 16;
        painter->setFont(theme.font());
        painter->setPen(theme.color(Theme::Text));
        const QRect textRect = inner.adjusted(0, 0, -keysWidth, 0);
        painter->drawText(textRect, Qt::AlignLeft | Qt::AlignVCenter,
                          painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight,
                                                            textRect.width()));
    }
};

}  // namespace

int fuzzyScore(const QString& pattern, const QString& text) {
    int score = 0;
    qsizetype at = 0;
    qsizetype previous = -2;
    for (const QChar c : pattern) {
        if (c.isSpace()) continue;
        const qsizetype found = text.indexOf(c, at, Qt::CaseInsensitive);
        if (found < 0) return -1;
        const bool wordStart = found == 0 || !text[found - 1].isLetterOrNumber();
        score += 1 + (found == previous + 1 ? 4 : 0) + (wordStart ? 3 : 0);
        previous = found;
        at = found + 1;
    }
    return score;
}

QString commandText(const QAction* action) {
    QString text = action->property("commandGroup").toString();
    if (!text.isEmpty()) text += QLatin1String(": ");
    QString own = action->text();
    own.remove(QLatin1Char('&'));
    if (own.endsWith(QChar(0x2026))) own.chop(1);
    return text + own;
}

CommandPalette::CommandPalette(QWidget* parent)
    : QDialog(parent, Qt::Popup | Qt::FramelessWindowHint),
      m_input(new QLineEdit),
      m_list(new QListWidget) {
    setObjectName(QStringLiteral("commandPalette"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(8, 8, 8, 8);
    column->setSpacing(8);
    column->addWidget(m_input);
    column->addWidget(m_list);
    m_input->setPlaceholderText(tr("Type a command"));
    m_input->setAccessibleName(tr("Command"));
    m_input->installEventFilter(this);
    m_list->setItemDelegate(new CommandDelegate(m_list));
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setMouseTracking(true);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    connect(m_input, &QLineEdit::textChanged, this, &CommandPalette::filter);
    connect(m_input, &QLineEdit::returnPressed, this, &CommandPalette::run);
    connect(m_list, &QListWidget::itemClicked, this, &CommandPalette::run);
}

void CommandPalette::openWith(const QList<QAction*>& actions) {
    m_actions.clear();
    for (QAction* action : actions) {
        if (action->isEnabled() && !action->isSeparator() && action->menu() == nullptr &&
            !action->text().isEmpty())
            m_actions.emplace_back(action);
    }
    m_input->clear();
    const Theme& theme = Theme::current();
    setStyleSheet(QStringLiteral("#commandPalette{background:%1;border:1px solid "
                                 "%2}#commandPalette QListWidget{background:%1}")
                      .arg(theme.color(Theme::Raised).name(), theme.color(Theme::Border).name()));
    const QWidget* host = parentWidget();
    const int width = std::min(560, host->width() - 40);
    resize(width, std::min(420, host->height() - 80));
    move(host->mapToGlobal(QPoint((host->width() - width) / 2, 48)));
    show();
    filter({});
    m_input->setFocus();
}

void CommandPalette::filter(const QString& pattern) {
    struct Hit {
        int score;
        QAction* action;
        QString text;
    };
    std::vector<Hit> hits;
    for (const auto& action : m_actions) {
        if (action.isNull()) continue;
        const QString text = commandText(action);
        int score = fuzzyScore(pattern, text);
        if (score < 0) continue;
        const qsizetype recent = m_recent.indexOf(text);
        if (recent >= 0 && pattern.isEmpty()) score += 100 - static_cast<int>(recent);
        hits.push_back({score, action, text});
    }
    std::stable_sort(hits.begin(), hits.end(),
                     [](const Hit& a, const Hit& b) { return a.score > b.score; });
    m_list->clear();
    for (const Hit& hit : hits) {
        auto* item = new QListWidgetItem(hit.text, m_list);
        item->setData(kShortcutRole, hit.action->shortcut().toString(QKeySequence::NativeText));
        item->setData(kActionRole, QVariant::fromValue<QObject*>(hit.action));
    }
    m_list->setCurrentRow(0);
    // As tall as what is found, so that little is covered.
    const int row = m_list->sizeHintForRow(0);
    const int rows = std::clamp(m_list->count(), 1, 14);
    const int margins = height() - m_list->height();
    if (row > 0 && isVisible()) resize(width(), margins + rows * row + 2);
}

void CommandPalette::run() {
    const QListWidgetItem* item = m_list->currentItem();
    if (item == nullptr) return;
    const QString text = item->text();
    const QPointer<QAction> action =
        qobject_cast<QAction*>(item->data(kActionRole).value<QObject*>());
    m_recent.removeAll(text);
    m_recent.prepend(text);
    hide();
    if (!action.isNull()) action->trigger();
}

QStringList CommandPalette::shown() const {
    QStringList out;
    for (int i = 0; i < m_list->count(); ++i) out.append(m_list->item(i)->text());
    return out;
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_input && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        const int page = key == Qt::Key_PageDown || key == Qt::Key_PageUp ? 10 : 1;
        if (key == Qt::Key_Down || key == Qt::Key_PageDown) {
            m_list->setCurrentRow(std::min(m_list->currentRow() + page, m_list->count() - 1));
            return true;
        }
        if (key == Qt::Key_Up || key == Qt::Key_PageUp) {
            m_list->setCurrentRow(std::max(m_list->currentRow() - page, 0));
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

}  // namespace tapescope::app
