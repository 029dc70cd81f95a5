// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/recorded_node.h"

#include "viewers/models/format.h"

#include <QCoreApplication>
#include <QStringList>

#include <functional>

namespace tapescope::app {
namespace {

namespace format = viewers::format;

QString tr(const char* text) { return QCoreApplication::translate("RecordedNode", text); }

const storage::GraphNode* nodeAt(const storage::Graph& graph, std::int64_t seq) {
    if (seq < 0 || seq >= static_cast<std::int64_t>(graph.nodes.size())) return nullptr;
    return &graph.nodes[static_cast<std::size_t>(seq)];
}

/// "f32[64,8], i64[64]" -> its two types: a comma inside brackets separates sizes.
QStringList types(const QString& text) {
    QStringList out;
    QString current;
    int depth = 0;
    for (const QChar c : text) {
        if (c == QLatin1Char('[')) ++depth;
        if (c == QLatin1Char(']')) --depth;
        if (c == QLatin1Char(',') && depth == 0) {
            out.append(current.trimmed());
            current.clear();
        } else {
            current += c;
        }
    }
    if (!current.trimmed().isEmpty()) out.append(current.trimmed());
    return out;
}

Variable fact(const QString& name, const QString& value) { return {name, value, {}, {}, 0}; }

}  // namespace

std::vector<StackFrame> recordedFrames(const storage::Graph& graph, std::int64_t seq,
                                       const viewers::Structure& structure) {
    std::vector<StackFrame> out;
    const storage::GraphNode* node = nodeAt(graph, seq);
    if (node == nullptr) return out;
    const storage::ModuleRow* module = structure.module(node->module);
    StackFrame op;
    op.name = QString::fromStdString(node->op);
    if (module != nullptr && !module->path.empty())
        op.name = QString::fromStdString(module->path) + QStringLiteral(": ") + op.name;
    if (node->phase == storage::Phase::Backward) op.name += tr(" (backward)");
    if (const storage::SiteRow* site = structure.site(node->site)) {
        op.sourcePath = QString::fromStdString(site->file);
        op.line = static_cast<int>(site->line);
    }
    out.push_back(op);
    for (; module != nullptr; module = structure.module(module->parent)) {
        const QString path = QString::fromStdString(module->path);
        const QString type = QStringLiteral("(%1)").arg(QString::fromStdString(module->type));
        out.push_back({0, path.isEmpty() ? type : path + QLatin1Char(' ') + type, {}, 0});
    }
    return out;
}

std::vector<Scope> recordedScopes(const storage::Graph& graph, std::int64_t seq,
                                  double durationNs) {
    std::vector<Scope> out;
    const storage::GraphNode* node = nodeAt(graph, seq);
    if (node == nullptr) return out;
    Scope inputs{tr("Inputs"), {}};
    for (const storage::GraphEdge& edge : node->inputs) {
        QString name = QString::fromStdString(edge.leaf);
        if (const storage::GraphNode* from = nodeAt(graph, edge.fromSeq))
            name = tr("%1 #%2").arg(QString::fromStdString(from->op)).arg(from->seq);
        inputs.variables.push_back(fact(name, QString::fromStdString(edge.type)));
    }
    Scope outputs{tr("Outputs"), {}};
    const QStringList outputTypes = types(QString::fromStdString(node->outputs));
    for (qsizetype i = 0; i < outputTypes.size(); ++i)
        outputs.variables.push_back(
            fact(outputTypes.size() == 1 ? tr("output") : tr("output %1").arg(i), outputTypes[i]));
    Scope costs{tr("Operator"), {}};
    if (!node->attrs.empty())
        costs.variables.push_back(fact(tr("attributes"), QString::fromStdString(node->attrs)));
    if (durationNs > 0) costs.variables.push_back(fact(tr("time"), format::duration(durationNs)));
    if (node->flops > 0) {
        QString text = format::flops(node->flops);
        if (durationNs > 0)
            text += QStringLiteral(" · ") + format::flopRate(node->flops, durationNs);
        costs.variables.push_back(fact(tr("arithmetic"), text));
    }
    if (node->bytes > 0)
        costs.variables.push_back(
            fact(tr("traffic"), format::bytes(static_cast<double>(node->bytes))));
    for (Scope& scope : {std::ref(inputs), std::ref(outputs), std::ref(costs)}) {
        if (!scope.variables.empty()) out.push_back(std::move(scope));
    }
    return out;
}

}  // namespace tapescope::app
