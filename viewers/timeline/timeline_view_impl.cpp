// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/timeline/timeline_view_impl.h"

#include "viewers/common/empty_state.h"
#include "viewers/common/icons.h"
#include "viewers/common/picture.h"
#include "viewers/common/theme.h"
#include "viewers/models/format.h"
#include "viewers/models/gpu_view.h"
#include "viewers/timeline/gpu_notice_bar.h"
#include "viewers/timeline/timeline_canvas.h"
#include "viewers/timeline/timeline_details.h"
#include "viewers/timeline/timeline_overview.h"

#include <QApplication>
#include <QClipboard>
#include <QFutureWatcher>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QSplitter>
#include <QStackedLayout>
#include <QToolButton>
#include <QVBoxLayout>
#include <QtConcurrentRun>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <utility>
#include <vector>

namespace tapescope::viewers {
namespace {

/// Which colour is which phase of operators, and which family of kernels.
class PhaseLegend final : public QWidget {
public:
    explicit PhaseLegend(QWidget* parent) : QWidget(parent) {
        m_style.rebuild();
        setObjectName(QStringLiteral("legend"));
        setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
        connect(&Theme::current(), &Theme::changed, this, [this] {
            m_style.rebuild();
            updateGeometry();
            update();
        });
    }
    void setData(const TimelineData& shown) {
        const bool operators = (shown.rows.empty() && !shown.gpu) ||
                               std::any_of(shown.rows.begin(), shown.rows.end(),
                                           [](const auto& r) { return !isGpu(r.kind); });
        std::set<profiler::KernelFamily> families;
        bool copies = false, memsets = false;
        if (shown.gpu && shown.gpu->labels)
            for (const GpuLabel& label : *shown.gpu->labels) {
                if (label.kind == storage::GpuEventKind::Kernel) families.insert(label.family);
                copies = copies || label.kind == storage::GpuEventKind::Memcpy ||
                         label.kind == storage::GpuEventKind::MemcpyPeer;
                memsets = memsets || label.kind == storage::GpuEventKind::Memset;
            }
        if (operators == m_operators && families == m_families && copies == m_copies &&
            memsets == m_memsets)
            return;
        m_operators = operators;
        m_families = std::move(families);
        m_copies = copies;
        m_memsets = memsets;
        QStringList all;
        for (const auto& [text, color] : entries())
            all << QStringLiteral("<span style='color:%1'>■</span> %2")
                       .arg(color.name(), text.toHtmlEscaped());
        setToolTip(all.join(QStringLiteral("<br>")));
        updateGeometry();
        update();
    }
    QSize sizeHint() const override {
        const QFontMetrics metrics(Theme::current().smallFont());
        int width = 0;
        for (const auto& [text, color] : entries())
            width += 12 + metrics.horizontalAdvance(text) + kGap;
        // Two lines fit into the tool bar without making it higher.
        return {width, 2 * metrics.height()};
    }

    QSize minimumSizeHint() const override { return {0, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent*) override {
        const Theme& theme = Theme::current();
        QPainter p(this);
        p.setFont(theme.smallFont());
        const QFontMetrics metrics(theme.smallFont());
        const auto all = entries();
        const auto widthOf = [&metrics](const QString& text) {
            return 12 + metrics.horizontalAdvance(text);
        };
        const bool two = sizeHint().width() - kGap > width();
        const int line = two ? height() / 2 : height();
        const int more = metrics.horizontalAdvance(QStringLiteral(u"…"));
        int x = 0, y = 0;
        p.setPen(theme.color(Theme::Muted));
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto& [text, color] = all[i];
            const bool lastLine = !two || y > 0;
            // In the last line the mark for what is left needs its place, unless nothing is.
            int rest = lastLine && i + 1 < all.size() ? kGap + more : 0;
            int ahead = x;
            for (std::size_t k = i; rest > 0 && k < all.size(); ++k)
                ahead += widthOf(all[k].first) + (k + 1 < all.size() ? kGap : 0);
            if (ahead <= width()) rest = 0;
            if (x + widthOf(text) + rest > width()) {
                if (lastLine) {
                    p.drawText(QRect(x, y, more + 4, line), Qt::AlignLeft | Qt::AlignVCenter,
                               QStringLiteral(u"…"));  // the tool tip has them all
                    break;
                }
                x = 0;
                y = line;
                --i;
                continue;
            }
            p.fillRect(QRect(x, y + line / 2 - 4, 8, 8), color);
            p.drawText(QRect(x + 12, y, widthOf(text) + 4, line), Qt::AlignLeft | Qt::AlignVCenter,
                       text);
            x += widthOf(text) + kGap;
        }
    }

private:
    std::vector<std::pair<QString, QColor>> entries() const {
        std::vector<std::pair<QString, QColor>> entries;
        const Theme& theme = Theme::current();
        if (m_operators)
            for (const storage::Phase phase : kPhases)
                entries.emplace_back(phaseText(phase), theme.color(phase));
        for (const profiler::KernelFamily family : m_families) {
            const std::string_view name = profiler::kernelFamilyName(family);
            entries.emplace_back(
                QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())),
                QColor(m_style.family(family)));
        }
        if (m_copies) entries.emplace_back(TimelineView::tr("copy"), theme.color(Category::Copy));
        if (m_memsets) entries.emplace_back(TimelineView::tr("memset"), QColor(m_style.memset()));
        return entries;
    }

