// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/tensors/tensor_view.h"

#include "viewers/common/empty_state.h"
#include "viewers/common/icons.h"
#include "viewers/common/theme.h"
#include "viewers/models/format.h"
#include "viewers/tensors/slice_bar.h"
#include "viewers/tensors/slice_planes.h"
#include "viewers/tensors/tensor_client.h"
#include "viewers/tensors/tensor_delegate.h"
#include "viewers/tensors/tensor_export.h"
#include "viewers/tensors/tensor_header.h"
#include "viewers/tensors/tensor_histogram.h"
#include "viewers/tensors/tensor_image.h"
#include "viewers/tensors/tensor_model.h"

#include <QComboBox>
#include <QFileDialog>
#include <QFontInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QMessageBox>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>

#include <algorithm>
#include <cmath>
#include <optional>

namespace tapescope::viewers {

namespace {

constexpr int kBins = 64;

bool isInteger(const QString& dtype) {
    return dtype.startsWith(u'i') || dtype.startsWith(u'u') || dtype == QLatin1String("bool");
}

}  // namespace

struct TensorView::Impl {
    explicit Impl(TensorView* view) : q(view), model(client) {}

    TensorView* q;
    TensorClient client;
    TensorModel model;
    TensorRef ref;
    std::optional<TensorStats> stats;
    SliceSpec slice;
    quint64 statsId = 0;
    quint64 planesId = 0;
    bool stale = false;
    bool imageFresh = false;  ///< shows the slice as it is
    int tileAxis = -1;

    QStackedWidget* pages = nullptr;
    EmptyState* empty = nullptr;
    TensorHeader* header = nullptr;
    SliceBar* bar = nullptr;
    QTabWidget* tabs = nullptr;
    QTableView* table = nullptr;
    QLabel* clipped = nullptr;
    TensorDelegate* delegate = nullptr;
    TensorHistogram* histogram = nullptr;
    QComboBox* tileChooser = nullptr;
    TensorImage* image = nullptr;

