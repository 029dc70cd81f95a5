// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/tensors/slice_bar.h"

#include "viewers/common/theme.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSpinBox>

#include <algorithm>
#include <limits>

namespace tapescope::viewers {

SliceBar::SliceBar(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(Theme::kGrid, 0, Theme::kGrid, Theme::kGrid);
    column->setSpacing(2);
    auto* row = new QHBoxLayout;
    row->setSpacing(Theme::kGrid);
    column->addLayout(row);
    m_text = new QLineEdit(this);
    m_text->setObjectName(QStringLiteral("sliceText"));
    m_text->setAccessibleName(tr("Slice"));
    m_text->setToolTip(
        tr("The slice shown, as NumPy writes it: an index or a range for each axis,\nfor example "
           "0, 3, :, 2:10 or ..., ::2"));
    m_text->setMinimumWidth(90);
    m_text->setMaximumWidth(240);
    row->addWidget(m_text, 1);
    m_controls = new QHBoxLayout;
    m_controls->setSpacing(Theme::kGrid);
    row->addLayout(m_controls);
    row->addStretch(1);
    m_error = new QLabel(this);
    m_error->setObjectName(QStringLiteral("sliceError"));
    m_error->setWordWrap(true);
    m_error->hide();
    column->addWidget(m_error);
    connect(m_text, &QLineEdit::returnPressed, this, [this] {
        if (applyText(m_text->text())) emit changed();
    });
    connect(m_text, &QLineEdit::editingFinished, this, [this] {
        if (m_error->isHidden()) showText();
    });
}

void SliceBar::setSlice(const SliceSpec& slice) {
    m_slice = slice;
    rebuild();
    m_error->hide();
    showText();
}

void SliceBar::showText() {
    const QSignalBlocker block(m_text);
    m_text->setText(m_slice.text());
    m_text->setEnabled(m_slice.rank() > 0);
}

bool SliceBar::applyText(const QString& text) {
    QString error;
    const std::optional<SliceSpec> parsed = SliceSpec::parse(text, m_slice.shape(), &error);
    m_error->setVisible(!parsed);
    if (!parsed) {
        m_error->setText(error);
        QPalette p = palette();
        p.setColor(QPalette::WindowText, Theme::current().color(Theme::Bad));
        m_error->setPalette(p);
        return false;
    }
    m_slice = *parsed;
    rebuild();
    showText();
    return true;
}

void SliceBar::rebuild() {
    while (QLayoutItem* item = m_controls->takeAt(0)) {
        if (item->widget() != nullptr) {
            item->widget()->hide();
            item->widget()->deleteLater();  // it may be the sender
        }
        delete item;
    }
    if (m_slice.rank() < 2) return;
    const auto chooser = [this](bool rows) {
        auto* box = new QComboBox(this);
        box->setObjectName(rows ? QStringLiteral("rowAxis") : QStringLiteral("columnAxis"));
        box->setAccessibleName(rows ? tr("Axis along the rows") : tr("Axis along the columns"));
        box->setToolTip(box->accessibleName());
        if (!rows) box->addItem(tr("↔ none"), -1);
        for (int i = 0; i < m_slice.rank(); ++i) {
            box->addItem((rows ? tr("↕ axis %1") : tr("↔ axis %1")).arg(i), i);
            box->setItemData(box->count() - 1,
                             tr("%1 elements").arg(m_slice.shape()[static_cast<std::size_t>(i)]),
                             Qt::ToolTipRole);
        }
        box->setCurrentIndex(box->findData(rows ? m_slice.rowAxis() : m_slice.columnAxis()));
        connect(box, &QComboBox::activated, this,
                [this, box, rows](int i) { axisChosen(rows, box->itemData(i).toInt()); });
        m_controls->addWidget(box);
    };
    chooser(true);
    chooser(false);
    for (int i = 0; i < m_slice.rank(); ++i) {
        if (i == m_slice.rowAxis() || i == m_slice.columnAxis()) continue;
        auto* spin = new QSpinBox(this);
        spin->setObjectName(QStringLiteral("index%1").arg(i));
        spin->setAccessibleName(tr("Index on axis %1").arg(i));
        const qint64 last = std::max<qint64>(0, m_slice.shape()[static_cast<std::size_t>(i)] - 1);
        spin->setRange(0,
                       static_cast<int>(std::min<qint64>(last, std::numeric_limits<int>::max())));
        spin->setToolTip(tr("Index on axis %1, 0 to %2").arg(i).arg(last));
        spin->setPrefix(QStringLiteral("%1: ").arg(i));
        spin->setKeyboardTracking(false);
        spin->setValue(static_cast<int>(m_slice.axis(i).start));
        connect(spin, &QSpinBox::valueChanged, this, [this, i](int value) {
            m_slice.setIndex(i, value);
            m_error->hide();
            showText();
            emit changed();
        });
        m_controls->addWidget(spin);
    }
}

void SliceBar::axisChosen(bool rows, int axis) {
    int row = rows ? axis : m_slice.rowAxis();
    int column = rows ? m_slice.columnAxis() : axis;
    // Choosing the other's axis swaps them.
    if (row == column && row >= 0)
        (rows ? column : row) = rows ? m_slice.rowAxis() : m_slice.columnAxis();
    if (row < 0) row = column == 0 ? 1 : 0;
    m_slice.setShownAxes(row, column);
    rebuild();
    m_error->hide();
    showText();
    emit changed();
}

}  // namespace tapescope::viewers
