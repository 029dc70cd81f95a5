// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/graph_follower.h"

#include "app/workbench/breakpoint_store.h"
#include "app/workbench/debug_session.h"
#include "viewers/graph/graph_view.h"
#include "viewers/models/selection.h"
#include "viewers/models/timeline_model.h"
#include "viewers/source/source_view.h"

#include <QFileInfo>

#include <algorithm>
#include <optional>

namespace tapescope::app {

using viewers::GraphPtr;
using viewers::TapeSession;
using viewers::TapeSnapshot;
using viewers::TimelineData;

namespace {
constexpr int kCostsMs = 500;  // while a run is live, times are brought up to date this often
}

StepCosts stepCosts(const TimelineData& timeline, std::int64_t step) {
    StepCosts out;
    const std::optional<viewers::EventRef> whole = timeline.findStep(step);
    if (!whole) return out;
    const std::int64_t begin = timeline.startOf(*whole);
    const std::int64_t end = timeline.endOf(*whole);
    for (std::size_t r = 0; r < timeline.rows.size(); ++r) {
        const viewers::TimelineRow& row = timeline.rows[r];
        if (row.kind != viewers::RowKind::Operator) continue;
        for (std::size_t i = row.firstEndingAfter(begin); i < row.size() && row.startNs(i) < end;
             ++i) {
            const viewers::EventRef ref{r, i};
            const viewers::EventDetail& detail = timeline.detail(ref);
            if (detail.step != step || detail.kind != storage::OpEvent::Kind::Operator) continue;
            const auto ns = static_cast<double>(timeline.durationOf(ref));
            if (detail.seq >= out.nsBySeq.size())
                out.nsBySeq.resize(detail.seq + std::size_t{1}, 0);
            out.nsBySeq[detail.seq] += ns;
            // Operators inside operators are part of the outer one's line already.
            if (row.depth > 0 || !timeline.structure) continue;
            if (const storage::SiteRow* site = timeline.structure->site(detail.site))
                out.nsByLine[QString::fromStdString(site->file)][static_cast<int>(site->line)] +=
                    ns;
        }
    }
    return out;
}

bool isBeginOf(const storage::Graph& part, const storage::Graph& whole) {
    if (part.nodes.size() > whole.nodes.size()) return false;
    for (std::size_t i = 0; i < part.nodes.size(); ++i) {
        const storage::GraphNode& a = part.nodes[i];
        const storage::GraphNode& b = whole.nodes[i];
        if (a.op != b.op || a.module != b.module || a.phase != b.phase) return false;
    }
    return true;
}

GraphFollower::GraphFollower(DebugSession& session, viewers::Selection& selection,
                             viewers::GraphView& graph, viewers::SourceView& source,
                             QObject* parent)
    : QObject(parent),
      m_session(session),
      m_selection(selection),
      m_graph(graph),
      m_source(source) {
    m_costsTimer.setSingleShot(true);
    m_costsTimer.setInterval(kCostsMs);
    connect(&m_costsTimer, &QTimer::timeout, this, &GraphFollower::showCosts);
    connect(&m_session, &DebugSession::stopped, this, [this](const StopInfo& stop) {
        if (!ownsTape()) return;
        // A stop takes every view along: the run's step is the step shown.
        m_selection.setStep(-1);
        m_selection.setModulePath(stop.module);
        m_tape->refresh();
        requestGraph();
        showMarks();
        if (stop.line > 0) m_source.setCurrentLine(stop.file, stop.line);
    });
    connect(&m_session, &DebugSession::framesChanged, this, [this] {
        // The innermost frame knows its line even where the stop event does not (entering a
        // module).
        if (!m_session.isStopped() || m_session.frames().empty() || m_session.stopInfo().line > 0)
            return;
        for (const StackFrame& frame : m_session.frames()) {
            if (frame.line <= 0) continue;
            m_source.setCurrentLine(frame.sourcePath, frame.line);
            break;
        }
    });
    connect(&m_session, &DebugSession::stateChanged, this, [this](SessionState state) {
        if (state != SessionState::Stopped) {
            showMarks();
            m_source.clearCurrentLine();
        }
    });
    connect(&m_selection, &viewers::Selection::stepChanged, this, [this] {
        requestGraph();
        showMarks();
    });
    connect(&m_selection, &viewers::Selection::opChanged, this, &GraphFollower::followSelection);
    connect(&m_selection, &viewers::Selection::siteChanged, this, [this] {
        if (m_selection.site().valid())
            m_source.showLine(m_selection.site().file, m_selection.site().line);
    });
    connect(&m_graph, &viewers::GraphView::activated, this, &GraphFollower::showSourceOf);
    connect(&m_graph, &viewers::GraphView::selected, this, &GraphFollower::choose);
    connect(&m_source, &viewers::SourceView::lineChosen, this,
            [this](const QString& file, int line) {
                m_selection.setSite({file, line});
                if (!m_shown || m_tape.isNull() || !m_tape->snapshot().structure) return;
                for (const storage::GraphNode& node : m_shown->nodes) {
                    const storage::SiteRow* site = m_tape->snapshot().structure->site(node.site);
                    if (site == nullptr || static_cast<int>(site->line) != line) continue;
                    if (!samePath(QString::fromStdString(site->file), file)) continue;
                    m_graph.selectNode(node.seq);
                    return;
                }
            });
}

bool GraphFollower::ownsTape() const {
    return !m_tape.isNull() && m_session.isActive() &&
           QFileInfo(m_session.spec().tapePath).absoluteFilePath() == m_tape->path();
}

std::int64_t GraphFollower::wantedStep() const {
    if (m_selection.step() >= 0) return m_selection.step();
    return ownsTape() && m_session.isStopped() ? m_session.stopInfo().step : -1;
}

void GraphFollower::setTape(TapeSession* tape) {
    if (!m_tape.isNull()) m_tape->disconnect(this);
    m_tape = tape;
    m_complete.clear();
    m_loaded.reset();
    m_shown.reset();
    m_chosen = -1;
    emit nodeChosen(-1);
    m_costsOfStep = -1;
    m_sourceCount = 0;
    m_sourceChosen = false;
    setProblem({});
    m_graph.setGraph(nullptr);
    m_source.setSources({});
    showEmptyText();
    if (tape == nullptr) return;
    connect(tape, &TapeSession::changed, this, [this](TapeSession::Parts parts) {
        if (parts.testFlag(TapeSession::StructurePart)) showSources();
        showEmptyText();
        if (parts & (TapeSession::Graphs | TapeSession::Steps)) requestGraph();
        if (parts & (TapeSession::Events | TapeSession::Steps) && !m_costsTimer.isActive())
            m_costsTimer.start();
    });
    connect(tape, &TapeSession::graphLoaded, this, &GraphFollower::onLoaded);
    connect(tape, &TapeSession::graphFetched, this, &GraphFollower::onFetched);
    connect(tape, &TapeSession::graphFailed, this, &GraphFollower::onFailed);
    showSources();
    requestGraph();
    showMarks();
}

void GraphFollower::showSources() {
    const auto& structure = m_tape->snapshot().structure;
    if (!structure || structure->sources.size() == m_sourceCount) return;
    m_sourceCount = structure->sources.size();
    m_source.setSources(structure->sources);
    if (ownsTape() && m_session.isStopped() && m_session.stopInfo().line > 0)
        m_source.setCurrentLine(m_session.stopInfo().file, m_session.stopInfo().line);
    showFirstSource();
    emit graphShown();  // breakpoint marks belong to files that were not known before
}

void GraphFollower::requestGraph() {
    if (m_tape.isNull()) return;
    const storage::GraphId id = m_tape->snapshot().graphToShow(wantedStep());
    if (id == 0) return;
    if (const auto it = m_complete.constFind(id); it != m_complete.cend()) {
        m_tape->requestGraph(0);
        m_loaded = *it;
        show(*it);
        return;
    }
    m_tape->requestGraph(id);
}

void GraphFollower::onLoaded(const GraphPtr& graph) {
    if (!graph) return;
    m_loaded = graph;
    if (graph->complete) {
        m_complete.insert(graph->id, graph);
        show(graph);
        return;
    }
    const GraphPtr whole = wholeOf(*graph);
    show(whole ? whole : graph);
    // The step before ran the same operators, most likely: with its graph the rest of this step can
    // be shown.
    const auto& steps = m_tape->snapshot().steps;
    if (whole || !steps || steps->empty()) return;
    const storage::GraphId last = steps->back().graph;
    if (last != 0 && !m_complete.contains(last)) m_tape->fetchGraph(last);
}

void GraphFollower::onFetched(const GraphPtr& graph) {
    if (!graph || !graph->complete) return;
    m_complete.insert(graph->id, graph);
    if (m_loaded && !m_loaded->complete && isBeginOf(*m_loaded, *graph)) show(graph);
}

void GraphFollower::onFailed(const QString& message) {
    m_loaded.reset();
    m_shown.reset();
    m_chosen = -1;
    setProblem(message);
    m_graph.setGraph(nullptr);
    emit graphShown();
}

void GraphFollower::setProblem(const QString& message) {
    if (message == m_problem) return;
    m_problem = message;
    showEmptyText();
}

void GraphFollower::showEmptyText() {
    const QString why =
        m_tape.isNull() ? QString() : m_tape->snapshot().whyNo(tr("graphs of steps"));
    m_graph.setEmptyText(!m_problem.isEmpty() ? m_problem : why.isEmpty() ? emptyText() : why);
    const QString noSource =
        m_tape.isNull() ? QString() : m_tape->snapshot().whyNo(tr("source files"));
    m_source.setEmptyText(noSource.isEmpty() ? emptySourceText() : noSource);
}

QString GraphFollower::emptySourceText() {
    return tr(
        "The model's source appears here once a run is open; click in the gutter to set a "
        "breakpoint.");
}

QString GraphFollower::emptyText() {
    return tr("The graph of a training step appears here: start a run (F5) or open a tape.");
}

GraphPtr GraphFollower::wholeOf(const storage::Graph& part) const {
    for (const GraphPtr& whole : m_complete) {
        if (isBeginOf(part, *whole)) return whole;
    }
    return nullptr;
}

void GraphFollower::show(const GraphPtr& graph) {
    if (graph == m_shown) {
        showMarks();
        return;
    }
    m_shown = graph;
    setProblem({});
    if (m_chosen >= static_cast<std::int64_t>(graph->nodes.size())) m_chosen = -1;
    m_costsOfStep = -1;
    showCosts();
    showFirstSource();
    emit graphShown();
}

void GraphFollower::showCosts() {
    if (!m_shown || m_tape.isNull()) return;
    const TapeSnapshot& snapshot = m_tape->snapshot();
    std::int64_t step = wantedStep();
    // The newest step that has ended shows the costs of one that runs.
    if (snapshot.steps && (step < 0 || snapshot.graphOfStep(step) != m_shown->id)) {
        for (auto it = snapshot.steps->rbegin(); it != snapshot.steps->rend(); ++it) {
            if (it->graph != m_shown->id) continue;
            step = it->step;
            break;
        }
    }
    const bool graphIsNew = !m_graph.graph() || m_graph.graph()->graph.id != m_shown->id ||
                            m_graph.graph()->graph.nodes.size() != m_shown->nodes.size();
    if (!graphIsNew && step == m_costsOfStep) return;
    auto data = std::make_shared<viewers::GraphData>();
    data->graph = *m_shown;
    if (snapshot.structure) {
        data->modules = snapshot.structure->modules;
        data->sites = snapshot.structure->sites;
    }
    if (snapshot.timeline && step >= 0) {
        StepCosts costs = stepCosts(*snapshot.timeline, step);
        if (!costs.nsBySeq.empty()) {
            costs.nsBySeq.resize(m_shown->nodes.size(), 0);
            data->timeNs = std::move(costs.nsBySeq);
            m_costsOfStep = step;
            for (auto it = costs.nsByLine.cbegin(); it != costs.nsByLine.cend(); ++it)
                m_source.setLineCosts(it.key(), it.value());
        }
    }
    m_graph.setGraph(std::move(data));
    showMarks();
}

void GraphFollower::showFirstSource() {
    // The model's own code is the best start: the line of its first operator inside a module.
    if (m_sourceChosen || m_sourceCount == 0 || !m_shown) return;
    m_sourceChosen = true;
    if (ownsTape() && m_session.isStopped()) return;
    for (const storage::GraphNode& node : m_shown->nodes) {
        const storage::ModuleRow* module = m_tape->snapshot().structure->module(node.module);
        if (module == nullptr || module->path.empty()) continue;
        showSourceOf(node.seq);
        return;
    }
}

void GraphFollower::showMarks() {
    const StopInfo& stop = m_session.stopInfo();
    const bool here =
        ownsTape() && m_session.isStopped() && wantedStep() == stop.step && stop.step >= 0;
    if (!here) {
        m_graph.setCurrent(std::nullopt);
        m_graph.setProgress(std::nullopt);
        return;
    }
    std::optional<std::uint32_t> current;
    if (stop.seq >= 0)
        current = static_cast<std::uint32_t>(stop.seq);
    else if (stop.forwardSeq >= 0)
        current = backwardOf(static_cast<std::uint32_t>(stop.forwardSeq));
    else if (m_loaded && m_shown && !m_loaded->complete &&
             m_loaded->nodes.size() < m_shown->nodes.size())
        current = static_cast<std::uint32_t>(
            m_loaded->nodes.size());  // a module's first operator comes next
    m_graph.setCurrent(current, stop.afterOp);
    if (stop.seq >= 0)
        m_graph.setProgress(static_cast<std::uint32_t>(stop.afterOp ? stop.seq + 1 : stop.seq));
    else if (m_loaded &&
             !m_loaded
                  ->complete)  // at the entry of a module or backward node: all that the tape has
        m_graph.setProgress(static_cast<std::uint32_t>(m_loaded->nodes.size()));
    else
        m_graph.setProgress(std::nullopt);
}

std::uint32_t GraphFollower::backwardOf(std::uint32_t forwardSeq) const {
    // The first operator of that gradient, where an equal earlier step knows it; else the forward
    // operator itself.
    if (!m_shown) return forwardSeq;
    for (const storage::GraphNode& node : m_shown->nodes) {
        if (node.forwardSeq == static_cast<std::int32_t>(forwardSeq) &&
            node.phase == storage::Phase::Backward)
            return node.seq;
    }
    return forwardSeq;
}

void GraphFollower::showSourceOf(std::int64_t seq) {
    if (!m_shown || m_tape.isNull() || !m_tape->snapshot().structure) return;
    if (seq < 0 || seq >= static_cast<std::int64_t>(m_shown->nodes.size())) return;
    const storage::SiteRow* site =
        m_tape->snapshot().structure->site(m_shown->nodes[static_cast<std::size_t>(seq)].site);
    if (site != nullptr)
        m_source.showLine(QString::fromStdString(site->file), static_cast<int>(site->line));
}

void GraphFollower::choose(std::int64_t seq) {
    const bool known =
        m_shown && seq >= 0 && seq < static_cast<std::int64_t>(m_shown->nodes.size());
    m_chosen = known ? seq : -1;
    showSourceOf(m_chosen);
    emit nodeChosen(m_chosen);
}

double GraphFollower::chosenNs() const {
    const viewers::GraphDataPtr data = m_graph.graph();
    if (!data || m_chosen < 0 || m_chosen >= static_cast<std::int64_t>(data->timeNs.size()))
        return 0;
    return data->timeNs[static_cast<std::size_t>(m_chosen)];
}

void GraphFollower::followSelection() {
    const viewers::OpRef& op = m_selection.op();
    if (!op.valid()) return;
    if (m_shown && op.graph == m_shown->id && op.seq >= 0) {
        choose(op.seq);
        return;
    }
    if (m_tape.isNull() || !m_tape->snapshot().timeline) return;
    const TimelineData& timeline = *m_tape->snapshot().timeline;
    const std::optional<viewers::EventRef> event = timeline.find(op);
    if (!event || !timeline.structure) return;
    if (const storage::SiteRow* site = timeline.structure->site(timeline.detail(*event).site))
        m_source.showLine(QString::fromStdString(site->file), static_cast<int>(site->line));
}

}  // namespace tapescope::app