    void build();
    QWidget* buildValues();
    QWidget* buildImage();
    void buildExportButton();
    void applyTheme();
    void fetchStats(bool keepSlice);
    void statsArrived(const TensorStats& answer, bool keepSlice);
    void sliceChanged();
    void showTable();
    void offerTileAxes();
    void fetchImage();
    void imageArrived(const SlicePlanes& planes, const TensorSlice& answer);
    void setStaleMarks();
    QString imageNote(const SlicePlanes& planes) const;
};

QWidget* TensorView::Impl::buildValues() {
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    clipped = new QLabel(page);
    clipped->setMargin(Theme::kGrid);
    clipped->setWordWrap(true);
    column->addWidget(clipped);
    table = new QTableView(page);
    table->setObjectName(QStringLiteral("tensorTable"));
    table->setAccessibleName(tr("Values"));
    table->setModel(&model);
    delegate = new TensorDelegate(table);
    table->setItemDelegate(delegate);
    table->setShowGrid(false);
    table->setWordWrap(false);
    table->setCornerButtonEnabled(false);
    table->horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    table->horizontalHeader()->setHighlightSections(false);
    table->verticalHeader()->setHighlightSections(false);
    table->verticalHeader()->setDefaultAlignment(Qt::AlignRight | Qt::AlignVCenter);
    table->installEventFilter(q);
    column->addWidget(table, 1);
    connect(&model, &TensorModel::failed, q,
            [this](const QString& message) { header->setError(message); });
    return page;
}

QWidget* TensorView::Impl::buildImage() {
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* row = new QHBoxLayout;
    row->setContentsMargins(Theme::kGrid, Theme::kGrid, Theme::kGrid, 0);
    tileChooser = new QComboBox(page);
    tileChooser->setObjectName(QStringLiteral("tileAxis"));
    tileChooser->setAccessibleName(tr("Grid of pictures"));
    tileChooser->setToolTip(tr("Show a picture for each index of this axis"));
    row->addWidget(tileChooser);
    row->addStretch(1);
    column->addLayout(row);
    image = new TensorImage(page);
    image->setObjectName(QStringLiteral("tensorImage"));
    column->addWidget(image, 1);
    connect(tileChooser, &QComboBox::activated, q, [this](int i) {
        tileAxis = tileChooser->itemData(i).toInt();
        imageFresh = false;
        fetchImage();
    });
    return page;
}

void TensorView::Impl::buildExportButton() {
    auto* save = new QToolButton(tabs);
    save->setObjectName(QStringLiteral("tensorExport"));
    save->setAutoRaise(true);
    save->setPopupMode(QToolButton::InstantPopup);
    save->setToolTip(tr("Save values or picture"));
    save->setAccessibleName(save->toolTip());
    setThemedIcon(save, QStringLiteral("export"));
    auto* menu = new QMenu(save);
    connect(menu->addAction(tr("Save the slice as CSV…")), &QAction::triggered, q, [this] {
        const QString path = QFileDialog::getSaveFileName(
            q, tr("Save the slice"), ref.name + QStringLiteral(".csv"), tr("CSV files (*.csv)"));
        if (!path.isEmpty()) q->exportCsv(path);
    });
    connect(menu->addAction(tr("Save the picture as PNG…")), &QAction::triggered, q, [this] {
        const QString path = QFileDialog::getSaveFileName(q, tr("Save the picture"),
                                                          ref.name + QStringLiteral(".png"),
                                                          tr("PNG pictures (*.png)"));
        QString error;
        if (!path.isEmpty() && !q->exportPng(path, &error))
            QMessageBox::warning(q, tr("Save the picture"), error);
    });
    connect(q, &TensorView::exportFinished, q, [this](const QString&, const QString& error) {
        if (!error.isEmpty()) header->setError(error);
    });
    save->setMenu(menu);
    tabs->setCornerWidget(save);
}

void TensorView::Impl::build() {
    auto* outer = new QVBoxLayout(q);
    outer->setContentsMargins(0, 0, 0, 0);
    pages = new QStackedWidget(q);
    outer->addWidget(pages);
    empty = new EmptyState(QStringLiteral("histogram"), tr("No tensor chosen"), {}, pages);
    empty->setObjectName(QStringLiteral("tensorEmpty"));
    pages->addWidget(empty);
    auto* page = new QWidget(pages);
    pages->addWidget(page);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    header = new TensorHeader(page);
    header->setObjectName(QStringLiteral("tensorHeader"));
    column->addWidget(header);
    bar = new SliceBar(page);
    bar->setObjectName(QStringLiteral("sliceBar"));
    column->addWidget(bar);
    tabs = new QTabWidget(page);
    tabs->setObjectName(QStringLiteral("tensorTabs"));
    tabs->setDocumentMode(true);
    histogram = new TensorHistogram;
    histogram->setObjectName(QStringLiteral("tensorHistogram"));
    tabs->addTab(buildValues(), tr("Values"));
    tabs->addTab(histogram, tr("Histogram"));
    tabs->addTab(buildImage(), tr("Image"));
    column->addWidget(tabs, 1);
    buildExportButton();
    connect(bar, &SliceBar::changed, q, [this] {
        slice = bar->slice();
        sliceChanged();
        emit q->viewChanged();
    });
    connect(tabs, &QTabWidget::currentChanged, q, [this] {
        fetchImage();
        emit q->viewChanged();
    });
    connect(&Theme::current(), &Theme::changed, q, [this] { applyTheme(); });
    applyTheme();
}

void TensorView::Impl::applyTheme() {
    const Theme& theme = Theme::current();
    QPalette muted = theme.palette();
    muted.setColor(QPalette::WindowText, theme.color(Theme::Muted));
    clipped->setPalette(muted);
    const QFontMetrics metrics(theme.smallMonoFont());
    table->setFont(theme.smallMonoFont());
    table->horizontalHeader()->setFont(theme.smallMonoFont());
    table->verticalHeader()->setFont(theme.smallMonoFont());
    // A header drawn by the application's style sheet takes its font from there only.
    table->setStyleSheet(QStringLiteral("QHeaderView::section{font-family:'%1';font-size:%2px}"
                                        "QHeaderView::section:vertical{padding:5px 6px 0 6px}")
                             .arg(theme.smallMonoFont().family())
                             .arg(QFontInfo(theme.smallMonoFont()).pixelSize()));
    table->horizontalHeader()->setDefaultSectionSize(
        metrics.horizontalAdvance(QStringLiteral("−0.000e-00")) + 14);
    table->verticalHeader()->setDefaultSectionSize(metrics.height() + 4);
    table->viewport()->update();
}

void TensorView::Impl::fetchStats(bool keepSlice) {
    client.cancelAll();
    stale = false;
    if (!client.hasProvider()) {
        header->setError(tr("Nothing can be asked for values: no run is stopped."));
        return;
    }
    statsId = client.stats(
        ref, kBins,
        [this, keepSlice](const TensorStats& answer) { statsArrived(answer, keepSlice); },
        [this](const QString& message) {
            stats.reset();
            model.clear();
            histogram->setStats(std::nullopt);
            image->clear(message);
            header->setStats(std::nullopt);
            header->setError(message);
        });
}

void TensorView::Impl::statsArrived(const TensorStats& answer, bool keepSlice) {
    const bool sameShape = stats && stats->shape == answer.shape;
    stats = answer;
    header->setStats(answer);
    histogram->setStats(answer);
    if (!sameShape || !keepSlice || slice.shape() != answer.shape) {
        slice = SliceSpec(answer.shape);
        bar->setSlice(slice);
        bar->setVisible(slice.rank() > 0);
    }
    setStaleMarks();
    sliceChanged();
}

void TensorView::Impl::sliceChanged() {
    if (!stats) return;
    showTable();
    offerTileAxes();
    imageFresh = false;
    fetchImage();
}

void TensorView::Impl::showTable() {
    ValueColours colours{0, 0};
    if (std::isfinite(stats->min) && std::isfinite(stats->max)) colours = {stats->min, stats->max};
    delegate->setColours(colours);
    model.setTensor(ref, slice, isInteger(stats->dtype));
    if (stale) model.setFrozen(true);
    clipped->setVisible(model.clipped());
    clipped->setText(
        tr("Showing the first %1 × %2 of %3 × %4. Narrow the slice to see the rest.")
            .arg(format::exactCount(model.rowCount()), format::exactCount(model.columnCount()),
                 format::exactCount(slice.rows()), format::exactCount(slice.columns())));
    const QString lastRow =
        model.headerData(std::max(0, model.rowCount() - 1), Qt::Vertical, Qt::DisplayRole)
            .toString();
    table->verticalHeader()->setFixedWidth(QFontMetrics(table->font()).horizontalAdvance(lastRow) +
                                           18);
}

void TensorView::Impl::offerTileAxes() {
    tileAxis = SlicePlanes::defaultTileAxis(slice);
    tileChooser->clear();
    tileChooser->addItem(tr("This slice only"), -1);
    for (int i = 0; i < slice.rank(); ++i) {
        if (slice.axis(i).range || slice.columnAxis() < 0) continue;
        tileChooser->addItem(
            tr("Grid over axis %1 (%2)").arg(i).arg(slice.shape()[static_cast<std::size_t>(i)]), i);
    }
    tileChooser->setCurrentIndex(tileChooser->findData(tileAxis));
    tileChooser->setVisible(tileChooser->count() > 1);
}

QString TensorView::Impl::imageNote(const SlicePlanes& planes) const {
    QStringList notes;
    if (planes.planes() < planes.planesOfAxis()) {
        notes << tr("the first %1 of %2 pictures").arg(planes.planes()).arg(planes.planesOfAxis());
    }
    if (planes.stride() > 1) {
        notes << tr("one row and column in %1 of %2 × %3")
                     .arg(planes.stride())
                     .arg(format::exactCount(slice.rows()), format::exactCount(slice.columns()));
    }
    return notes.isEmpty() ? QString() : tr("Showing %1.").arg(notes.join(QStringLiteral(", ")));
}

/// Only while the picture is in front: a plane is up to a million values.
void TensorView::Impl::fetchImage() {
    if (q->tab() != Tab::Image || imageFresh || !stats || stale) return;
    client.cancel(planesId);
    imageFresh = true;
    const SlicePlanes planes(slice, tileAxis);
    if (planes.elements() == 0) {
        image->clear(tr("The slice has no elements."));
        return;
    }
    if (image->tiles().empty()) image->clear(tr("Asking for values…"));
    planesId = client.slice(
        ref, planes.requestText(), planes.elements(),
        [this, planes](const TensorSlice& answer) { imageArrived(planes, answer); },
        [this](const QString& message) { image->clear(message); });
}

void TensorView::Impl::imageArrived(const SlicePlanes& planes, const TensorSlice& answer) {
    std::vector<double> values = planes.arrange(answer);
    if (values.empty()) {
        image->clear(tr("The debug adapter sent %1 values where %2 were asked for.")
                         .arg(answer.values.size())
                         .arg(planes.elements()));
        return;
    }
    const QString axisName = tileAxis >= 0 ? tr("axis %1").arg(tileAxis) : QString();
    image->setTiles(
        TensorTiles(std::move(values), planes.planes(), planes.rows(), planes.columns()),
        [planes](int plane, int row, int column) { return planes.cellText(plane, row, column); },
        axisName, imageNote(planes));
}

void TensorView::Impl::setStaleMarks() {
    header->setStale(stale);
    histogram->setStale(stale);
    image->setStale(stale);
    delegate->setStale(stale);
    model.setFrozen(stale);
    table->viewport()->update();
}

TensorView::TensorView(QWidget* parent) : QWidget(parent), m_impl(std::make_unique<Impl>(this)) {
    m_impl->build();
    clear();
}

TensorView::~TensorView() = default;

void TensorView::setProvider(TensorProvider* provider) { m_impl->client.setProvider(provider); }

void TensorView::showTensor(const TensorRef& tensor) {
    m_impl->ref = tensor;
    m_impl->pages->setCurrentIndex(1);
    m_impl->header->setTensor(tensor.name);
    m_impl->header->setStats(std::nullopt);
    m_impl->header->setStale(false);
    m_impl->fetchStats(true);
}

TensorRef TensorView::tensor() const { return m_impl->ref; }

void TensorView::refresh() {
    if (!m_impl->ref.reference.isEmpty()) m_impl->fetchStats(true);
}

void TensorView::setStale(bool stale) {
    if (m_impl->stale == stale) return;
    m_impl->stale = stale;
    if (stale) m_impl->client.cancelAll();
    m_impl->setStaleMarks();
}

void TensorView::clear(const QString& text) {
    m_impl->client.cancelAll();
    m_impl->ref = {};
    m_impl->stats.reset();
    m_impl->model.clear();
    m_impl->image->clear({});
    m_impl->histogram->setStats(std::nullopt);
    m_impl->empty->setTexts(
        tr("No tensor chosen"),
        text.isEmpty() ? tr("Stop at a breakpoint and choose one of the frame's tensors.") : text);
    m_impl->pages->setCurrentIndex(0);
}

void TensorView::setTab(Tab tab) { m_impl->tabs->setCurrentIndex(static_cast<int>(tab)); }

TensorView::Tab TensorView::tab() const { return static_cast<Tab>(m_impl->tabs->currentIndex()); }

QString TensorView::sliceText() const { return m_impl->slice.text(); }

bool TensorView::setSliceText(const QString& text) {
    if (!m_impl->stats || !m_impl->bar->applyText(text)) return false;
    m_impl->slice = m_impl->bar->slice();
    m_impl->sliceChanged();
    return true;
}

void TensorView::exportCsv(const QString& path) {
    Impl& d = *m_impl;
    if (!d.stats || d.stale || !d.client.hasProvider()) {
        emit exportFinished(
            path, tr("There are no values to save: the run is not stopped at this tensor."));
        return;
    }
    const qint64 elements = d.slice.rows() * d.slice.columns();
    if (elements > kMaxCsvElements) {
        emit exportFinished(
            path, tr("The slice has %1 values; at most %2 are saved as CSV. Narrow the slice.")
                      .arg(format::exactCount(elements), format::exactCount(kMaxCsvElements)));
        return;
    }
    d.client.slice(
        d.ref, d.slice.text(), elements,
        [this, path, slice = d.slice](const TensorSlice& answer) {
            emit exportFinished(path, writeCsv(path, slice, answer));
        },
        [this, path](const QString& message) { emit exportFinished(path, message); });
}

bool TensorView::exportPng(const QString& path, QString* error) const {
    const Impl& d = *m_impl;
    QImage picture;
    switch (tab()) {
        case Tab::Values:
            picture = d.table->grab().toImage();
            break;
        case Tab::Histogram:
            picture = d.histogram->grab().toImage();
            break;
        case Tab::Image:
            picture = d.image->picture();
            break;
    }
    return writePng(path, picture, error);
}

bool TensorView::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_impl->table && event->type() == QEvent::KeyPress &&
        static_cast<QKeyEvent*>(event)->matches(QKeySequence::Copy)) {
        copySelection(*m_impl->table);
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace tapescope::viewers
