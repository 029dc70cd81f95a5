// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "storage/tape/records.h"
#include "viewers/graph/graph_breakpoint.h"

#include <QWidget>

#include <memory>
#include <optional>
#include <vector>

namespace tapescope::viewers {

class Selection;

/// What the colour of the graph's nodes means.
enum class GraphHeat { Kind, Time, Flops, Memory };

/// Everything the graph view shows of one step. Immutable; may be shared with other threads.
struct GraphData {
    storage::Graph graph;
    std::vector<storage::ModuleRow> modules;
    std::vector<storage::SiteRow> sites;
    std::vector<double> timeNs;  ///< by seq; empty: not known, the time colouring is off
};
using GraphDataPtr = std::shared_ptr<const GraphData>;

/// The graph of one step: modules as boxes that open and close, forward and backward side by side,
/// the current operator lit, breakpoints as dots, search, heat, minimap, export. Gets its data by
/// setters, never blocks, never talks to an engine. GUI thread only.
class GraphView final : public QWidget {
    Q_OBJECT
public:
    explicit GraphView(QWidget* parent = nullptr);
    ~GraphView() override;

    /// Shows another graph; null shows the empty text. Open modules, the search and, where it still
    /// makes sense, the view stay. Call again with each partial graph of a running step.
    void setGraph(GraphDataPtr data);
    GraphDataPtr graph() const;
    /// What an empty view says: what would fill it and how.
    void setEmptyText(const QString& text);

    /// Lights the operator where the run stands, opening its modules and bringing it into view if
    /// following is on. none: the run is not stopped. `after`: stopped behind the operator, its
    /// outputs are there.
    void setCurrent(std::optional<std::uint32_t> seq, bool after = false);
    /// Operators with a smaller seq have run in this step; the others are drawn as not yet run.
    /// none: all have.
    void setProgress(std::optional<std::uint32_t> seq);
    /// Follow the current node (default on).
    void setFollowing(bool on);
    void setBreakpoints(std::vector<GraphBreakpoint> breakpoints);
    void setHeat(GraphHeat heat);
    GraphHeat heat() const;
    /// The shared selection: an operator chosen here is chosen everywhere, and the other way round.
    /// Not owned; may be null.
    void setSelection(Selection* selection);

    /// The chosen operator's seq, if any. selectNode shows it, opening its modules, without telling
    /// selected().
    std::optional<std::uint32_t> selectedNode() const;
    void selectNode(std::optional<std::uint32_t> seq);

    /// Puts the cursor into the search box.
    void focusSearch();
    void setSearchText(const QString& text);
    /// Shows the whole graph.
    void fit();
    void expandAll();
    void collapseAll();

    /// The whole graph as drawn, with margins. False: the file cannot be written, `error` says why.
    bool exportPng(const QString& path, QString* error = nullptr) const;
    bool exportSvg(const QString& path, QString* error = nullptr) const;

signals:
    /// A dot area was clicked, or F9 pressed on a node: set or remove this function breakpoint.
    void breakpointToggled(const QString& op, const QString& module, bool backward);
    /// The user chose an operator; -1: none.
    void selected(qint64 seq);
    /// Enter or double click on an operator: show its source and tensors.
    void activated(qint64 seq);
    /// "Run to here" of the context menu.
    void runToRequested(const QString& op, const QString& module, bool backward);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace tapescope::viewers
