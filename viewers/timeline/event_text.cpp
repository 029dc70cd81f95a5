// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/timeline/event_text.h"

#include "viewers/models/format.h"
#include "viewers/models/gpu_relations.h"
#include "viewers/models/op_summary_model.h"
#include "viewers/timeline/gpu_text.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>

namespace tapescope::viewers {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Timeline", text); }

const storage::GraphNode* nodeOf(const storage::Graph* graph, const EventDetail& detail) {
    if (graph == nullptr || detail.kind != storage::OpEvent::Kind::Operator) return nullptr;
    if (detail.seq < graph->nodes.size() && graph->nodes[detail.seq].seq == detail.seq)
        return &graph->nodes[detail.seq];
    for (const storage::GraphNode& node : graph->nodes)
        if (node.seq == detail.seq) return &node;
    return nullptr;
}

}  // namespace

QString eventTitle(const TimelineData& data, EventRef event) {
    return QString::fromStdString(data.title(event));
}

QString numberOf(const QString& title) {
    const qsizetype space = title.lastIndexOf(u' ');
    const QString number = title.mid(space + 1);
    const bool digits = std::ranges::all_of(number, [](QChar c) { return c.isDigit(); });
    return space > 0 && title.indexOf(u' ') == space && digits ? number : QString();
}

QString eventKindText(const TimelineData& data, EventRef event) {
    if (data.isGpu(event)) return gpuKindText(data, event);
    switch (data.detail(event).kind) {
        case storage::OpEvent::Kind::Module:
            return tr("module");
        case storage::OpEvent::Kind::BackwardNode:
            return tr("backward node");
        case storage::OpEvent::Kind::Step:
            return tr("training step");
        case storage::OpEvent::Kind::Phase:
            return tr("phase");
        case storage::OpEvent::Kind::Operator:
            break;
    }
    return tr("operator");
}

QString laneText(const TimelineData& data, std::uint32_t lane) {
    if (data.structure)
        for (const storage::LaneRow& row : data.structure->lanes)
            if (row.id == lane && !row.label.empty()) return QString::fromStdString(row.label);
    return tr("thread %1").arg(lane);
}

QString rowKindText(RowKind kind) {
    switch (kind) {
        case RowKind::Step:
            return tr("steps");
        case RowKind::Phase:
            return tr("phases");
        case RowKind::Module:
            return tr("modules");
        default:
            break;
    }
    return tr("operators");
}

QList<EventField> eventFields(const TimelineData& data, EventRef event,
                              const storage::Graph* graph) {
    if (data.isGpu(event)) return gpuFields(data, event);
    QList<EventField> fields;
    const EventDetail& d = data.detail(event);
    const auto ns = static_cast<double>(data.durationOf(event));
    fields.append(
        {tr("Duration"), format::duration(ns), format::exactDuration(data.durationOf(event))});
    fields.append({tr("Start"), format::duration(static_cast<double>(data.startOf(event))),
                   format::exactDuration(data.startOf(event))});
    const storage::ModuleRow* module = data.structure ? data.structure->module(d.module) : nullptr;
    if (module != nullptr) {
        const QString path =
            module->path.empty() ? tr("(root)") : QString::fromStdString(module->path);
        fields.append({tr("Module"),
                       QStringLiteral("%1  %2").arg(path, QString::fromStdString(module->type)),
                       QString::fromStdString(module->details)});
    }
    if (const storage::SiteRow* site = data.structure ? data.structure->site(d.site) : nullptr) {
        const QString file = QString::fromStdString(site->file);
        fields.append(
            {tr("Site"),
             QStringLiteral("%1:%2").arg(file.mid(file.lastIndexOf(u'/') + 1)).arg(site->line),
             QStringLiteral("%1:%2 %3")
                 .arg(file)
                 .arg(site->line)
                 .arg(QString::fromStdString(site->function))});
    }
    if (const storage::GraphNode* node = nodeOf(graph, d)) {
        QStringList inputs;
        for (const storage::GraphEdge& edge : node->inputs)
            inputs << QString::fromStdString(edge.type);
        if (!inputs.isEmpty()) fields.append({tr("Inputs"), inputs.join(QStringLiteral(", ")), {}});
        if (!node->outputs.empty())
            fields.append({tr("Output"), QString::fromStdString(node->outputs), {}});
        if (!node->attrs.empty())
            fields.append({tr("Attributes"), QString::fromStdString(node->attrs), {}});
    }
    if (d.flops > 0)
        fields.append(
            {tr("Arithmetic"),
             format::flops(d.flops) + QStringLiteral(u"  ·  ") + format::flopRate(d.flops, ns),
             format::exactNumber(d.flops) + QStringLiteral(" FLOP")});
    if (d.bytes > 0) {
        QString rate = format::bytes(static_cast<double>(d.bytes));
        if (ns > 0)
            rate += QStringLiteral(u"  ·  ") +
                    format::bytes(static_cast<double>(d.bytes) / ns * 1e9) + QStringLiteral("/s");
        fields.append({tr("Read + written"), rate, format::exactBytes(d.bytes)});
    }
    if (const GpuRelations r = gpuRelations(data, event); !r.work.empty()) {
        const QString time = format::duration(static_cast<double>(r.deviceNs));
        const QString count = QString::number(r.work.size());
        fields.append({tr("On the GPU"),
                       r.work.size() == 1
                           ? QStringLiteral("%1, %2").arg(eventTitle(data, r.work.front()), time)
                       : r.workIsCut ? tr("more than %1 kernels and copies").arg(count)
                                     : tr("%1 kernels and copies, %2").arg(count, time),
                       {}});
    }
    if (data.phase(event) != storage::Phase::Other)
        fields.append({tr("Phase"), phaseText(data.phase(event)), {}});
    if (d.step >= 0) fields.append({tr("Step"), format::exactCount(d.step), {}});
    fields.append({tr("Thread"), laneText(data, data.rows[event.row].lane), {}});
    if (d.opId != 0) {
        QString call = QStringLiteral("#%1").arg(d.opId);
        if (d.parentId != 0) call += tr("  of call #%1").arg(d.parentId);
        fields.append({tr("Call"), call, {}});
    }
    return fields;
}

}  // namespace tapescope::viewers
