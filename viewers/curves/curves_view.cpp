// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/curves/curves_view.h"

#include "viewers/common/empty_state.h"
#include "viewers/common/icons.h"
#include "viewers/common/picture.h"
#include "viewers/common/theme.h"
#include "viewers/curves/chart_grid.h"
#include "viewers/curves/chart_panel.h"
#include "viewers/curves/curves_view_impl.h"
#include "viewers/curves/histogram_chart.h"
#include "viewers/curves/scalar_chart.h"

#include <QComboBox>
#include <QDataStream>
#include <QEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QSaveFile>
#include <QScrollArea>
#include <QSlider>
#include <QStackedLayout>
#include <QTextStream>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

namespace tapescope::viewers {
namespace {

constexpr int kStateVersion = 1;

/// Tells the grid how much room the scroll area gives it.
class ViewportWatcher final : public QObject {
public:
    ViewportWatcher(QScrollArea* area, ChartGrid* grid) : QObject(area), m_grid(grid) {
        area->viewport()->installEventFilter(this);
    }
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() == QEvent::Resize)
            m_grid->setViewport(static_cast<QWidget*>(watched)->size());
        return false;
    }

private:
    ChartGrid* m_grid;
};

QToolButton* toggle(QWidget* parent, const QString& iconName, const QString& toolTip) {
    auto* button = new QToolButton(parent);
    button->setCheckable(true);
    button->setAutoRaise(true);
    button->setToolTip(toolTip);
    button->setAccessibleName(toolTip);
    button->setFocusPolicy(Qt::StrongFocus);
    setThemedIcon(button, iconName);
    return button;
}

}  // namespace

CurvesView::Impl::Impl(CurvesView* view, Selection* shared) : q(view), selection(shared) {
    rebuildTimer.setSingleShot(true);
    rebuildTimer.setInterval(16);
    connect(&rebuildTimer, &QTimer::timeout, q, [this] { rebuild(); });

    auto* layout = new QVBoxLayout(q);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    toolBar = new QWidget(q);
    layout->addWidget(toolBar);
    auto* content = new QWidget(q);
    layout->addWidget(content, 1);
    stack = new QStackedLayout(content);
    empty = new EmptyState(QStringLiteral("curves"), {}, {}, content);
    scroll = new QScrollArea(content);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setFocusPolicy(Qt::NoFocus);
    grid = new ChartGrid;
    scroll->setWidget(grid);
    new ViewportWatcher(scroll, grid);
    stack->addWidget(empty);
    stack->addWidget(scroll);
    buildToolBar();
    updateEmptyState();

    connect(&Theme::current(), &Theme::changed, q, [this] { scheduleRebuild(); });
    if (selection != nullptr) {
        connect(selection, &Selection::stepChanged, q, [this] {
            for (ChartPanel* chart : panels()) chart->setSelectedStep(selection->step());
        });
        connect(selection, &Selection::runChanged, q, [this] { scheduleRebuild(); });
    }
}

void CurvesView::Impl::buildToolBar() {
    auto* row = new QHBoxLayout(toolBar);
    row->setContentsMargins(8, 4, 8, 4);
    row->setSpacing(8);
    filter = new QLineEdit(toolBar);
    filter->setObjectName(QStringLiteral("filter"));
    filter->setPlaceholderText(CurvesView::tr("Filter tags"));
    filter->setToolTip(
        CurvesView::tr("Shows only charts whose title or tag matches; regular expressions work"));
    filter->setClearButtonEnabled(true);
    filter->setMaximumWidth(220);
    connect(filter, &QLineEdit::textChanged, q, [this] { scheduleRebuild(); });
    row->addWidget(filter, 1);
    row->addStretch(1);

    auto* label = new QLabel(CurvesView::tr("S&moothing"), toolBar);
    smoothingSlider = new QSlider(Qt::Horizontal, toolBar);
    smoothingSlider->setObjectName(QStringLiteral("smoothing"));
    smoothingSlider->setRange(0, 999);
    smoothingSlider->setPageStep(50);
    smoothingSlider->setSingleStep(10);
    smoothingSlider->setFixedWidth(120);
    smoothingSlider->setToolTip(
        CurvesView::tr("Weight w of the moving average s = w·s + (1−w)·y, debiased; computed on "
                       "all points, for curves of 50 points and more"));
    label->setBuddy(smoothingSlider);
    smoothingValue = new QLabel(toolBar);
    smoothingValue->setFont(Theme::current().monoFont());
    smoothingValue->setMinimumWidth(40);
    connect(smoothingSlider, &QSlider::valueChanged, q,
            [this](int value) { q->setSmoothing(value / 1000.0); });
    row->addWidget(label);
    row->addWidget(smoothingSlider);
    row->addWidget(smoothingValue);

    axisBox = new QComboBox(toolBar);
    axisBox->setObjectName(QStringLiteral("axis"));
    axisBox->addItems(
        {CurvesView::tr("Step"), CurvesView::tr("Relative time"), CurvesView::tr("Wall time")});
    axisBox->setToolTip(CurvesView::tr("What the x axis counts"));
    connect(axisBox, &QComboBox::currentIndexChanged, q,
            [this](int i) { q->setXAxis(static_cast<XAxis>(i)); });
    row->addWidget(axisBox);
    logButton = toggle(toolBar, QStringLiteral("log-scale"), CurvesView::tr("Logarithmic y axes"));
    logButton->setObjectName(QStringLiteral("logY"));
    connect(logButton, &QToolButton::toggled, q, &CurvesView::setLogY);
    row->addWidget(logButton);
    histogramButton =
        toggle(toolBar, QStringLiteral("histogram"), CurvesView::tr("Show histograms"));
    histogramButton->setObjectName(QStringLiteral("histograms"));
    histogramButton->setChecked(histograms);
    connect(histogramButton, &QToolButton::toggled, q, [this](bool on) {
        histograms = on;
        scheduleRebuild();
    });
    row->addWidget(histogramButton);
    auto* fit = new QToolButton(toolBar);
    fit->setAutoRaise(true);
    fit->setToolTip(CurvesView::tr("Show all steps"));
    setThemedIcon(fit, QStringLiteral("fit"));
    connect(fit, &QToolButton::clicked, q, [this] {
        userX.reset();
        applyXRange();
    });
    row->addWidget(fit);
    auto* save = new QToolButton(toolBar);
    save->setAutoRaise(true);
    save->setToolTip(CurvesView::tr("Export"));
    save->setPopupMode(QToolButton::InstantPopup);
    setThemedIcon(save, QStringLiteral("export"));
    auto* menu = new QMenu(save);
    connect(menu, &QMenu::aboutToShow, q, [this, menu] {
        menu->clear();
        extendMenu(menu, nullptr, -1);
    });
    save->setMenu(menu);
    row->addWidget(save);
}

