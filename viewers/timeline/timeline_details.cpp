// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/timeline/timeline_details.h"

#include "viewers/common/theme.h"

#include <QFontMetrics>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLabel>
#include <QPainter>
#include <QSortFilterProxyModel>
#include <QStackedLayout>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>

namespace tapescope::viewers {
namespace {

/// Colours the phase, sets numbers in the mono font, and draws the share as a bar.
class SummaryDelegate final : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        const bool phase = index.column() == OpSummaryModel::PhaseColumn;
        option->font = phase ? Theme::current().smallFont() : Theme::current().smallMonoFont();
        // Clear of the phase's bar.
        if (index.column() == OpSummaryModel::Name) option->text.prepend(QStringLiteral(u"\u2002"));
    }
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const Theme& theme = Theme::current();
        const QColor phase =
            theme.color(static_cast<storage::Phase>(index.data(OpSummaryModel::PhaseRole).toInt()));
        if (index.column() == OpSummaryModel::Share) {
            const double share = index.data(OpSummaryModel::SortRole).toDouble();
            QRectF bar = QRectF(option.rect).adjusted(2, 3, -2, -3);
            bar.setWidth(bar.width() * std::clamp(share, 0.0, 1.0));
            painter->fillRect(bar, Theme::mix(theme.color(Theme::Field), phase, 0.35));
        }
        QStyledItemDelegate::paint(painter, option, index);
        if (index.column() == OpSummaryModel::Name)
            painter->fillRect(
                QRect(option.rect.left(), option.rect.top() + 2, 3, option.rect.height() - 4),
                phase);
    }
};

}  // namespace

/// The fields of an event in as many columns as fit.
class TimelineDetails::FieldPane final : public QWidget {
public:
    using QWidget::QWidget;
    void setFields(QList<EventField> fields) {
        m_fields = std::move(fields);
        update();
    }

protected:
    void paintEvent(QPaintEvent*) override {
        const Theme& theme = Theme::current();
        QPainter p(this);
        p.fillRect(rect(), theme.color(Theme::Panel));
        m_places.clear();
        const QFontMetrics text(theme.font()), mono(theme.monoFont());
        const int line = std::max(text.height(), mono.height()) + 4;
        const int perColumn = std::max(1, (height() - 8) / line);
        int labels = 0;
        for (const EventField& field : m_fields)
            labels = std::max(labels, text.horizontalAdvance(field.label));
        constexpr int kPad = 12, kGap = 12;
        int x = kPad;
        for (qsizetype first = 0; first < m_fields.size(); first += perColumn) {
            const auto count = std::min<qsizetype>(perColumn, m_fields.size() - first);
            int values = 0;
            for (qsizetype i = 0; i < count; ++i)
                values = std::max(values, mono.horizontalAdvance(m_fields[first + i].value));
            values = std::min(values, std::max(60, width() - x - labels - kGap - kPad));
            for (qsizetype i = 0; i < count; ++i) {
                const EventField& field = m_fields[first + i];
                const QRect row(x, 4 + static_cast<int>(i) * line, labels + kGap + values, line);
                p.setFont(theme.font());
                p.setPen(theme.color(Theme::Muted));
                p.drawText(QRect(row.left(), row.top(), labels, line),
                           Qt::AlignLeft | Qt::AlignVCenter, field.label);
                p.setFont(theme.monoFont());
                p.setPen(theme.color(Theme::Text));
                p.drawText(QRect(row.left() + labels + kGap, row.top(), values + 2, line),
                           Qt::AlignLeft | Qt::AlignVCenter,
                           mono.elidedText(field.value, Qt::ElideMiddle, values + 2));
                m_places.append({row, field.exact.isEmpty() ? field.value : field.exact});
            }
            x += labels + kGap + values + 3 * kGap;
        }
    }
    bool event(QEvent* event) override {
        if (event->type() != QEvent::ToolTip) return QWidget::event(event);
        const auto* help = static_cast<QHelpEvent*>(event);
        for (const auto& [place, exact] : m_places)
            if (place.contains(help->pos()))
                QToolTip::showText(help->globalPos(), exact, this, place);
        return true;
    }

private:
    QList<EventField> m_fields;
    QList<std::pair<QRect, QString>> m_places;
};

TimelineDetails::TimelineDetails(QWidget* parent)
    : QWidget(parent),
      m_heading(new QLabel(this)),
      m_stack(nullptr),
      m_fields(new FieldPane(this)),
      m_table(new QTableView(this)),
      m_model(new OpSummaryModel(this)),
      m_sorted(new QSortFilterProxyModel(this)) {
    m_heading->setTextFormat(Qt::RichText);
    m_heading->setContentsMargins(12, 4, 12, 4);
    m_sorted->setSourceModel(m_model);
    m_sorted->setSortRole(OpSummaryModel::SortRole);
    m_table->setModel(m_sorted);
    m_table->setItemDelegate(new SummaryDelegate(m_table));
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(OpSummaryModel::Self, Qt::DescendingOrder);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setShowGrid(false);
    m_table->setWordWrap(false);
    m_table->verticalHeader()->hide();
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->horizontalHeader()->setMinimumSectionSize(40);
    m_table->horizontalHeader()->setSectionResizeMode(OpSummaryModel::Name, QHeaderView::Stretch);
    m_table->setTabKeyNavigation(false);
    connect(m_table, &QTableView::activated, this, [this](const QModelIndex& index) {
        emit operatorActivated(index.siblingAtColumn(OpSummaryModel::Name).data().toString());
    });
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_heading);
    auto* body = new QWidget(this);
    layout->addWidget(body, 1);
    m_stack = new QStackedLayout(body);
    m_stack->addWidget(m_fields);
    m_stack->addWidget(m_table);
    const auto restyle = [this] {
        const QFontMetrics metrics(Theme::current().smallMonoFont());
        m_table->verticalHeader()->setDefaultSectionSize(metrics.height() + 6);
        const int digit = metrics.averageCharWidth();
        m_table->horizontalHeader()->setFont(Theme::current().smallFont());
        for (int c = 0; c < OpSummaryModel::kColumns; ++c)
            m_table->setColumnWidth(
                c, digit * (c == OpSummaryModel::Name                                      ? 26
                            : c == OpSummaryModel::Flops || c == OpSummaryModel::Bandwidth ? 16
                                                                                           : 11));
    };
    connect(&Theme::current(), &Theme::changed, this, restyle);
    restyle();
}

void TimelineDetails::showEvent(const TimelineData& timeline, EventRef event,
                                const storage::Graph* graph) {
    m_heading->setText(QStringLiteral("<b>%1</b>&nbsp;&nbsp;<span style='color:%2'>%3</span>")
                           .arg(eventTitle(timeline, event).left(200).toHtmlEscaped(),
                                Theme::current().color(Theme::Muted).name(),
                                eventKindText(timeline, event)));
    m_fields->setFields(eventFields(timeline, event, graph));
    m_stack->setCurrentWidget(m_fields);
}

void TimelineDetails::showTable(const QString& heading, OpSummaryModel::Rows rows) {
    m_heading->setText(heading.toHtmlEscaped());
    m_model->setRows(std::move(rows));
    m_stack->setCurrentWidget(m_table);
}

void TimelineDetails::showBusy(const QString& heading) {
    m_heading->setText(heading.toHtmlEscaped());
}

}  // namespace tapescope::viewers
