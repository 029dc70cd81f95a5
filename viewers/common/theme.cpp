// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/common/theme.h"

#include <QApplication>
#include <QFontDatabase>

#include <algorithm>
#include <cmath>
#include <span>

static void initResources() { Q_INIT_RESOURCE(tapescope); }

namespace tapescope::viewers {
namespace {

// Okabe and Ito, "Color Universal Design" (2008).
constexpr QRgb kOrange = 0xffe69f00, kSkyBlue = 0xff56b4e9, kGreen = 0xff009e73,
               kYellow = 0xfff0e442, kBlue = 0xff0072b2, kVermillion = 0xffd55e00,
               kPurple = 0xffcc79a7;

// Order of Theme::Role.
constexpr std::array<QRgb, Theme::kRoles> kDark{
    0xff181b1f, 0xff1e2227, 0xff282d34, 0xff16191d, 0xff373e47, 0xff2a3037, 0xffe4e7eb,
    0xff9ba5b0, 0xff626c77, 0xff58a6ff, 0x3858a6ff, 0xff08131f, 0x14ffffff, 0xff3fb68b,
    0xffe6a23c, 0xfff4714e, 0xffff3fae, 0xffffd23f, 0xff3fe0ff};
constexpr std::array<QRgb, Theme::kRoles> kLight{
    0xffeff1f4, 0xfffafbfc, 0xffe9ecf0, 0xffffffff, 0xffcdd3da, 0xffe3e7ec, 0xff1a1f25,
    0xff56606b, 0xff9aa3ad, 0xff1f6fd0, 0x301f6fd0, 0xffffffff, 0x0d000000, 0xff00805c,
    0xff9a6200, 0xffbf3f0a, 0xffd1007a, 0xffb38600, 0xff0090b0};

constexpr std::array<QRgb, 11> kViridis{0xff440154, 0xff482475, 0xff414487, 0xff355f8d,
                                        0xff2a788e, 0xff21918c, 0xff22a884, 0xff44bf70,
                                        0xff7ad151, 0xffbddf26, 0xfffde725};
// Negative to positive through a neutral that fits the surface: near white on light, near black on
// dark.
constexpr std::array<QRgb, 7> kDivergingLight{0xff2166ac, 0xff67a9cf, 0xffd1e5f0, 0xfff7f7f7,
                                              0xfffddbc7, 0xffef8a62, 0xffb2182b};
constexpr std::array<QRgb, 7> kDivergingDark{0xff8fd0ff, 0xff3d97d8, 0xff1f5480, 0xff23272d,
                                             0xff8a3b1e, 0xffe0703a, 0xffffc29a};

QColor between(std::span<const QRgb> stops, double t) {
    const double at = std::clamp(t, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
    const auto i = std::min(static_cast<std::size_t>(at), stops.size() - 2);
    return Theme::mix(QColor(stops[i]), QColor(stops[i + 1]), at - static_cast<double>(i));
}

QFont firstFamily(const QStringList& families, QFontDatabase::SystemFont fallback) {
    const QStringList present = QFontDatabase::families();
    QFont font = QFontDatabase::systemFont(fallback);
    for (const QString& family : families) {
        if (!present.contains(family)) continue;
        font = QFont(family);
        break;
    }
    font.setStyleHint(fallback == QFontDatabase::FixedFont ? QFont::Monospace : QFont::SansSerif);
    return font;
}

QString styleSheet(const Theme& theme) {
    const auto css = [&theme](Theme::Role role) {
        const QColor c = theme.color(role);
        return QStringLiteral("rgba(%1,%2,%3,%4)")
            .arg(c.red())
            .arg(c.green())
            .arg(c.blue())
            .arg(c.alpha());
    };
    // Only what a palette cannot say; everything else stays native Fusion.
    QString sheet = QStringLiteral(
        "QToolTip{color:%text;background:%raised;border:1px solid %border;padding:4px}"
        "QToolBar{border:0;background:%window;spacing:2px;padding:2px}"
        "QStatusBar{background:%window;color:%muted}QStatusBar::item{border:0}"
        "QMainWindow::separator{background:%window;width:4px;height:4px}"
        "QMainWindow::separator:hover{background:%accent}"
        "QSplitter::handle{background:%border}QSplitter::handle:hover{background:%accent}"
        "QSplitter::handle:horizontal{width:1px}QSplitter::handle:vertical{height:1px}"
        "QHeaderView{background:%raised}"
        "QHeaderView::section{background:%raised;color:%muted;border:0;border-right:1px solid "
        "%border;"
        "border-bottom:1px solid %border;padding:3px 6px}"
        "QHeaderView::up-arrow,QHeaderView::down-arrow{subcontrol-position:top "
        "center;width:8px;height:6px}"
        "QDockWidget{color:%muted}QDockWidget::title{background:%window;padding:4px "
        "8px;text-align:left}"
        "QToolButton{border:1px solid transparent;border-radius:4px;padding:3px;color:%text}"
        "QToolButton:hover{background:%hover}QToolButton:pressed{background:%accentsoft}"
        "QToolButton:checked{background:%accentsoft;color:%text}QToolButton:disabled{color:%"
        "disabled}"
        "QToolButton:focus{border-color:%accent}QToolButton::menu-indicator{image:none}"
        "QMenu{background:%raised;color:%text;border:1px solid %border;padding:4px}"
        "QMenu::item{padding:4px 24px 4px 24px;border-radius:3px}"
        "QMenu::item:selected{background:%accentsoft}QMenu::item:disabled{color:%disabled}"
        "QMenu::separator{height:1px;background:%border;margin:4px 8px}"
        "QTabBar::tab{background:transparent;color:%muted;padding:4px "
        "12px;border:0;border-bottom:2px solid transparent}"
        "QTabBar::tab:selected{color:%text;border-bottom-color:%accent}QTabBar::tab:hover{color:%"
        "text}"
        "QTabBar::tab:focus{color:%accent}"
        "QTabWidget::pane{border:0;border-top:1px solid %border}"
        "QLineEdit{background:%field;color:%text;border:1px solid "
        "%border;border-radius:4px;padding:2px 6px}"
        "QLineEdit:focus{border-color:%accent}"
        "QAbstractScrollArea{border:0}"
        "QScrollBar{background:transparent;border:0;margin:0}QScrollBar:vertical{width:10px}"
        "QScrollBar:horizontal{height:10px}"
        "QScrollBar::handle{background:%border;border-radius:3px;margin:2px}"
        "QScrollBar::handle:vertical{min-height:24px}QScrollBar::handle:horizontal{min-width:24px}"
        "QScrollBar::handle:hover{background:%muted}"
        "QScrollBar::add-line,QScrollBar::sub-line{width:0;height:0}"
        "QScrollBar::add-page,QScrollBar::sub-page{background:transparent}");
    const std::pair<const char*, Theme::Role> names[] = {
        {"%accentsoft", Theme::AccentSoft}, {"%accent", Theme::Accent}, {"%text", Theme::Text},
        {"%raised", Theme::Raised},         {"%border", Theme::Border}, {"%window", Theme::Window},
        {"%muted", Theme::Muted},           {"%field", Theme::Field},   {"%hover", Theme::Hover},
        {"%disabled", Theme::Disabled}};
    for (const auto& [name, role] : names) sheet.replace(QLatin1String(name), css(role));
    return sheet;
}

}  // namespace

Category categoryOf(storage::Phase phase) {
    switch (phase) {
        case storage::Phase::Data:
            return Category::Data;
        case storage::Phase::Forward:
            return Category::Forward;
        case storage::Phase::Backward:
            return Category::Backward;
        case storage::Phase::Optimizer:
            return Category::Optimizer;
        case storage::Phase::Evaluate:
            return Category::Evaluate;
        case storage::Phase::Other:
            break;
    }
    return Category::Other;
}

Theme& Theme::current() {
    static Theme theme;
    return theme;
}

Theme::Theme() {
    initResources();
    m_sans = firstFamily({QStringLiteral("Inter"), QStringLiteral("DejaVu Sans")},
                         QFontDatabase::GeneralFont);
    m_mono = firstFamily({QStringLiteral("JetBrains Mono"), QStringLiteral("DejaVu Sans Mono")},
                         QFontDatabase::FixedFont);
    m_sans.setPixelSize(13);
    m_mono.setPixelSize(12);
    build();
}

void Theme::build() {
    const auto& roles = dark() ? kDark : kLight;
    for (std::size_t i = 0; i < roles.size(); ++i) m_roles[i] = QColor::fromRgba(roles[i]);
    for (std::size_t i = 0; i < m_sequential.size(); ++i)
        m_sequential[i] = between(kViridis, static_cast<double>(i) / 255).rgb();
    const auto& stops = dark() ? kDivergingDark : kDivergingLight;
    for (std::size_t i = 0; i < m_diverging.size(); ++i)
        m_diverging[i] = between(stops, static_cast<double>(i) / 510).rgb();
}

void Theme::apply(Mode mode) {
    m_mode = mode;
    build();
    QApplication::setStyle(QStringLiteral("Fusion"));
    QApplication::setPalette(palette());
    QApplication::setFont(font());
    qApp->setStyleSheet(styleSheet(*this));
    emit changed();
}

void Theme::setTextScale(double scale) {
    scale = std::clamp(scale, 0.75, 2.0);
    if (scale == m_textScale) return;
    m_textScale = scale;
    apply(m_mode);
}

QColor Theme::color(Category category) const {
    const QColor neutral = m_roles[Muted];
    switch (category) {
        case Category::Forward:
            return QColor(kSkyBlue);
        case Category::Backward:
            return QColor(kOrange);
        case Category::Optimizer:
            return dark() ? QColor(0xff1fb48a) : QColor(kGreen);
        case Category::Data:
            return QColor(kPurple);
        case Category::Copy:
            return dark() ? QColor(0xff3f93d1) : QColor(kBlue);
        case Category::Evaluate:
            return mix(QColor(kSkyBlue), neutral, 0.55);
        case Category::Module:
            return mix(neutral, m_roles[Panel], dark() ? 0.45 : 0.5);
        case Category::Step:
            return mix(neutral, m_roles[Panel], dark() ? 0.6 : 0.65);
        case Category::Idle:
            return mix(m_roles[Border], m_roles[Panel], 0.4);
        case Category::Stopped:
            return dark() ? QColor(kYellow) : QColor(0xffd9c400);
        case Category::Error:
            return QColor(kVermillion);
        case Category::Other:
            break;
    }
    return mix(neutral, m_roles[Panel], 0.2);
}

QColor Theme::color(storage::MemoryRole role) const {
    using storage::MemoryRole;
    switch (role) {
        case MemoryRole::Parameter:
            return dark() ? QColor(0xff3f93d1) : QColor(kBlue);
        case MemoryRole::Buffer:
            return QColor(kSkyBlue);
        case MemoryRole::Gradient:
            return QColor(kOrange);
        case MemoryRole::OptimizerState:
            return dark() ? QColor(0xff1fb48a) : QColor(kGreen);
        case MemoryRole::Input:
            return QColor(kPurple);
        case MemoryRole::Activation:
            return dark() ? QColor(kYellow) : QColor(0xffd9c400);
        case MemoryRole::Saved:
            return QColor(kVermillion);
        case MemoryRole::Temporary:
            return mix(m_roles[Muted], m_roles[Panel], 0.3);
        case MemoryRole::Unknown:
            break;
    }
    return mix(m_roles[Muted], m_roles[Panel], 0.6);
}

QColor Theme::series(int i) const {
    // Yellow is too pale for a line on white and blue too dark on black: both are adapted to the
    // surface.
    const std::array<QRgb, 8> dark8{kSkyBlue,   kOrange,    0xff2cc99b, 0xffe58fbf,
                                    0xfff0e442, 0xff4f8ff0, 0xffff7a33, 0xffc4cad1};
    const std::array<QRgb, 8> light8{kBlue,   kVermillion, kGreen,     0xffb3568a,
                                     kOrange, 0xff3a9bd8,  0xff8a6d00, 0xff4a535d};
    const auto& colors = dark() ? dark8 : light8;
    const int n = static_cast<int>(colors.size());
    const QColor base(colors[static_cast<std::size_t>(((i % n) + n) % n)]);
    const int round = (i / n) % 3;
    return round == 0 ? base : mix(base, round == 1 ? m_roles[Text] : m_roles[Field], 0.4);
}

QColor Theme::textOn(const QColor& fill) {
    const auto linear = [](double c) {
        return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    const double luminance = 0.2126 * linear(fill.redF()) + 0.7152 * linear(fill.greenF()) +
                             0.0722 * linear(fill.blueF());
    // Equal WCAG contrast to black and white lies at 0.179.
    return luminance > 0.179 ? QColor(0xff101418) : QColor(Qt::white);
}

QColor Theme::mix(const QColor& a, const QColor& b, double share) {
    const auto part = [share](int x, int y) {
        return static_cast<int>(std::lround(x + (y - x) * share));
    };
    return {part(a.red(), b.red()), part(a.green(), b.green()), part(a.blue(), b.blue()),
            part(a.alpha(), b.alpha())};
}

QRgb Theme::sequential(double t) const {
    if (std::isnan(t)) return m_roles[NaN].rgb();
    return m_sequential[static_cast<std::size_t>(std::lround(std::clamp(t, 0.0, 1.0) * 255))];
}

QRgb Theme::diverging(double t) const {
    if (std::isnan(t)) return m_roles[NaN].rgb();
    return m_diverging[static_cast<std::size_t>(std::lround((std::clamp(t, -1.0, 1.0) + 1) * 255))];
}

QFont Theme::sized(const QFont& base, double factor) const {
    QFont font = base;
    font.setPixelSize(
        std::max(8, static_cast<int>(std::lround(base.pixelSize() * factor * m_textScale))));
    return font;
}

QFont Theme::font() const { return sized(m_sans, 1); }
QFont Theme::smallFont() const { return sized(m_sans, 0.85); }
QFont Theme::boldFont() const {
    QFont bold = font();
    bold.setWeight(QFont::DemiBold);
    return bold;
}
QFont Theme::monoFont() const { return sized(m_mono, 1); }
QFont Theme::smallMonoFont() const { return sized(m_mono, 0.92); }

QPalette Theme::palette() const {
    QPalette p;
    const auto set = [&](QPalette::ColorRole role, Role color) {
        p.setColor(role, m_roles[color]);
    };
    set(QPalette::Window, Window);
    set(QPalette::WindowText, Text);
    set(QPalette::Base, Field);
    set(QPalette::AlternateBase, Panel);
    set(QPalette::Text, Text);
    set(QPalette::PlaceholderText, Muted);
    set(QPalette::Button, Raised);
    set(QPalette::ButtonText, Text);
    set(QPalette::BrightText, Bad);
    set(QPalette::ToolTipBase, Raised);
    set(QPalette::ToolTipText, Text);
    set(QPalette::Highlight, Accent);
    set(QPalette::HighlightedText, OnAccent);
    set(QPalette::Link, Accent);
    set(QPalette::LinkVisited, Accent);
    p.setColor(QPalette::Light, mix(m_roles[Raised], Qt::white, dark() ? 0.08 : 0.6));
    p.setColor(QPalette::Midlight, mix(m_roles[Raised], m_roles[Border], 0.5));
    set(QPalette::Mid, Border);
    p.setColor(QPalette::Dark, mix(m_roles[Border], Qt::black, 0.25));
    p.setColor(QPalette::Shadow, Qt::black);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        p.setColor(QPalette::Disabled, role, m_roles[Disabled]);
    p.setColor(QPalette::Disabled, QPalette::Highlight, m_roles[Border]);
    return p;
}

}  // namespace tapescope::viewers
