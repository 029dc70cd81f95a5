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
        option->textElideMode = Qt::ElideMiddle;  // kernels differ at their ends
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

/// Titles end where their values do; the arrow of the sorted column stands on the free side.
class SummaryHeader final : public QHeaderView {
public:
    explicit SummaryHeader(QWidget* parent) : QHeaderView(Qt::Horizontal, parent) {}

protected:
    void paintSection(QPainter* painter, const QRect& rect, int section) const override {
        const Theme& theme = Theme::current();
        painter->fillRect(rect, theme.color(Theme::Raised));
        painter->setPen(theme.color(Theme::Border));
        painter->drawLine(rect.topRight(), rect.bottomRight());
        painter->drawLine(rect.bottomLeft(), rect.bottomRight());
        const int margin = style()->pixelMetric(QStyle::PM_FocusFrameHMargin, nullptr, this) + 1;
        const QVariant side = model()->headerData(section, orientation(), Qt::TextAlignmentRole);
        const bool right = (side.toInt() & Qt::AlignRight) != 0;
        const bool sorted = isSortIndicatorShown() && sortIndicatorSection() == section;
        QRect text = rect.adjusted(right ? margin : 8, 0, -margin - 1, 0);
        const QFontMetrics metrics(font());
        const QString title = metrics.elidedText(
            model()->headerData(section, orientation(), Qt::DisplayRole).toString(), Qt::ElideRight,
            text.width() - (sorted ? kArrow + 4 : 0));
        painter->setFont(font());
        painter->setPen(theme.color(sorted ? Theme::Text : Theme::Muted));
        painter->drawText(text, (right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter, title);
        if (!sorted) return;
        const int width = metrics.horizontalAdvance(title);
        const double x = right ? text.right() - width - kArrow / 2.0 - 4
                               : text.left() + width + kArrow / 2.0 + 4;
        const double y = rect.center().y() + 0.5;
        const double up = sortIndicatorOrder() == Qt::AscendingOrder ? 1 : -1;
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        painter->setPen(Qt::NoPen);
        painter->setBrush(theme.color(Theme::Text));
        painter->drawPolygon(QPolygonF(
            {{x - kArrow / 2.0, y + 2 * up}, {x + kArrow / 2.0, y + 2 * up}, {x, y - 3 * up}}));
        painter->restore();
    }

private:
    static constexpr int kArrow = 8;  // pixels
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
    m_table->setHorizontalHeader(new SummaryHeader(m_table));
    m_table->horizontalHeader()->setSectionsClickable(true);
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
        m_table->horizontalHeader()->setFont(Theme::current().smallFont());
        arrangeColumns();
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

void TimelineDetails::arrangeColumns() {
    const int digit = QFontMetrics(Theme::current().smallMonoFont()).averageCharWidth();
    for (int c = 0; c < OpSummaryModel::kColumns; ++c) {
        m_table->setColumnWidth(
            c, digit * (c == OpSummaryModel::Name                                      ? 26
                        : c == OpSummaryModel::Flops || c == OpSummaryModel::Bandwidth ? 14
                                                                                       : 11));
        m_table->setColumnHidden(c, !m_model->shows(c));
    }
}

void TimelineDetails::showTable(const QString& heading, OpSummaryModel::Rows rows,
                                OpSummaryModel::Medians medians, bool gpu) {
    m_heading->setText(heading.toHtmlEscaped());
    const bool other = gpu != m_model->isGpu();
    m_model->setRows(std::move(rows), std::move(medians), gpu);
    arrangeColumns();
    const int by = m_table->horizontalHeader()->sortIndicatorSection();
    if (other && (by == OpSummaryModel::Self || by == OpSummaryModel::Total))
        m_table->sortByColumn(gpu ? OpSummaryModel::Total : OpSummaryModel::Self,
                              m_table->horizontalHeader()->sortIndicatorOrder());
    m_stack->setCurrentWidget(m_table);
}

void TimelineDetails::showBusy(const QString& heading) {
    m_heading->setText(heading.toHtmlEscaped());
}

}  // namespace tapescope::viewers