    TimelineStyle m_style;
    bool m_operators = true;
    bool m_copies = false;
    bool m_memsets = false;
    static constexpr int kGap = 12;  // between entries
    std::set<profiler::KernelFamily> m_families;
    static constexpr std::array kPhases{storage::Phase::Data, storage::Phase::Forward,
                                        storage::Phase::Backward, storage::Phase::Optimizer,
                                        storage::Phase::Evaluate};
};

/// Enter, Shift+Enter and Escape in the search field.
class SearchKeys final : public QObject {
public:
    SearchKeys(QLineEdit* field, std::function<void(bool)> next, std::function<void()> leave)
        : QObject(field), m_next(std::move(next)), m_leave(std::move(leave)) {
        field->installEventFilter(this);
    }
    bool eventFilter(QObject*, QEvent* event) override {
        if (event->type() != QEvent::KeyPress) return false;
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
            m_next((key->modifiers() & Qt::ShiftModifier) == 0);
            return true;
        }
        if (key->key() == Qt::Key_Escape) {
            m_leave();
            return true;
        }
        return false;
    }

private:
    std::function<void(bool)> m_next;
    std::function<void()> m_leave;
};

}  // namespace

TimelineView::Impl::Impl(TimelineView* view, Selection* shared) : q(view), selection(shared) {
    auto* layout = new QVBoxLayout(q);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(buildToolBar());
    notices = new GpuNoticeBar(q);
    layout->addWidget(notices);
    auto* content = new QWidget(q);
    layout->addWidget(content, 1);
    stack = new QStackedLayout(content);
    empty = new EmptyState(QStringLiteral("timeline"), {}, {}, content);
    splitter = new QSplitter(Qt::Vertical, content);
    splitter->setChildrenCollapsible(false);
    auto* upper = new QWidget(splitter);
    auto* upperLayout = new QVBoxLayout(upper);
    upperLayout->setContentsMargins(0, 0, 0, 0);
    upperLayout->setSpacing(0);
    overview = new TimelineOverview(upper);
    canvas = new TimelineCanvas(upper);
    upperLayout->addWidget(overview);
    upperLayout->addWidget(canvas, 1);
    details = new TimelineDetails(splitter);
    details->setMinimumHeight(90);
    splitter->addWidget(upper);
    splitter->addWidget(details);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 1);
    splitter->setSizes({500, 190});
    stack->addWidget(empty);
    stack->addWidget(splitter);

    countTimer.setSingleShot(true);
    countTimer.setInterval(120);
    connect(&countTimer, &QTimer::timeout, q, [this] { countMatches(); });
    connect(canvas, &TimelineCanvas::rangeChanged, q, [this] {
        overview->setPlotArea(canvas->plotLeft(), canvas->plotWidth());
        overview->setWindow(canvas->visibleRange());
    });
    connect(overview, &TimelineOverview::rangePicked, q,
            [this](const TimeRange& range) { canvas->setVisibleRange(range); });
    connect(canvas, &TimelineCanvas::eventPicked, q, [this](const std::optional<EventRef>& event) {
        tellSelection(event);
        updateDetails();
    });
    connect(canvas, &TimelineCanvas::areaPicked, q, [this](const TimeRange& area) {
        telling = true;
        if (selection != nullptr) selection->setTimeRange(area);
        telling = false;
        updateDetails();
    });
    connect(canvas, &TimelineCanvas::searchRequested, q, [this] {
        searchField->setFocus(Qt::ShortcutFocusReason);
        searchField->selectAll();
    });
    connect(canvas, &TimelineCanvas::nextMatchRequested, q,
            [this](bool forward) { findNext(forward); });
    connect(canvas, &TimelineCanvas::menuRequested, q,
            [this](const QPoint& pos) { showMenu(pos); });
    connect(details, &TimelineDetails::operatorActivated, q, [this](const QString& name) {
        searchField->setText(name);
        findNext(true);
        canvas->setFocus();
    });
    connect(&Theme::current(), &Theme::changed, q, [this] {
        updateDetails();
        setLost(-1, {});
    });
    connectSelection();
    updateEmptyState();
}

