// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/graph/graph_canvas.h"

#include "viewers/common/theme.h"
#include "viewers/graph/graph_painter.h"
#include "viewers/graph/graph_tooltip.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QResizeEvent>
#include <QSet>
#include <QToolTip>

#include <algorithm>

namespace tapescope::viewers {

namespace {

constexpr double kMinScale = 1e-4;
constexpr double kMaxScale = 4;
constexpr double kReadable = 0.55;  // a graph that fits above this is first shown whole
constexpr double kStartScale = 0.9;
constexpr double kMargin = 16;  // px around a fitted graph
constexpr double kMinimapWidth = 120;
constexpr double kMinimapHeight = 160;

const QSet<int> kPlainKeys{Qt::Key_F,     Qt::Key_F9,    Qt::Key_Plus,  Qt::Key_Minus,
                           Qt::Key_Equal, Qt::Key_Home,  Qt::Key_Up,    Qt::Key_Down,
                           Qt::Key_Left,  Qt::Key_Right, Qt::Key_Enter, Qt::Key_Return};
const QSet<int> kControlKeys{Qt::Key_F, Qt::Key_Plus, Qt::Key_Minus, Qt::Key_Equal};

}  // namespace

GraphCanvas::GraphCanvas(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setMinimumSize(120, 80);
    setAccessibleName(tr("Graph"));
    m_state.setStyle(themedSceneStyle());
    connect(&Theme::current(), &Theme::changed, this, [this] {
        m_state.setStyle(themedSceneStyle());
        sceneChanged();
    });
}

void GraphCanvas::setEmptyText(const QString& text) {
    m_emptyText = text;
    update();
}

QRectF GraphCanvas::visibleScene() const {
    return {m_origin, QSizeF(width() / m_scale, height() / m_scale)};
}

void GraphCanvas::sceneChanged() {
    m_minimap = {};
    m_hoverBox = -1;
    update();
}

void GraphCanvas::fit() {
    m_place = Place::Whole;
    const GraphScene& scene = m_state.scene();
    if (scene.width <= 0 || width() <= 0) return;
    const double x = (width() - 2 * kMargin) / scene.width;
    const double y = (height() - 2 * kMargin) / scene.height;
    m_scale = std::clamp(std::min({x, y, 1.25}), kMinScale, kMaxScale);
    m_origin = {(scene.width - width() / m_scale) / 2, (scene.height - height() / m_scale) / 2};
    update();
}

void GraphCanvas::showBeginning() {
    fit();
    m_place = Place::Beginning;
    if (m_scale >= kReadable) return;
    const GraphScene& scene = m_state.scene();
    m_scale = kStartScale;
    // The forward column's top: where execution begins.
    double left = 0;
    double columnWidth = scene.width;
    double top = 0;
    if (!scene.boxes.empty()) {
        left = scene.boxes.front().x;
        columnWidth = scene.boxes.front().width;
        top = scene.boxes.front().y;
    }
    const double visible = width() / m_scale;
    const double x = scene.width <= visible   ? (scene.width - visible) / 2
                     : columnWidth <= visible ? left - kMargin / m_scale
                                              : left + (columnWidth - visible) / 2;
    m_origin = {x, top - kMargin / m_scale};
    update();
}

void GraphCanvas::zoomBy(double factor, const QPointF& at) {
    const QPointF fixed = toScene(at);
    m_scale = std::clamp(m_scale * factor, kMinScale, kMaxScale);
    m_origin = fixed - at / m_scale;
    m_place = Place::Own;
    keepInside();
    update();
}

/// The graph can be pushed aside, never lost.
void GraphCanvas::keepInside() {
    const GraphScene& scene = m_state.scene();
    const double keepX = std::min(80.0, width() / 4.0) / m_scale;
    const double keepY = std::min(80.0, height() / 4.0) / m_scale;
    const auto limit = [](double v, double low, double high) {
        return std::clamp(v, std::min(low, high), std::max(low, high));
    };
    m_origin.setX(limit(m_origin.x(), keepX - width() / m_scale, scene.width - keepX));
    m_origin.setY(limit(m_origin.y(), keepY - height() / m_scale, scene.height - keepY));
}

void GraphCanvas::showBox(int box, bool centre) {
    const SceneBox& b = m_state.scene().boxes[box];
    if (m_scale < kReadable) {
        m_scale = kStartScale;
        centre = true;
    }
    const QRectF target(b.x, b.y, b.width, b.open ? 40 : b.height);
    const double margin = 48 / m_scale;
    const QRectF view = visibleScene();
    if (!centre && view.adjusted(margin, margin, -margin, -margin).contains(target)) return;
    m_origin = target.center() - QPointF(width(), height()) / (2 * m_scale);
    const GraphScene& scene = m_state.scene();
    // Where everything fits sideways, do not jump sideways.
    if (scene.width * m_scale <= width()) m_origin.setX((scene.width - width() / m_scale) / 2);
    m_place = Place::Own;
    update();
}

std::string GraphCanvas::boxKey(int box) const {
    const SceneBox& b = m_state.scene().boxes[box];
    if (b.group >= 0) return m_state.graph().groups[b.group].key;
    const ModuleGraphNode& node = m_state.graph().nodes[b.node];
    return node.seq >= 0 ? "#" + std::to_string(node.seq) : "=" + node.name;
}

int GraphCanvas::boxOfKey(const std::string& key) const {
    if (key.empty()) return -1;
    if (key[0] == '#') {
        const int node = m_state.nodeOf(static_cast<std::uint32_t>(std::stoul(key.substr(1))));
        return node >= 0 ? m_state.scene().boxOfNode[node] : -1;
    }
    if (key[0] == '=') {
        const auto& nodes = m_state.graph().nodes;
        const auto it = std::ranges::find_if(
            nodes, [&](const ModuleGraphNode& n) { return n.seq < 0 && n.name == key.substr(1); });
        return it == nodes.end() ? -1 : m_state.scene().boxOfNode[it - nodes.begin()];
    }
    const auto& groups = m_state.graph().groups;
    const auto it = std::ranges::find(groups, key, &GraphGroup::key);
    return it == groups.end() ? -1 : m_state.scene().boxOfGroup[it - groups.begin()];
}

GraphCanvas::Anchor GraphCanvas::anchorAt(int box) const {
    if (box < 0) {
        // What is in the middle of the view.
        const QPointF middle = visibleScene().center();
        box = m_state.boxAt(middle);
    }
    if (box < 0) return {};
    const SceneBox& b = m_state.scene().boxes[box];
    return {boxKey(box), toWidget({b.x + b.width / 2, b.upward && !b.open ? b.y + b.height : b.y})};
}

void GraphCanvas::restore(const Anchor& anchor) {
    if (m_place != Place::Own) {
        m_place == Place::Whole ? fit() : showBeginning();
        return;
    }
    const int box = boxOfKey(anchor.key);
    if (box < 0) return;
    const SceneBox& b = m_state.scene().boxes[box];
    const QPointF now = toWidget({b.x + b.width / 2, b.upward && !b.open ? b.y + b.height : b.y});
    m_origin += (now - anchor.at) / m_scale;
    update();
}

void GraphCanvas::toggleGroup(int group) {
    if (m_state.graph().groups[group].kind == GraphGroup::Kind::Column) return;
    const int box = m_state.scene().boxOfGroup[group];
    const SceneBox& before = m_state.scene().boxes[box];
    // The title stays under the pointer, whether the group opens or closes.
    const std::string key = boxKey(box);
    const QPointF at = toWidget({before.x + before.width / 2, before.y});
    m_state.setOpen(group, !m_state.isOpen(group));
    const int after = boxOfKey(key);
    if (after >= 0) {
        const SceneBox& b = m_state.scene().boxes[after];
        m_origin += (toWidget({b.x + b.width / 2, b.y}) - at) / m_scale;
    }
    m_place = Place::Own;
    keepInside();
    sceneChanged();
}

void GraphCanvas::choose(int box) {
    int node = -1;
    int group = -1;
    if (box >= 0) {
        const SceneBox& b = m_state.scene().boxes[box];
        node = b.node;
        group = b.group;
        if (group >= 0 && m_state.graph().groups[group].kind == GraphGroup::Kind::Column)
            group = -1;
    }
    m_state.select(node, group);
    update();
    emit chosen(node, group);
}

bool GraphCanvas::event(QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride) {
        // Our own keys win over the window's while the graph has the focus.
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool plain = (key->modifiers() & ~Qt::KeypadModifier) == Qt::NoModifier;
        const bool ours =
            plain ? kPlainKeys.contains(key->key())
                  : key->modifiers() == Qt::ControlModifier && kControlKeys.contains(key->key());
        if (ours) event->accept();
        return ours || QWidget::event(event);
    }
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const QPointF at = toScene(help->pos());
    const int box = minimapShown() && minimapRect().contains(help->pos()) ? -1 : m_state.boxAt(at);
    QString text;
    if (box >= 0) {
        const SceneBox& b = m_state.scene().boxes[box];
        const int chip = GraphState::chipAt(b, at);
        if (chip >= 0) {
            text = chipToolTip(m_state, b.chips[chip]);
        } else if (!b.open || contentRect(b).contains(at)) {
            text = boxToolTip(m_state, box);
        }
    }
    QToolTip::showText(help->globalPos(), text, this);
    return true;
}

