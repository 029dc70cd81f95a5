// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "storage/tape/records.h"

#include <QColor>
#include <QFont>
#include <QObject>
#include <QPalette>

#include <array>
#include <cstdint>

namespace tapescope::viewers {

/// What a colour means; the same everywhere in the window (Okabe–Ito hues, safe for colour
/// blindness).
enum class Category : std::uint8_t {
    Other,
    Forward,
    Backward,
    Optimizer,
    Data,
    Copy,
    Evaluate,
    Module,
    Step,
    Idle,
    Stopped,
    Error
};
Category categoryOf(storage::Phase phase);

/// The one look of the program: surfaces, text, categories, colour maps, fonts, light and dark. GUI
/// thread only. Views read it while painting and repaint on changed(); they keep no colours.
class Theme final : public QObject {
    Q_OBJECT
public:
    enum class Mode : std::uint8_t { Light, Dark };
    enum Role : std::uint8_t {
        Window,  ///< behind panes
        Panel,   ///< a pane's background
        Raised,  ///< headers, tool tips, boxes on a panel
        Field,   ///< text fields, plots, the timeline's lanes
        Border,
        Grid,  ///< lines inside plots
        Text,
        Muted,  ///< secondary text; readable on Window, Panel, Raised and Field
        Disabled,
        Accent,      ///< the one accent: selection, focus, links
        AccentSoft,  ///< translucent fill of a selection
        OnAccent,    ///< text on Accent
        Hover,       ///< translucent fill under the pointer
        Good,
        Warning,
        Bad,
        NaN,  ///< values that are not a number
        PosInf,
        NegInf,
        kRoles
    };

    static Theme& current();

    Mode mode() const { return m_mode; }
    bool dark() const { return m_mode == Mode::Dark; }
    /// Sets Fusion style, palette, style sheet and font of the application, then emits changed().
    /// Also the first call.
    void apply(Mode mode);
    /// 1 = normal; clamped to [0.75, 2].
    void setTextScale(double scale);
    double textScale() const { return m_textScale; }

    QColor color(Role role) const { return m_roles[role]; }
    QColor color(Category category) const;
    QColor color(storage::Phase phase) const { return color(categoryOf(phase)); }
    QColor color(storage::MemoryRole role) const;
    /// Colour of run or series number i; eight hues, then the same ones shifted in lightness.
    QColor series(int i) const;
    /// Black or white, whichever reads better on the fill.
    static QColor textOn(const QColor& fill);
    static QColor mix(const QColor& a, const QColor& b, double shareOfB);

    /// Magnitude, t in [0, 1] (clamped): viridis. NaN gives the NaN colour.
    QRgb sequential(double t) const;
    /// Signed values, t in [-1, 1] (clamped), 0 = the neutral middle. NaN gives the NaN colour.
    QRgb diverging(double t) const;

    QFont font() const;  ///< Inter, else DejaVu Sans
    QFont smallFont() const;
    QFont boldFont() const;
    QFont monoFont()
        const;  ///< JetBrains Mono, else DejaVu Sans Mono: numbers and code, tabular figures
    QFont smallMonoFont() const;
    QPalette palette() const;
    static constexpr int kGrid = 4;  ///< spacings are multiples of it, in pixels

signals:
    void changed();

private:
    Theme();
    void build();
    QFont sized(const QFont& base, double factor) const;

    Mode m_mode = Mode::Dark;
    double m_textScale = 1;
    std::array<QColor, kRoles> m_roles;
    std::array<QRgb, 256> m_sequential{};
    std::array<QRgb, 511> m_diverging{};
    QFont m_sans;
    QFont m_mono;
};

}  // namespace tapescope::viewers