TimelineView::Impl::~Impl() {
    aggregation.request_stop();
    counting.request_stop();
}

QWidget* TimelineView::Impl::buildToolBar() {
    auto* bar = new QWidget(q);
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(8, 4, 8, 4);
    row->setSpacing(4);
    searchField = new QLineEdit(bar);
    searchField->setObjectName(QStringLiteral("search"));
    searchField->setPlaceholderText(TimelineView::tr("Search operators, modules, kernels  /"));
    searchField->setClearButtonEnabled(true);
    searchField->setMaximumWidth(280);
    searchField->setMinimumWidth(150);
    new SearchKeys(
        searchField, [this](bool forward) { findNext(forward); },
        [this] {
            searchField->clear();
            canvas->setFocus();
        });
    connect(searchField, &QLineEdit::textChanged, q, [this] { updateSearch(); });
    row->addWidget(searchField, 2);
    searchCount = new QLabel(bar);
    searchCount->setObjectName(QStringLiteral("searchCount"));
    searchCount->setMinimumWidth(70);
    row->addWidget(searchCount);
    const auto button = [&](const QString& iconName, const QString& tip, auto action) {
        auto* b = new QToolButton(bar);
        b->setAutoRaise(true);
        b->setToolTip(tip);
        b->setAccessibleName(tip);
        setThemedIcon(b, iconName);
        connect(b, &QToolButton::clicked, q, action);
        row->addWidget(b);
    };
    button(QStringLiteral("chevron-up"), TimelineView::tr("Previous match (Shift+Enter)"),
           [this] { findNext(false); });
    button(QStringLiteral("chevron-down"), TimelineView::tr("Next match (Enter)"),
           [this] { findNext(true); });
    row->addStretch(1);
    legend = new PhaseLegend(bar);
    row->addWidget(legend);
    row->addStretch(1);
    hold = new QToolButton(bar);
    hold->setObjectName(QStringLiteral("hold"));
    hold->setAutoRaise(true);
    hold->hide();
    connect(hold, &QToolButton::clicked, q, [this] {
        if (!session) return;
        session->holdEvents(!session->eventsHeld());
        updateProgress();
    });
    row->addWidget(hold);
    lost = new QLabel(bar);
    lost->setObjectName(QStringLiteral("lost"));
    lost->hide();
    row->addWidget(lost);
    button(QStringLiteral("zoom-in"), TimelineView::tr("Zoom in (W)"),
           [this] { canvas->zoom(0.6); });
    button(QStringLiteral("zoom-out"), TimelineView::tr("Zoom out (S)"),
           [this] { canvas->zoom(1 / 0.6); });
    button(QStringLiteral("fit-selection"), TimelineView::tr("Fit the selection (F)"),
           [this] { canvas->fitSelection(); });
    button(QStringLiteral("fit"), TimelineView::tr("Fit all (0)"), [this] { canvas->fitAll(); });
    button(QStringLiteral("mark"), TimelineView::tr("Mark and measure the selection (M)"),
           [this] { canvas->toggleMark(); });
    button(QStringLiteral("help"), TimelineView::tr("Keys (?)"), [this] {
        canvas->setHelpVisible(!canvas->helpVisible());
        canvas->setFocus();
    });
    return bar;
}

void TimelineView::Impl::setSession(TapeSession* next) {
    if (session == next) return;
    if (session) session->disconnect(q);
    session = next;
    graph = nullptr;
    canvas->clearMarks();
    canvas->forgetFolded();
    canvas->setGraph(nullptr);
    setLost(0, {});
    if (session == nullptr) {
        setData(nullptr);
        return;
    }
    session->addInterest(TapeSession::Events | TapeSession::StructurePart | TapeSession::Steps |
                         TapeSession::Summary | TapeSession::Log);
    connect(session, &TapeSession::changed, q,
            [this](TapeSession::Parts parts) { snapshotChanged(parts); });
    connect(session, &TapeSession::graphFetched, q, [this](const GraphPtr& loaded) {
        const auto event = canvas->selected();
        if (!event || graphOf(*event) != loaded->id) return;
        graph = loaded;
        canvas->setGraph(graph);
        updateDetails();
    });
    connect(session, &TapeSession::closing, q, [this] { setSession(nullptr); });
    canvas->select(std::nullopt, false);
    canvas->setArea({});
    setData(session->snapshot().timeline);
    canvas->fitAll();
    snapshotChanged(TapeSession::Parts(TapeSession::All));
}

