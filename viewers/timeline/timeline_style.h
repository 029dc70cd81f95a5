// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/models/gpu_view.h"
#include "viewers/models/timeline_model.h"

#include <QFont>
#include <QHash>
#include <QPixmap>
#include <QRgb>

#include <array>
#include <cstdint>

namespace tapescope::viewers {

/// Colours and texts of the timeline, looked up once a theme. Colour is the phase; four shades of
/// it tell neighbours apart.
class TimelineStyle final {
public:
    static constexpr int kShades = 4;
    void rebuild();

    QRgb background() const { return m_background; }
    QRgb laneBackground() const { return m_lane; }
    QRgb fill(const TimelineData& data, const TimelineRow& row, const EventBlock& block,
              std::size_t i) const;
    QRgb family(profiler::KernelFamily family) const {
        return m_family[static_cast<std::size_t>(family)][0];
    }
    QRgb memset() const { return m_memset[0]; }
    static QRgb mix(QRgb a, QRgb b, int shareOfB256);
    QRgb dimmed(QRgb color) const { return mix(color, m_lane, 200); }

    struct Strip {
        QPixmap pixmap;
        int width = 0;
    };
    /// The event's title drawn once; the same key gives the same strip until the theme changes.
    const Strip& strip(const TimelineData& data, EventRef event, QRgb fill, qreal pixelRatio);
    const QFont& font() const { return m_font; }
    int textHeight() const { return m_textHeight; }

private:
    QRgb m_background = 0, m_lane = 0, m_text = 0;
    std::array<std::array<QRgb, kShades>, 6> m_phase{};
    std::array<QRgb, kShades> m_module{};
    std::array<QRgb, kShades> m_backwardNode{};
    std::array<QRgb, 2> m_step{};
    QRgb gpuFill(const GpuLabel& label, std::uint32_t id) const;
    QRgb chosen(std::uint32_t argb) const;
    std::array<std::array<QRgb, kShades>, profiler::kKernelFamilies> m_family{};
    std::array<QRgb, kShades> m_copy{}, m_memset{}, m_range{}, m_call{}, m_wait{}, m_overhead{};
    QRgb m_record = 0, m_waitTick = 0;
    QFont m_font;
    int m_textHeight = 14;
    QHash<quint64, Strip> m_strips;
};

}  // namespace tapescope::viewers
