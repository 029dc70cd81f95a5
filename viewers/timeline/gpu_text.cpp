// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/timeline/gpu_text.h"

#include "viewers/models/format.h"
#include "viewers/models/gpu_relations.h"
#include "viewers/models/gpu_view.h"

#include <QCoreApplication>
#include <QStringList>

#include <bit>

namespace tapescope::viewers {
namespace {

using storage::GpuEvent;
using storage::GpuEventKind;

QString tr(const char* text) { return QCoreApplication::translate("Timeline", text); }
QString text(std::string_view s) {
    return QString::fromUtf8(s.data(), static_cast<qsizetype>(s.size()));
}
QString ns(std::int64_t value) { return format::duration(static_cast<double>(value)); }
QString bytes(std::uint64_t value) { return format::bytes(static_cast<double>(value)); }

QString extent(const std::array<std::uint32_t, 3>& n) {
    return QStringLiteral(u"%1 × %2 × %3").arg(n[0]).arg(n[1]).arg(n[2]);
}

void kernelFields(const GpuEvent& e, QList<EventField>& fields) {
    const storage::KernelLaunch k = storage::kernelLaunch(e);
    const auto count = [](const std::array<std::uint32_t, 3>& n) {
        return static_cast<double>(n[0]) * n[1] * n[2];
    };
    fields.append(
        {tr("Grid"), extent(k.grid), tr("%1 blocks").arg(format::exactNumber(count(k.grid)))});
    fields.append(
        {tr("Block"), extent(k.block), tr("%1 threads").arg(format::exactNumber(count(k.block)))});
    if (k.cluster[0] != 0)
        fields.append({tr("Cluster"), extent({k.cluster[0], k.cluster[1], k.cluster[2]}), {}});
    fields.append({tr("Registers"), tr("%1 a thread").arg(k.registersPerThread), {}});
    fields.append(
        {tr("Shared memory"),
         tr("%1 static + %2 dynamic").arg(bytes(k.staticSharedBytes), bytes(k.dynamicSharedBytes)),
         tr("%1 + %2 a block")
             .arg(format::exactBytes(k.staticSharedBytes),
                  format::exactBytes(k.dynamicSharedBytes))});
    if (k.launchType != 0) fields.append({tr("Launch"), tr("cooperative"), {}});
}

void copyFields(const GpuEvent& e, QList<EventField>& fields) {
    const storage::GpuTransfer t = storage::gpuTransfer(e);
    const double rate = storage::transferRate(e);
    fields.append({tr("Bytes"), bytes(t.bytes),
                   format::exactBytes(
                       static_cast<std::int64_t>(std::min<std::uint64_t>(t.bytes, INT64_MAX)))});
    if (rate > 0)
        fields.append({tr("Rate"), tr("%1 GB/s").arg(format::number(rate / 1e9)),
                       tr("%1 B/s").arg(format::exactNumber(rate))});
    if (e.kind == GpuEventKind::Memset) {
        fields.append({tr("Value"), QString::number(t.value), {}});
        return;
    }
    if (e.kind == GpuEventKind::MemcpyPeer)
        fields.append({tr("Devices"), tr("%1 to %2").arg(t.fromDevice).arg(t.toDevice), {}});
    if (t.from != storage::GpuMemoryKind::Unknown || t.to != storage::GpuMemoryKind::Unknown)
        fields.append({tr("Memory"),
                       tr("%1 to %2")
                           .arg(text(storage::gpuMemoryKindName(t.from)),
                                text(storage::gpuMemoryKindName(t.to))),
                       {}});
    fields.append({tr("Call"),
                   (e.flags & storage::kGpuAsync) != 0 ? tr("asynchronous") : tr("synchronous"),
                   {}});
    if (t.copies > 1)
        fields.append(
            {tr("Copies in it"), format::exactCount(static_cast<std::int64_t>(t.copies)), {}});
}

void workFields(const TimelineData& data, const GpuRelations& r, QList<EventField>& fields) {
    if (r.work.empty()) {
        fields.append({tr("Started"), tr("nothing on a device"), {}});
        return;
    }
    const QString first = QString::fromStdString(data.title(r.work.front()));
    const auto n = static_cast<std::int64_t>(r.work.size());
    fields.append({tr("Started"),
                   r.workIsCut ? tr("more than %1 kernels and copies").arg(n)
                   : n == 1    ? QStringLiteral("%1, %2").arg(first, ns(r.deviceNs))
                               : tr("%1 kernels and copies, %2 in all").arg(n).arg(ns(r.deviceNs)),
                   {}});
}

void originFields(const TimelineData& data, const GpuRelations& r, QList<EventField>& fields) {
    if (!r.ranges.empty()) {
        QStringList names;
        for (auto range = r.ranges.rbegin(); range != r.ranges.rend(); ++range)
            names << QString::fromStdString(data.title(*range));
        fields.append({tr("NVTX"), names.join(QStringLiteral(u" › ")), {}});
    }
    if (r.op) {
        fields.append({tr("Operator"), QString::fromStdString(data.title(*r.op)),
                       QStringLiteral("#%1").arg(r.opId->id)});
    } else if (r.opId) {
        const QString id = QString::number(r.opId->id);
        fields.append({tr("Operator"),
                       r.opId->kind == storage::ExternalKind::Engine
                           ? tr("#%1 (not on the tape)").arg(id)
                       : r.opId->kind == storage::ExternalKind::Kineto
                           ? tr("#%1 of torch.profiler").arg(id)
                           : tr("range #%1 of torch.profiler").arg(id),
                       {}});
    }
}

/// CUPTI's kinds of values; 0 and 0 is what it says of none.
QString payloadText(std::uint64_t bits, std::uint64_t kind) {
    switch (kind) {
        case 0:
            return bits == 0 ? QString() : format::number(std::bit_cast<double>(bits));
        case 2:
            return format::percent(std::bit_cast<double>(bits) / 100);
        case 4:
            return format::exactCount(std::bit_cast<std::int64_t>(bits));
        default:
            break;
    }
    return bits == 0 ? QString() : QString::number(bits);
}

void nvtxFields(const TimelineData& data, EventRef event, const GpuEvent& e,
                QList<EventField>& fields) {
    if (const storage::NameId domain = storage::nvtxDomain(e); domain != 0 && data.structure)
        fields.append({tr("Domain"), QString::fromStdString(data.structure->name(domain)), {}});
    const auto said = data.gpu->activity.nvtxDataOf(data.gpuOrdinal(event));
    if (!said) return;
    const GpuEvent& more = data.gpu->activity.event(*said);
    // CUPTI tells no names of categories.
    if (const std::uint32_t category = storage::nvtxCategory(more); category != 0)
        fields.append({tr("Category"), QString::number(category), {}});
    if (const QString payload = payloadText(more.u[1], more.u[2]); !payload.isEmpty())
        fields.append({tr("Payload"), payload, {}});
    if (const std::uint32_t colour = storage::nvtxColour(more); colour != 0)
        fields.append({tr("Colour"),
                       QStringLiteral("#%1").arg(colour & 0xFFFFFFU, 6, 16, QLatin1Char('0')),
                       QStringLiteral("ARGB %1").arg(colour, 8, 16, QLatin1Char('0'))});
}

void deviceFields(const TimelineData& data, EventRef event, const GpuEvent& e,
                  QList<EventField>& fields) {
    const GpuRelations r = gpuRelations(data, event);
    if (r.sinceCallNs) {
        fields.append(
            {tr("Launch latency"), tr("%1 after the call began").arg(ns(*r.sinceCallNs)),
             *r.sinceReturnNs >= 0
                 ? tr("%1 after it returned").arg(format::exactDuration(*r.sinceReturnNs))
                 : tr("%1 before it returned").arg(format::exactDuration(-*r.sinceReturnNs))});
        fields.append(
            {tr("Queue"),
             *r.queued == 0
                 ? tr("the stream was idle at the launch")
                 : tr("%1 ahead of it at the launch").arg(static_cast<qulonglong>(*r.queued)),
             {}});
    } else {
        fields.append({tr("Launch call"), tr("not recorded"), {}});
    }
    originFields(data, r, fields);
    fields.append({tr("Stream"), QString::number(e.stream),
                   QString::fromStdString(data.rows[event.row].tip)});
    fields.append({tr("Device"), tr("%1, context %2").arg(e.device).arg(e.context), {}});
    const std::uint64_t node = e.kind == GpuEventKind::Kernel ? e.u[0] : e.u[1];
    if (e.graph != 0 || (e.flags & storage::kGpuFromGraph) != 0)
        fields.append({tr("CUDA graph"),
                       node != 0 ? tr("%1, node %2").arg(e.graph).arg(static_cast<qulonglong>(node))
                                 : QString::number(e.graph),
                       {}});
}

void eventField(const GpuEvent& e, QList<EventField>& fields) {
    const bool ofEvent = e.kind == GpuEventKind::CudaEventRecord ||
                         storage::gpuSyncKind(e) == storage::GpuSyncKind::Event ||
                         storage::gpuSyncKind(e) == storage::GpuSyncKind::StreamWaitsEvent;
    if (ofEvent && storage::cudaEventId(e) != storage::kNoGpuId)
        fields.append({tr("Event"), QStringLiteral("#%1").arg(storage::cudaEventId(e)), {}});
}

void recordFields(const TimelineData& data, EventRef event, const GpuEvent& e,
                  QList<EventField>& fields) {
    fields.append(
        {tr("Time of"), e.drawable() ? tr("the device") : tr("its call, the record has none"), {}});
    eventField(e, fields);
    const GpuRelations r = gpuRelations(data, event);
    fields.append({tr("Call"),
                   r.launch ? QString::fromStdString(data.title(*r.launch)) : tr("not recorded"),
                   {}});
    originFields(data, r, fields);
    fields.append({tr("Stream"), QString::number(e.stream),
                   QString::fromStdString(data.rows[event.row].tip)});
    fields.append({tr("Context"), QString::number(e.context), {}});
}

}  // namespace

QString gpuKindText(const TimelineData& data, EventRef event) {
    const GpuEvent& e = data.gpu->activity.event(data.gpuOrdinal(event));
    return e.kind == GpuEventKind::NvtxPush          ? tr("NVTX range")
           : e.kind == GpuEventKind::Overhead        ? tr("cost of tracing")
           : e.kind == GpuEventKind::CudaEventRecord ? tr("of a CUDA event")
                                                     : text(storage::gpuEventKindName(e.kind));
}

QList<EventField> gpuFields(const TimelineData& data, EventRef event) {
    QList<EventField> fields;
    const GpuEvent& e = data.gpu->activity.event(data.gpuOrdinal(event));
    const std::int64_t duration =
        e.kind == GpuEventKind::NvtxPush ? data.durationOf(event) : e.durationNs;
    if (e.kind == GpuEventKind::NvtxMark || e.kind == GpuEventKind::CudaEventRecord) {
        const std::int64_t at = data.startOf(event);
        fields.append({tr("Time"), ns(at), format::exactDuration(at)});
    } else {
        fields.append({tr("Duration"), ns(duration), format::exactDuration(duration)});
        fields.append({tr("Start"), ns(e.startNs), format::exactDuration(e.startNs)});
    }
    switch (e.kind) {
        case GpuEventKind::Kernel:
            kernelFields(e, fields);
            deviceFields(data, event, e, fields);
            break;
        case GpuEventKind::Memcpy:
        case GpuEventKind::MemcpyPeer:
        case GpuEventKind::Memset:
            copyFields(e, fields);
            deviceFields(data, event, e, fields);
            break;
        case GpuEventKind::GraphLaunch:
            deviceFields(data, event, e, fields);
            break;
        case GpuEventKind::RuntimeApi:
        case GpuEventKind::DriverApi: {
            const std::uint32_t code = storage::apiReturn(e);
            fields.append(
                {tr("Returned"), code == 0 ? tr("0, success") : tr("%1, an error").arg(code), {}});
            const GpuRelations r = gpuRelations(data, event);
            workFields(data, r, fields);
            originFields(data, r, fields);
            break;
        }
        case GpuEventKind::CudaEventRecord:
            recordFields(data, event, e, fields);
            break;
        case GpuEventKind::Sync: {
            eventField(e, fields);
            if (e.stream != storage::kNoGpuId)
                fields.append({tr("Stream"), QString::number(e.stream), {}});
            const GpuRelations r = gpuRelations(data, event);
            if (r.launch)
                fields.append({tr("Call"), QString::fromStdString(data.title(*r.launch)), {}});
            originFields(data, r, fields);
            break;
        }
        case GpuEventKind::NvtxPush:
            workFields(data, gpuRelations(data, event), fields);
            nvtxFields(data, event, e, fields);
            break;
        case GpuEventKind::NvtxMark:
            nvtxFields(data, event, e, fields);
            break;
        default:
            break;
    }
    if (e.thread != 0) fields.append({tr("Thread"), QString::number(e.thread), {}});
    if (e.correlation != 0) fields.append({tr("Correlation"), QString::number(e.correlation), {}});
    if ((e.flags & storage::kGpuClockStepped) != 0)
        fields.append({tr("Doubt"), tr("the clock was being set: its place is uncertain"), {}});
    const GpuLabel* label = data.gpu->label(data.nameId(event));
    if (label != nullptr && label->full != label->text)
        fields.append({tr("Full name"), QString::fromStdString(label->full).left(4000), {}});
    return fields;
}

}  // namespace tapescope::viewers