void TimelineView::Impl::snapshotChanged(TapeSession::Parts parts) {
    const TapeSnapshot& snapshot = session->snapshot();
    if (parts.testFlag(TapeSession::Events)) setData(snapshot.timeline);
    if (parts.testFlag(TapeSession::Log) && snapshot.losses) {
        QStringList lines;
        for (const storage::LossCount& loss : *snapshot.losses)
            lines << TimelineView::tr("%1 %2: %3")
                         .arg(format::exactCount(loss.count), QString::fromStdString(loss.what),
                              QString::fromStdString(loss.reason));
        setLost(snapshot.lostCount(), lines.join(u'\n'));
    }
    if ((parts & (TapeSession::Summary | TapeSession::Steps)) != 0 && !canvas->selected() &&
        canvas->area().empty())
        updateDetails();
    updateEmptyState();
    updateProgress();
}

void TimelineView::Impl::updateProgress() {
    const bool held = session && session->eventsHeld();
    const bool loading = session && session->snapshot().loading && !held;
    hold->setVisible(held || loading);
    if (held) {
        hold->setText(TimelineView::tr("Reading stopped · go on"));
        hold->setToolTip(TimelineView::tr("The tape holds more events than are shown."));
        return;
    }
    if (!loading) return;
    const GpuView* gpu = canvas->data()->gpu.get();
    const std::size_t expected = gpu != nullptr ? gpu->expected : 0;
    const double share =
        expected > 0 ? static_cast<double>(gpu->activity.size()) / static_cast<double>(expected)
                     : -1;
    hold->setText(share >= 0 && share <= 1
                      ? TimelineView::tr("Reading %1 · stop").arg(format::percent(share))
                      : TimelineView::tr("Reading %1 events · stop")
                            .arg(format::count(static_cast<double>(canvas->data()->events))));
    hold->setToolTip(TimelineView::tr("Stop here: what was read so far stays."));
}

void TimelineView::Impl::updateGpu() {
    const TimelineData& data = *canvas->data();
    static_cast<PhaseLegend*>(legend)->setData(data);
    // While nothing else is shown either, the empty state says why.
    notices->setVisible(data.gpu && (data.events > 0 || data.allocated || !data.charts.empty()));
    if (data.gpu) notices->setNotices(data.gpu->notices, data.gpu->activity.size() > 0);
}

void TimelineView::Impl::setData(TimelinePtr data) {
    const bool relabelled =
        data &&
        (data->structure != canvas->data()->structure ||
         (data->gpu && (!canvas->data()->gpu || data->gpu->labels != canvas->data()->gpu->labels)));
    canvas->setData(data);
    updateGpu();
    overview->setData(canvas->data());
    overview->setWindow(canvas->visibleRange());
    if (relabelled) updateSearch();
    if (!searchField->text().isEmpty()) countTimer.start();
    if (relabelled) followLit();
    updateEmptyState();
    updateDetails();
}

void TimelineView::Impl::setLost(std::int64_t count, const QString& text) {
    if (count >= 0) {
        lost->setVisible(count > 0);
        lost->setText(TimelineView::tr("dropped %1").arg(format::exactCount(count)));
        lost->setToolTip(text);
    }
    const Theme& theme = Theme::current();
    lost->setStyleSheet(QStringLiteral("color:%1;padding:0 8px;font-weight:600")
                            .arg(theme.color(Theme::Warning).name()));
    searchCount->setStyleSheet(QStringLiteral("color:%1").arg(theme.color(Theme::Muted).name()));
}

