// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/graph/graph_tooltip.h"

#include "viewers/common/theme.h"
#include "viewers/models/format.h"

#include <QCoreApplication>

#include <cmath>

namespace tapescope::viewers {

namespace {

struct GraphToolTip {
    Q_DECLARE_TR_FUNCTIONS(tapescope::viewers::GraphToolTip)
};

constexpr std::size_t kMaxInputs = 12;

QString escaped(const std::string& text) { return QString::fromStdString(text).toHtmlEscaped(); }

QString row(const QString& name, const QString& value) {
    if (value.isEmpty()) return {};
    const QString muted = Theme::current().color(Theme::Muted).name();
    return QStringLiteral("<tr><td style='color:%1;padding-right:8px'>%2</td><td>%3</td></tr>")
        .arg(muted, name, value);
}

QString costRows(const GraphState& state, int node, int group) {
    const auto value = [&](GraphHeat heat) {
        return heatText(heat,
                        node >= 0 ? state.nodeValue(node, heat) : state.groupValue(group, heat));
    };
    QString rows = row(GraphToolTip::tr("time"), value(GraphHeat::Time));
    const double flops = node >= 0 ? state.nodeValue(node, GraphHeat::Flops)
                                   : state.groupValue(group, GraphHeat::Flops);
    if (flops > 0) rows += row(GraphToolTip::tr("arithmetic"), value(GraphHeat::Flops));
    const double bytes = node >= 0 ? state.nodeValue(node, GraphHeat::Memory)
                                   : state.groupValue(group, GraphHeat::Memory);
    if (bytes > 0) rows += row(GraphToolTip::tr("memory traffic"), value(GraphHeat::Memory));
    return rows;
}

QString inputText(const GraphState& state, const storage::GraphEdge& edge) {
    QString from = escaped(edge.leaf);
    if (edge.fromSeq >= 0) {
        const int node = state.nodeOf(static_cast<std::uint32_t>(edge.fromSeq));
        from = QStringLiteral("%1 #%2")
                   .arg(node >= 0 ? escaped(state.graph().nodes[node].label) : QString())
                   .arg(edge.fromSeq);
    }
    return from.isEmpty() ? escaped(edge.type) : escaped(edge.type) + QStringLiteral(" ← ") + from;
}

QString operatorToolTip(const GraphState& state, int node) {
    const storage::GraphNode& op = *state.operatorAt(node);
    QString rows;
    for (std::size_t i = 0; i < op.inputs.size() && i < kMaxInputs; ++i) {
        rows +=
            row(i == 0 ? GraphToolTip::tr("inputs") : QString(), inputText(state, op.inputs[i]));
    }
    if (op.inputs.size() > kMaxInputs) {
        rows += row({}, GraphToolTip::tr("and %1 more").arg(op.inputs.size() - kMaxInputs));
    }
    rows += row(GraphToolTip::tr("outputs"), escaped(op.outputs));
    rows += row(GraphToolTip::tr("attributes"), escaped(op.attrs));
    for (const storage::ModuleRow& module : state.data()->modules) {
        if (module.id != op.module) continue;
        rows += row(
            GraphToolTip::tr("module"),
            escaped(module.path.empty() ? module.type : module.path + " (" + module.type + ")"));
    }
    for (const storage::SiteRow& site : state.data()->sites) {
        if (site.id != op.site || site.line == 0) continue;
        rows += row(GraphToolTip::tr("source"),
                    QStringLiteral("%1:%2").arg(escaped(site.file)).arg(site.line));
    }
    if (op.forwardSeq >= 0) {
        const int forward = state.nodeOf(static_cast<std::uint32_t>(op.forwardSeq));
        rows += row(GraphToolTip::tr("gradient of"),
                    QStringLiteral("%1 #%2")
                        .arg(forward >= 0 ? escaped(state.graph().nodes[forward].label) : QString())
                        .arg(op.forwardSeq));
    }
    rows += costRows(state, node, -1);
    return QStringLiteral("<b>%1</b> #%2<table>%3</table>")
        .arg(escaped(op.op))
        .arg(op.seq)
        .arg(rows);
}

QString groupToolTip(const GraphState& state, int index) {
    const GraphGroup& group = state.graph().groups[index];
    QString rows = row(GraphToolTip::tr("module"), escaped(group.path));
    rows += row(GraphToolTip::tr("type"), escaped(group.type));
    rows += row(GraphToolTip::tr("details"), escaped(group.details));
    rows += row(GraphToolTip::tr("operators"), format::exactCount(group.operators));
    if (group.parameters > 0)
        rows += row(GraphToolTip::tr("parameters"), format::exactCount(group.parameters));
    rows += costRows(state, -1, index);
    return QStringLiteral("<b>%1</b><table>%2</table>")
        .arg(escaped(group.name.empty() ? group.path : group.name), rows);
}

}  // namespace

QString heatText(GraphHeat heat, double value) {
    if (std::isnan(value)) return {};
    switch (heat) {
        case GraphHeat::Kind:
            break;
        case GraphHeat::Time:
            return format::duration(value);
        case GraphHeat::Flops:
            return format::flops(value);
        case GraphHeat::Memory:
            return format::bytes(value);
    }
    return {};
}

QString boxToolTip(const GraphState& state, int box) {
    const SceneBox& b = state.scene().boxes[box];
    if (b.group >= 0) {
        const bool column = state.graph().groups[b.group].kind == GraphGroup::Kind::Column;
        return column ? QString() : groupToolTip(state, b.group);
    }
    if (state.operatorAt(b.node) != nullptr) return operatorToolTip(state, b.node);
    const ModuleGraphNode& leaf = state.graph().nodes[b.node];
    return QStringLiteral("<b>%1</b><br>%2").arg(escaped(leaf.name), escaped(leaf.type));
}

QString chipToolTip(const GraphState& state, const SceneChip& chip) {
    QString from = escaped(chip.label);
    if (chip.fromNode >= 0) {
        const ModuleGraphNode& node = state.graph().nodes[chip.fromNode];
        from = node.seq >= 0 ? QStringLiteral("%1 #%2").arg(escaped(node.label)).arg(node.seq)
                             : escaped(node.name);
    }
    const QString hint = chip.fromNode >= 0 ? GraphToolTip::tr("Click to go there.") : QString();
    return QStringLiteral("<b>%1</b><br>%2<br>%3").arg(from, escaped(chip.type), hint);
}

}  // namespace tapescope::viewers
