// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/models/format.h"
#include "viewers/models/gpu_relations.h"
#include "viewers/timeline/timeline_canvas.h"
#include "viewers/timeline/timeline_details.h"
#include "viewers/timeline/timeline_view_impl.h"

#include <QFutureWatcher>
#include <QtConcurrentRun>

#include <algorithm>
#include <utility>

namespace tapescope::viewers {

void TimelineView::Impl::connectSelection() {
    if (selection == nullptr) return;
    connect(selection, &Selection::opChanged, q, [this] { followOp(); });
    connect(selection, &Selection::stepChanged, q, [this] { followStep(); });
    connect(selection, &Selection::modulePathChanged, q, [this] { followLit(); });
    connect(selection, &Selection::siteChanged, q, [this] { followLit(); });
    connect(selection, &Selection::timeRangeChanged, q, [this] {
        if (telling) return;
        canvas->setArea(selection->timeRange());
        updateDetails();
    });
}

storage::GraphId TimelineView::Impl::graphOf(EventRef event) const {
    return session ? session->snapshot().graphOfStep(canvas->data()->detail(event).step) : 0;
}

void TimelineView::Impl::wantGraph(EventRef event) {
    const storage::GraphId id = graphOf(event);
    if (graph && graph->id == id) return;
    graph = nullptr;
    canvas->setGraph(nullptr);
    if (id != 0) session->fetchGraph(id);
}

void TimelineView::Impl::tellSelection(std::optional<EventRef> event) {
    if (event) wantGraph(*event);
    if (selection == nullptr) return;
    telling = true;
    if (!event) {
        selection->setOp({});
        telling = false;
        return;
    }
    const TimelineData& data = *canvas->data();
    if (data.isGpu(*event)) {
        // The operator that caused it is what other views can show.
        const GpuRelations r = gpuRelations(data, *event);
        if (r.op) {
            const EventDetail& cause = data.detail(*r.op);
            if (cause.step >= 0) selection->setStep(cause.step);
            selection->setOp({graphOf(*r.op), cause.seq, cause.opId, cause.step});
        } else {
            selection->setOp({});
        }
        telling = false;
        return;
    }
    const EventDetail& d = data.detail(*event);
    if (d.step >= 0) selection->setStep(d.step);
    if (data.structure) {
        if (const storage::ModuleRow* module = data.structure->module(d.module))
            selection->setModulePath(QString::fromStdString(module->path));
        if (const storage::SiteRow* site = data.structure->site(d.site))
            selection->setSite({QString::fromStdString(site->file), static_cast<int>(site->line)});
    }
    // Last, so that who hears of the operator finds step, module and site already there.
    if (d.kind == storage::OpEvent::Kind::Operator) {
        selection->setOp({graphOf(*event), d.seq, d.opId, d.step});
    } else {
        selection->setOp({});
    }
    telling = false;
}

void TimelineView::Impl::followOp() {
    if (telling) return;
    OpRef op = selection->op();
    if (!op.valid()) {
        canvas->select(std::nullopt, false);
        updateDetails();
        return;
    }
    if (op.opId == 0 && op.step < 0 && session) {
        // A node of a graph that many steps share: the chosen step if it has this graph, else the
        // newest that does.
        const TapeSnapshot& snapshot = session->snapshot();
        if (selection->step() >= 0 && snapshot.graphOfStep(selection->step()) == op.graph) {
            op.step = selection->step();
        } else if (snapshot.steps) {
            for (auto row = snapshot.steps->rbegin(); row != snapshot.steps->rend() && op.step < 0;
                 ++row)
                if (row->graph == op.graph) op.step = row->step;
        }
    }
    const auto event = canvas->data()->find(op);
    canvas->select(event, true);
    if (event) wantGraph(*event);
    updateDetails();
}

void TimelineView::Impl::followStep() {
    const std::int64_t step = selection->step();
    const TimelineData& data = *canvas->data();
    TimeRange range;
    if (const auto event = data.findStep(step)) {
        range = {data.startOf(*event), data.endOf(*event)};
    } else if (session && session->snapshot().steps) {
        for (const storage::StepRow& row : *session->snapshot().steps)
            if (row.step == step) range = {row.startNs, row.endNs};
    }
    canvas->setStepBand(range);
    if (telling || range.empty()) return;
    const TimeRange shown = canvas->visibleRange();
    const bool visible = range.beginNs >= shown.beginNs && range.endNs <= shown.endNs;
    if (visible) return;
    const std::int64_t margin =
        std::max(range.lengthNs() / 4, (shown.lengthNs() - range.lengthNs()) / 2);
    canvas->setVisibleRange({range.beginNs - margin, range.endNs + margin});
}

void TimelineView::Impl::followLit() {
    if (selection == nullptr) return;
    storage::ModuleId module = 0;
    std::vector<bool> sites;
    const auto& structure = canvas->data()->structure;
    if (structure && !selection->modulePath().isEmpty()) {
        const std::string path = selection->modulePath().toStdString();
        for (const storage::ModuleRow& row : structure->modules)
            if (row.path == path) module = row.id;
    }
    // A module that was chosen says less than an operator that was: light sites only for a line
    // chosen elsewhere.
    if (structure && selection->site().valid() && !canvas->selected()) {
        for (const storage::SiteRow& row : structure->sites) {
            if (static_cast<int>(row.line) != selection->site().line ||
                QString::fromStdString(row.file) != selection->site().file)
                continue;
            if (sites.size() <= row.id) sites.resize(row.id + 1);
            sites[row.id] = true;
        }
    }
    canvas->setLit(module, std::move(sites));
}

void TimelineView::Impl::updateDetails(bool atOnce) {
    aggregation.request_stop();
    aggregation = {};
    if (const auto event = canvas->selected()) {
        details->showEvent(*canvas->data(), *event, graph.get());
        return;
    }
    if (!canvas->area().empty()) {
        aggregateArea(canvas->area(), atOnce);
        return;
    }
    const auto& data = *canvas->data();
    const bool hasOperators = std::any_of(data.rows.begin(), data.rows.end(), [](const auto& row) {
        return row.kind == RowKind::Operator;
    });
    if ((hasOperators || !data.gpu) && session && session->snapshot().opSummary &&
        !session->snapshot().opSummary->empty()) {
        const QString heading =
            TimelineView::tr("Whole run · %1 · %2 events")
                .arg(format::duration(static_cast<double>(data.endNs - data.beginNs)),
                     format::exactCount(static_cast<std::int64_t>(data.events)));
        details->showTable(heading, session->snapshot().opSummary);
        return;
    }
    aggregateArea({data.beginNs, data.endNs}, atOnce);
}

void TimelineView::Impl::aggregateArea(TimeRange area, bool atOnce) {
    const bool all = canvas->area().empty();
    const QString what =
        (all ? TimelineView::tr("Whole run · %1") : TimelineView::tr("Selected %1"))
            .arg(format::duration(static_cast<double>(area.lengthNs())));
    if (all && canvas->data()->events == 0) {
        details->showTable(what, nullptr);
        return;
    }
    struct Sums {
        std::vector<storage::OpSummary> rows;
        OpSummaryModel::Medians medians;
    };
    const auto sum = [](const TimelineData& data, TimeRange range, const std::stop_token& stop) {
        auto sums = std::make_shared<Sums>();
        sums->rows = aggregate(data, range, stop, &sums->medians);
        return std::shared_ptr<const Sums>(std::move(sums));
    };
    const bool hasOperators =
        std::any_of(canvas->data()->rows.begin(), canvas->data()->rows.end(),
                    [](const auto& row) { return row.kind == RowKind::Operator; });
    const bool gpu = !hasOperators && canvas->data()->gpu;
    const auto show = [this, what, hasOperators, gpu](const std::shared_ptr<const Sums>& sums) {
        std::int64_t calls = 0;
        for (const storage::OpSummary& row : sums->rows) calls += row.calls;
        details->showTable((hasOperators ? TimelineView::tr("%1 · %2 operator calls")
                                         : TimelineView::tr("%1 · %2 kernels and copies"))
                               .arg(what, format::exactCount(calls)),
                           OpSummaryModel::Rows(sums, &sums->rows), sums->medians, gpu);
    };
    if (atOnce) {  // for a picture
        show(sum(*canvas->data(), area, {}));
        return;
    }
    details->showBusy(TimelineView::tr("%1 · summing…").arg(what));
    auto* watcher = new QFutureWatcher<std::shared_ptr<const Sums>>(q);
    connect(watcher, &QFutureWatcherBase::finished, q,
            [watcher, show, stop = aggregation.get_token()] {
                if (!stop.stop_requested()) show(watcher->result());
                watcher->deleteLater();
            });
    watcher->setFuture(
        QtConcurrent::run([data = canvas->data(), area, sum, stop = aggregation.get_token()] {
            return sum(*data, area, stop);
        }));
}

}  // namespace tapescope::viewers