void TimelineView::Impl::updateEmptyState() {
    const TimelineData& data = *canvas->data();
    const bool any = data.events > 0 || data.allocated || !data.charts.empty();
    stack->setCurrentWidget(any ? static_cast<QWidget*>(splitter) : empty);
    if (any) return;
    if (!session) {
        empty->setTexts(TimelineView::tr("No run is open"),
                        TimelineView::tr("Start a run, or open a tape: its steps, modules and "
                                         "operators are drawn here over time."));
        return;
    }
    const TapeSnapshot& snapshot = session->snapshot();
    if (!snapshot.status.ok()) {
        empty->setError(TimelineView::tr("The tape cannot be read"),
                        QString::fromStdString(snapshot.status.message()));
    } else if (snapshot.loading) {
        empty->setTexts(TimelineView::tr("Reading the tape"), QString());
    } else if (const QString why = data.gpu ? gpuAbsence(data.gpu->notices) : QString();
               !why.isEmpty()) {
        empty->setTexts(TimelineView::tr("No GPU activity"), why);
    } else if (data.gpu) {
        empty->setTexts(TimelineView::tr("No GPU activity"),
                        TimelineView::tr("GPU tracing was on, and nothing ran on a device."));
    } else {
        empty->setTexts(
            TimelineView::tr("No events yet"),
            TimelineView::tr(
                "They appear with the first training step, if the run records operator events."));
    }
}

void TimelineView::Impl::updateSearch() {
    const QString text = searchField->text().trimmed();
    const TimelinePtr& data = canvas->data();
    match = data->structure ? matchNames(*data->structure, text.toStdString(), data->gpu.get())
                            : NameMatch{};
    canvas->setSearch(match, !text.isEmpty());
    searchCount->setText({});
    if (!text.isEmpty()) countTimer.start();
}

void TimelineView::Impl::countMatches() {
    counting.request_stop();
    counting = {};
    const QString text = searchField->text().trimmed();
    if (text.isEmpty()) return;
    auto* watcher = new QFutureWatcher<std::size_t>(q);
    connect(
        watcher, &QFutureWatcherBase::finished, q, [this, watcher, stop = counting.get_token()] {
            if (!stop.stop_requested()) {
                matches = watcher->result();
                searchCount->setText(
                    matches > 0 ? TimelineView::tr("%1 matches")
                                      .arg(format::exactCount(static_cast<std::int64_t>(matches)))
                                : TimelineView::tr("no match"));
            }
            watcher->deleteLater();
        });
    watcher->setFuture(
        QtConcurrent::run([data = canvas->data(), wanted = match, stop = counting.get_token()] {
            return viewers::countMatches(*data, wanted, stop);
        }));
}

void TimelineView::Impl::findNext(bool forward) {
    if (searchField->text().trimmed().isEmpty()) {
        searchField->setFocus();
        return;
    }
    const TimelineData& data = *canvas->data();
    auto found = findMatch(data, match, canvas->selected(), forward);
    if (!found) found = findMatch(data, match, std::nullopt, forward);  // round the end
    if (!found) {
        searchCount->setText(TimelineView::tr("no match"));
        return;
    }
    canvas->select(found, true);
    tellSelection(found);
    updateDetails();
}

void TimelineView::Impl::showMenu(const QPoint& pos) {
    auto* menu = new QMenu(q);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    if (const auto event = canvas->selected()) {
        const QString title = QString::fromStdString(canvas->data()->title(*event));
        menu->addAction(TimelineView::tr("Find all %1").arg(title), q,
                        [this, title] { searchField->setText(title); });
        menu->addAction(TimelineView::tr("Copy name"), q,
                        [title] { QApplication::clipboard()->setText(title); });
        menu->addAction(TimelineView::tr("Mark and measure\tM"), canvas,
                        &TimelineCanvas::toggleMark);
        menu->addSeparator();
    }
    menu->addAction(TimelineView::tr("Fit the selection\tF"), canvas,
                    &TimelineCanvas::fitSelection);
    menu->addAction(TimelineView::tr("Fit all\t0"), canvas, &TimelineCanvas::fitAll);
    menu->addSeparator();
    const auto save = [this, menu](const QString& text, const QString& suffix, auto write) {
        menu->addAction(text, q, [this, suffix, write] {
            const QString path = askSavePath(q, TimelineView::tr("Save timeline"),
                                             QStringLiteral("timeline"), suffix);
            if (!path.isEmpty() && !write(path)) tellCannotWrite(q, path);
        });
    };
    save(TimelineView::tr("Save picture as PNG…"), QStringLiteral("png"),
         [this](const QString& path) { return q->exportPng(path); });
    save(TimelineView::tr("Save picture as SVG…"), QStringLiteral("svg"),
         [this](const QString& path) { return q->exportSvg(path); });
    save(TimelineView::tr("Save operators of the visible range as CSV…"), QStringLiteral("csv"),
         [this](const QString& path) { return q->exportCsv(path); });
    menu->popup(pos);
}

}  // namespace tapescope::viewers