CurvesView::CurvesView(Selection* selection, QWidget* parent)
    : QWidget(parent), m_impl(std::make_unique<Impl>(this, selection)) {
    setObjectName(QStringLiteral("curvesView"));
    setSmoothing(m_impl->smoothing);
}

CurvesView::~CurvesView() = default;

CurvesView::Impl::Run* CurvesView::Impl::find(const TapeSession* session) {
    const auto found = std::find_if(runs.begin(), runs.end(),
                                    [session](const Run& r) { return r.session == session; });
    return found == runs.end() ? nullptr : &*found;
}

std::vector<const CurvesView::Impl::Run*> CurvesView::Impl::visibleRuns() const {
    std::vector<const Run*> shown;
    for (const Run& run : runs)
        if (run.visible) shown.push_back(&run);
    return shown;
}

QString CurvesView::Impl::runName(const Run& run) const {
    if (!run.name.isEmpty()) return run.name;
    const QString name = run.session->displayName();
    const bool twice = std::any_of(runs.begin(), runs.end(), [&](const Run& other) {
        return &other != &run && other.session->displayName() == name;
    });
    return twice ? QStringLiteral("%1 (%2)").arg(name,
                                                 QFileInfo(run.session->path()).completeBaseName())
                 : name;
}

void CurvesView::Impl::watch(TapeSession* session) {
    connect(session, &TapeSession::changed, q, [this](TapeSession::Parts parts) {
        if ((parts & (TapeSession::Scalars | TapeSession::Histograms | TapeSession::Run |
                      TapeSession::State)) != 0)
            scheduleRebuild();
    });
    connect(session, &TapeSession::closing, q, [this, session] {
        std::erase_if(runs, [session](const Run& r) { return r.session == session; });
        scheduleRebuild();
    });
}

void CurvesView::addRun(TapeSession* session, const QString& name) {
    if (m_impl->find(session) != nullptr) return;
    int color = 0;
    while (std::any_of(m_impl->runs.begin(), m_impl->runs.end(),
                       [color](const Impl::Run& r) { return r.color == color; }))
        ++color;
    m_impl->runs.push_back({session, name, color, true});
    m_impl->watch(session);
    m_impl->scheduleRebuild();
}

void CurvesView::removeRun(TapeSession* session) {
    disconnect(session, nullptr, this, nullptr);
    std::erase_if(m_impl->runs, [session](const Impl::Run& r) { return r.session == session; });
    m_impl->scheduleRebuild();
}

void CurvesView::setRunVisible(TapeSession* session, bool visible) {
    Impl::Run* run = m_impl->find(session);
    if (run == nullptr || run->visible == visible) return;
    run->visible = visible;
    m_impl->scheduleRebuild();
}

void CurvesView::setRunName(TapeSession* session, const QString& name) {
    if (Impl::Run* run = m_impl->find(session)) run->name = name;
    m_impl->scheduleRebuild();
}

QList<TapeSession*> CurvesView::runs() const {
    QList<TapeSession*> sessions;
    for (const Impl::Run& run : m_impl->runs) sessions << run.session;
    return sessions;
}

