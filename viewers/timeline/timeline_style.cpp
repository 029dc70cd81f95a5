// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/timeline/timeline_style.h"

#include "viewers/common/theme.h"

#include <QFontMetrics>
#include <QPainter>

#include <algorithm>
#include <cstdlib>

namespace tapescope::viewers {
namespace {

constexpr int kMaxStrips = 4096;

QRgb shaded(const QColor& color, int shade) {
    constexpr std::array kFactors{100, 92, 106, 86};
    return color.lighter(kFactors[static_cast<std::size_t>(shade)]).rgb();
}

/// Eight hues are not enough for ten families, the optimizer and copies have theirs already: the
/// most frequent ones get pure hues.
QColor familyColor(profiler::KernelFamily family) {
    const Theme& theme = Theme::current();
    const auto dull = [&theme](const QColor& hue) {
        return Theme::mix(hue, theme.color(Theme::Muted), 0.55);
    };
    switch (family) {
        case profiler::KernelFamily::Matmul:
            return theme.series(0);
        case profiler::KernelFamily::Convolution:
            return theme.series(1);
        case profiler::KernelFamily::Attention:
            return theme.series(3);
        case profiler::KernelFamily::Normalisation:
            return theme.series(4);
        case profiler::KernelFamily::Elementwise:
            return theme.series(6);
        case profiler::KernelFamily::Reduction:
            return dull(theme.series(4));
        case profiler::KernelFamily::Indexing:
            return dull(theme.series(5));
        case profiler::KernelFamily::Optimizer:
            return theme.color(Category::Optimizer);
        case profiler::KernelFamily::Communication:
            return Theme::mix(theme.series(3), theme.color(Theme::Text), 0.5);
        case profiler::KernelFamily::Other:
            break;
    }
    return theme.series(7);
}

std::uint32_t scatter(std::uint32_t id) { return (id * 2654435761U) >> 16U; }

}  // namespace

QRgb TimelineStyle::mix(QRgb a, QRgb b, int share) {
    const auto part = [share](int x, int y) { return (x * (256 - share) + y * share) >> 8; };
    return qRgb(part(qRed(a), qRed(b)), part(qGreen(a), qGreen(b)), part(qBlue(a), qBlue(b)));
}

void TimelineStyle::rebuild() {
    const Theme& theme = Theme::current();
    m_background = theme.color(Theme::Panel).rgb();
    m_lane = theme.color(Theme::Field).rgb();
    m_text = theme.color(Theme::Text).rgb();
    for (int s = 0; s < kShades; ++s) {
        const auto shade = static_cast<std::size_t>(s);
        for (std::size_t p = 0; p < m_phase.size(); ++p)
            m_phase[p][shade] = shaded(theme.color(static_cast<storage::Phase>(p)), s);
        const QColor module = theme.color(Category::Module);
        m_module[shade] = shaded(module, s);
        m_backwardNode[shade] = shaded(Theme::mix(module, theme.color(Category::Backward), 0.3), s);
    }
    for (int s = 0; s < kShades; ++s) {
        const auto shade = static_cast<std::size_t>(s);
        for (int f = 0; f < profiler::kKernelFamilies; ++f)
            m_family[static_cast<std::size_t>(f)][shade] =
                shaded(familyColor(static_cast<profiler::KernelFamily>(f)), s);
        m_copy[shade] = shaded(theme.color(Category::Copy), s);
        m_memset[shade] =
            shaded(Theme::mix(theme.color(Category::Copy), theme.color(Theme::Muted), 0.6), s);
        // Of a hue, or they could not be told from the calls below them.
        // Nearer to the ground than both, so that all shades take the same ink.
        const QColor range = Theme::mix(theme.color(Category::Module), theme.series(5), 0.45);
        m_range[shade] = shaded(Theme::mix(range, theme.color(Theme::Field), 0.2), s);
        m_call[shade] =
            shaded(Theme::mix(theme.color(Theme::Muted), theme.color(Theme::Field), 0.45), s);
        m_wait[shade] =
            shaded(Theme::mix(theme.color(Category::Error), theme.color(Theme::Field), 0.45), s);
        m_overhead[shade] =
            shaded(Theme::mix(theme.color(Theme::Warning), theme.color(Theme::Field), 0.3), s);
    }
    m_record = theme.color(Theme::Text).rgb();
    m_waitTick = theme.color(Category::Error).rgb();  // small: it needs the full colour
    // Steps alternate, so that their borders are seen even without a gap.
    m_step = {theme.color(Category::Step).rgb(),
              Theme::mix(theme.color(Category::Step), theme.color(Theme::Muted), 0.18).rgb()};
    m_font = theme.smallFont();
    m_textHeight = QFontMetrics(m_font).height();
    m_strips.clear();
}

QRgb TimelineStyle::chosen(std::uint32_t argb) const {
    constexpr int kLeastAlpha = 80, kLeastContrast = 80;
    // Programs that do not think of alpha leave it 0, and nobody colours what should not be seen.
    const int alpha = argb >> 24U == 0 ? 255 : std::max(kLeastAlpha, qAlpha(argb));
    const QRgb color = mix(m_lane, argb, alpha * 256 / 255);
    const int contrast =
        std::max({std::abs(qRed(color) - qRed(m_lane)), std::abs(qGreen(color) - qGreen(m_lane)),
                  std::abs(qBlue(color) - qBlue(m_lane))});
    return contrast < kLeastContrast ? mix(color, m_text, 64) : color;
}

QRgb TimelineStyle::gpuFill(const GpuLabel& label, std::uint32_t id) const {
    if (label.colour != 0) return chosen(label.colour);
    const auto shade = scatter(id) % kShades;
    switch (label.kind) {
        case storage::GpuEventKind::Kernel:
            return m_family[static_cast<std::size_t>(label.family)][shade];
        case storage::GpuEventKind::Memcpy:
        case storage::GpuEventKind::MemcpyPeer:
            return m_copy[shade];
        case storage::GpuEventKind::Memset:
            return m_memset[shade];
        case storage::GpuEventKind::NvtxPush:
        case storage::GpuEventKind::NvtxMark:
            return m_range[shade];
        case storage::GpuEventKind::Sync:
            return m_wait[shade];
        case storage::GpuEventKind::Overhead:
            return m_overhead[shade];
        case storage::GpuEventKind::GraphLaunch:
            return m_family[0][shade];
        case storage::GpuEventKind::CudaEventRecord:
            return m_record;
        default:
            return m_call[shade];
    }
}

QRgb TimelineStyle::fill(const TimelineData& data, const TimelineRow& row, const EventBlock& block,
                         std::size_t i) const {
    if (isGpu(row.kind)) {
        const GpuLabel* label = data.gpu ? data.gpu->label(block.name[i]) : nullptr;
        if (label == nullptr) return m_call[0];
        if (row.kind == RowKind::Event && label->kind == storage::GpuEventKind::Sync)
            return m_waitTick;
        const QRgb color = gpuFill(*label, block.name[i]);
        // A record that stands at its call's time is fainter: the device's is not known.
        const bool atCall =
            row.kind == RowKind::Event && !data.gpu->activity.event(block.gpu[i]).drawable();
        return atCall ? mix(color, m_lane, 140) : color;
    }
    const auto phase = static_cast<std::size_t>(block.phase[i]);
    switch (row.kind) {
        case RowKind::Step:
            return m_step[static_cast<std::size_t>(block.detail[i].step & 1)];
        case RowKind::Phase:
            return m_phase[phase][0];
        case RowKind::Module:
            if (block.detail[i].kind == storage::OpEvent::Kind::BackwardNode)
                return m_backwardNode[scatter(block.name[i]) % kShades];
            return m_module[scatter(block.detail[i].module) % kShades];
        default:
            break;
    }
    return m_phase[phase][scatter(block.name[i]) % kShades];
}

const TimelineStyle::Strip& TimelineStyle::strip(const TimelineData& data, EventRef event,
                                                 QRgb fill, qreal pixelRatio) {
    const EventDetail& detail = data.detail(event);
    std::uint32_t id = data.nameId(event);
    if (detail.kind == storage::OpEvent::Kind::Module) id = detail.module;
    if (detail.kind == storage::OpEvent::Kind::Step) id = static_cast<std::uint32_t>(detail.step);
    const QColor ink = Theme::textOn(QColor(fill));
    const quint64 key = (static_cast<quint64>(detail.kind) << 40U) |
                        (static_cast<quint64>(data.isGpu(event)) << 49U) |
                        (static_cast<quint64>(ink == QColor(Qt::white)) << 48U) | id;
    if (const auto found = m_strips.constFind(key); found != m_strips.constEnd()) return *found;
    if (m_strips.size() > kMaxStrips) m_strips.clear();
    const QFontMetrics metrics(m_font);
    // No box is wider than a screen; a longer name would only fill the memory.
    const QString text =
        metrics.elidedText(QString::fromStdString(data.title(event)), Qt::ElideMiddle, 1200);
    Strip strip;
    strip.width = metrics.horizontalAdvance(text) + 2;
    strip.pixmap = QPixmap((QSizeF(strip.width, m_textHeight) * pixelRatio).toSize());
    strip.pixmap.setDevicePixelRatio(pixelRatio);
    strip.pixmap.fill(Qt::transparent);
    QPainter painter(&strip.pixmap);
    painter.setFont(m_font);
    painter.setPen(ink);
    painter.drawText(0, metrics.ascent(), text);
    painter.end();
    return *m_strips.insert(key, strip);
}

}  // namespace tapescope::viewers