void GraphCanvas::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.fillRect(rect(), theme.color(Theme::Window));
    if (m_state.empty()) {
        paintEmpty(painter);
    } else {
        painter.save();
        painter.scale(m_scale, m_scale);
        painter.translate(-m_origin);
        GraphPaintOptions options;
        options.visible = visibleScene();
        options.scale = m_scale;
        options.hoverBox = m_hoverBox;
        options.hoverDot = m_hoverDot;
        paintGraph(painter, m_state, options);
        painter.restore();
        paintLegend(painter);
        if (minimapShown()) paintMinimap(painter);
    }
    if (hasFocus()) {
        painter.setPen(theme.color(Theme::Accent));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void GraphCanvas::paintEmpty(QPainter& painter) const {
    painter.setFont(Theme::current().font());
    painter.setPen(Theme::current().color(Theme::Muted));
    painter.drawText(rect().adjusted(24, 24, -24, -24), Qt::AlignCenter | Qt::TextWordWrap,
                     m_emptyText);
}

void GraphCanvas::paintLegend(QPainter& painter) const {
    if (m_state.heat() == GraphHeat::Kind) return;
    const Theme& theme = Theme::current();
    const QString most = heatText(m_state.heat(), m_state.heatMax());
    const QFontMetricsF metrics(theme.smallFont());
    const double bar = 96;
    const QRectF box(8, height() - 8 - metrics.height() - 8,
                     bar + metrics.horizontalAdvance(most) + metrics.horizontalAdvance(u'0') + 32,
                     metrics.height() + 8);
    painter.setPen(theme.color(Theme::Border));
    painter.setBrush(theme.color(Theme::Raised));
    painter.drawRoundedRect(box, 4, 4);
    painter.setFont(theme.smallFont());
    painter.setPen(theme.color(Theme::Text));
    double x = box.left() + 8;
    painter.drawText(QRectF(x, box.top(), 20, box.height()), Qt::AlignVCenter, QStringLiteral("0"));
    x += metrics.horizontalAdvance(u'0') + 8;
    for (int i = 0; i < static_cast<int>(bar); ++i) {
        painter.fillRect(QRectF(x + i, box.top() + 6, 1, box.height() - 12),
                         QColor::fromRgb(theme.sequential(i / bar)));
    }
    painter.drawText(QRectF(x + bar + 8, box.top(), box.width(), box.height()), Qt::AlignVCenter,
                     most);
}

bool GraphCanvas::minimapShown() const {
    if (m_state.empty() || width() < 360 || height() < 280) return false;
    const QRectF all(0, 0, m_state.scene().width, m_state.scene().height);
    return !visibleScene().contains(all);
}

QRectF GraphCanvas::minimapRect() const {
    // Strips are squeezed: a deep model is hundreds of times taller than wide.
    const GraphScene& scene = m_state.scene();
    const double aspect = scene.width / std::max(1.0, scene.height);
    const double w = std::clamp(kMinimapHeight * aspect, 40.0, kMinimapWidth);
    const double h = std::clamp(kMinimapWidth / aspect, 40.0, kMinimapHeight);
    return {width() - w - 12, height() - h - 12, w, h};
}

void GraphCanvas::paintMinimap(QPainter& painter) {
    const Theme& theme = Theme::current();
    const GraphScene& scene = m_state.scene();
    const QRectF area = minimapRect();
    const double ratio = devicePixelRatioF();
    const QSize size = (area.size() * ratio).toSize();
    const double sx = area.width() / scene.width;
    const double sy = area.height() / scene.height;
    if (m_minimap.size() != size) {
        m_minimap = QPixmap(size);
        m_minimap.setDevicePixelRatio(ratio);
        m_minimap.fill(theme.color(Theme::Panel));
        QPainter p(&m_minimap);
        for (const SceneBox& box : scene.boxes) {
            QColor color = Theme::mix(theme.color(Theme::Panel), theme.color(Theme::Text), 0.07);
            if (!box.open)
                color = Theme::mix(theme.color(Theme::Panel),
                                   theme.color(box.upward ? Category::Backward : Category::Forward),
                                   0.5);
            p.fillRect(QRectF(box.x * sx, box.y * sy, std::max(1.0, box.width * sx),
                              std::max(0.5, box.height * sy)),
                       color);
        }
    }
    painter.drawPixmap(area.topLeft(), m_minimap);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(theme.color(Theme::Border));
    painter.drawRect(area);
    const int node = m_state.current() ? m_state.nodeOf(*m_state.current()) : -1;
    if (node >= 0) {
        const SceneBox& box = scene.boxes[scene.boxOfNode[node]];
        const QPointF c(area.left() + (box.x + box.width / 2) * sx,
                        area.top() + (box.y + box.height / 2) * sy);
        painter.fillRect(QRectF(c - QPointF(2, 2), QSizeF(4, 4)), theme.color(Category::Stopped));
    }
    const QRectF view = visibleScene();
    QRectF frame(area.left() + view.left() * sx, area.top() + view.top() * sy, view.width() * sx,
                 view.height() * sy);
    frame = frame.intersected(area);
    if (frame.height() < 3) frame.adjust(0, -1.5, 0, 1.5);
    painter.setPen(theme.color(Theme::Accent));
    painter.setBrush(theme.color(Theme::AccentSoft));
    painter.drawRect(frame);
}

void GraphCanvas::minimapTo(const QPointF& pos) {
    const QRectF area = minimapRect();
    const GraphScene& scene = m_state.scene();
    const QPointF centre((pos.x() - area.left()) / area.width() * scene.width,
                         (pos.y() - area.top()) / area.height() * scene.height);
    m_origin = centre - QPointF(width(), height()) / (2 * m_scale);
    m_place = Place::Own;
    keepInside();
    update();
}

void GraphCanvas::resizeEvent(QResizeEvent* event) {
    if (m_place == Place::Beginning) showBeginning();
    if (m_place == Place::Whole) fit();
    if (m_place == Place::Own && event->oldSize().isValid()) {
        const QSize grown = event->size() - event->oldSize();
        m_origin -= QPointF(grown.width(), grown.height()) / (2 * m_scale);
        keepInside();
    }
}

}  // namespace tapescope::viewers