QColor CurvesView::runColor(const TapeSession* session) const {
    const Impl::Run* run = m_impl->find(session);
    return run != nullptr ? Theme::current().series(run->color)
                          : Theme::current().color(Theme::Muted);
}

void CurvesView::setSmoothing(double weight) {
    weight = std::clamp(weight, 0.0, 0.999);
    m_impl->smoothing = weight;
    m_impl->smoothingSlider->setValue(static_cast<int>(std::lround(weight * 1000)));
    m_impl->smoothingValue->setText(QString::number(weight, 'f', 3));
    for (ScalarChart* chart : m_impl->scalarCharts) chart->setSmoothing(weight);
}

double CurvesView::smoothing() const { return m_impl->smoothing; }

void CurvesView::setXAxis(XAxis axis) {
    if (m_impl->axis == axis) return;
    m_impl->axis = axis;
    m_impl->axisBox->setCurrentIndex(static_cast<int>(axis));
    m_impl->userX.reset();
    for (ChartPanel* chart : m_impl->panels()) chart->setAxis(axis);
    m_impl->applyXRange();
}

XAxis CurvesView::xAxis() const { return m_impl->axis; }

void CurvesView::setLogY(bool on) {
    m_impl->logY = on;
    m_impl->logButton->setChecked(on);
    for (ScalarChart* chart : m_impl->scalarCharts) chart->setLogY(on);
}

QStringList CurvesView::chartTitles() const {
    QStringList titles;
    for (const ChartPanel* chart : m_impl->panels()) titles << chart->title();
    return titles;
}

void CurvesView::setChartOf(const QString& tag, const QString& chart) {
    m_impl->chosenCharts[tag] = chart;
    m_impl->scheduleRebuild();
}

QByteArray CurvesView::saveState() const {
    QByteArray bytes;
    QDataStream out(&bytes, QIODevice::WriteOnly);
    out << kStateVersion << m_impl->smoothing << static_cast<int>(m_impl->axis) << m_impl->logY
        << m_impl->histograms << m_impl->chosenCharts;
    return bytes;
}

bool CurvesView::restoreState(const QByteArray& state) {
    QDataStream in(state);
    int version = 0, axis = 0;
    double smoothing = 0;
    bool logY = false, histograms = true;
    QHash<QString, QString> chosen;
    in >> version;
    if (version != kStateVersion) return false;
    in >> smoothing >> axis >> logY >> histograms >> chosen;
    if (in.status() != QDataStream::Ok || axis < 0 || axis > static_cast<int>(XAxis::Wall) ||
        !std::isfinite(smoothing))
        return false;
    setSmoothing(smoothing);
    setXAxis(static_cast<XAxis>(axis));
    setLogY(logY);
    m_impl->histogramButton->setChecked(histograms);
    m_impl->chosenCharts = chosen;
    m_impl->scheduleRebuild();
    return true;
}

QString CurvesView::Impl::title() const {
    QStringList names;
    for (const Run* run : visibleRuns()) names << runName(*run);
    return names.join(QStringLiteral(", "));
}

namespace {

void paintCharts(const QList<ChartPanel*>& panels, QWidget* grid, QPainter& painter) {
    painter.fillRect(QRect(QPoint(), grid->size()), Theme::current().color(Theme::Panel));
    for (ChartPanel* chart : panels)
        if (!chart->isHidden()) chart->paintVector(painter, chart->geometry());
}

}  // namespace

bool CurvesView::exportPng(const QString& path) const {
    m_impl->rebuild();
    return savePng(path, m_impl->grid->size(),
                   [this](QPainter& p) { paintCharts(m_impl->panels(), m_impl->grid, p); });
}

bool CurvesView::exportSvg(const QString& path) const {
    m_impl->rebuild();
    return saveSvg(path, m_impl->grid->size(), m_impl->title(),
                   [this](QPainter& p) { paintCharts(m_impl->panels(), m_impl->grid, p); });
}

bool CurvesView::exportCsv(const QString& path) const {
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly)) return false;
    QTextStream out(&file);
    out << "run,tag,step,wall,value\n";
    for (const Impl::Run* run : m_impl->visibleRuns()) {
        const QString name = csvField(m_impl->runName(*run));
        for (const auto& [tag, series] : run->session->snapshot().scalars) {
            const QString prefix = name + u',' + csvField(QString::fromStdString(tag)) + u',';
            for (std::size_t i = 0; series && i < series->size(); ++i) {
                const storage::ScalarPoint point = series->point(i);
                out << prefix << point.step << ',' << QString::number(point.wall, 'f', 6) << ','
                    << QString::number(point.value, 'g', QLocale::FloatingPointShortest) << '\n';
            }
        }
    }
    out.flush();
    return out.status() == QTextStream::Ok && file.commit();
}

bool CurvesView::renderTo(QImage& image) {
    return renderWidget(*this, image, [this] {
        m_impl->rebuild();
        for (ChartPanel* chart : m_impl->panels()) chart->replotNow();
    });
}

}  // namespace tapescope::viewers
