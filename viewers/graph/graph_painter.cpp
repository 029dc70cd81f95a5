// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/graph/graph_painter.h"

#include "viewers/common/theme.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>

namespace tapescope::viewers {

namespace {

constexpr double kLabelScale = 0.6;
constexpr double kMinGroupPixels = 3;
constexpr double kDotSize = 9;
constexpr double kArrow = 4;
constexpr double kRadius = 4;
constexpr double kMaxLabel = 280;
constexpr double kOverviewText = 11;  // px on the screen, where boxes are too small for theirs

QString text(const std::string& s) { return QString::fromStdString(s); }

storage::Phase phaseOf(GraphColumn column) {
    switch (column) {
        case GraphColumn::Forward:
            break;
        case GraphColumn::Backward:
            return storage::Phase::Backward;
        case GraphColumn::Optimizer:
            return storage::Phase::Optimizer;
    }
    return storage::Phase::Forward;
}

class Painter {
public:
    Painter(QPainter& painter, const GraphState& state, const GraphPaintOptions& options)
        : m_p(painter),
          m_state(state),
          m_scene(state.scene()),
          m_options(options),
          m_theme(Theme::current()),
          m_withText(options.scale >= kTextScale) {}

    void paint() {
        std::vector<int> groups;
        std::vector<int> boxes;
        m_state.boxIndex().query(m_options.visible, [&](int i) {
            const SceneBox& box = m_scene.boxes[i];
            if (!box.open) {
                boxes.push_back(i);
            } else if (box.width * m_options.scale >= kMinGroupPixels) {
                groups.push_back(i);
            }
        });
        std::ranges::sort(groups);  // outer ones first
        m_p.setRenderHint(QPainter::Antialiasing, m_withText);
        for (const int i : groups) paintOpenGroup(i);
        paintLines();
        for (const int i : boxes) paintBox(i);
        if (m_options.scale >= kLabelScale) {
            for (const int i : boxes) paintOutput(m_scene.boxes[i]);
        }
        if (!m_withText) {
            for (const int i : groups) paintOverviewName(i);
            for (const int i : boxes) paintOverviewName(i);
        }
        if (m_options.marks) {
            for (const int i : groups) paintOutline(i);
            for (const int i : boxes) paintOutline(i);
        }
    }

private:
    /// Long text of chips and labels, shortened; short text costs nothing.
    QString fitted(const std::string& s, double width) const {
        const QString whole = text(s);
        return s.size() < 20
                   ? whole
                   : m_p.fontMetrics().elidedText(whole, Qt::ElideMiddle, static_cast<int>(width));
    }

    static QRectF rect(const SceneBox& box) { return {box.x, box.y, box.width, box.height}; }

    QColor accentOf(const SceneBox& box) const {
        const ModuleGraph& graph = m_state.graph();
        if (box.group >= 0) return m_theme.color(phaseOf(graph.groups[box.group].column));
        const storage::GraphNode* op = m_state.operatorAt(box.node);
        if (op == nullptr) return m_theme.color(storage::MemoryRole::Parameter);
        return m_theme.color(op->phase);
    }

    QPen pen(const QColor& color, double width = 1) const {
        QPen result(color, width);
        result.setCosmetic(true);
        return result;
    }

    bool waiting(const BoxMark& mark) const {
        return m_options.marks && mark.ran <= 0 && !mark.current;
    }

    void paintOpenGroup(int i) {
        const SceneBox& box = m_scene.boxes[i];
        const GraphGroup& group = m_state.graph().groups[box.group];
        const bool column = group.kind == GraphGroup::Kind::Column;
        const double depth = m_state.graph().depth(box.group);
        const QColor base = m_theme.color(Theme::Panel);
        QColor border = column ? m_theme.color(Theme::Border)
                               : Theme::mix(m_theme.color(Theme::Border), accentOf(box), 0.25);
        m_p.setPen(pen(border));
        m_p.setBrush(Theme::mix(base, m_theme.color(Theme::Text), 0.025 * std::min(depth, 6.0)));
        if (m_withText) {
            m_p.drawRoundedRect(rect(box), kRadius, kRadius);
            const QRectF content = contentRect(box);
            m_p.setFont(m_theme.boldFont());
            m_p.setPen(column ? accentOf(box) : m_theme.color(Theme::Muted));
            m_p.drawText(content.adjusted(22, 0, -22, 0), Qt::AlignVCenter | Qt::AlignLeft,
                         text(box.text.title));
            paintDot(i);
            if (!column) paintOpener(box, false);
        } else {
            m_p.drawRect(rect(box));
        }
    }

    void paintLines() {
        const QColor normal =
            Theme::mix(m_theme.color(Theme::Border), m_theme.color(Theme::Muted), 0.6);
        const QColor lit = m_theme.color(Theme::Accent);
        m_p.setBrush(Qt::NoBrush);
        QVector<QLineF> straight;
        std::vector<int> litLines;
        m_p.setPen(pen(normal));
        m_state.lineIndex().query(m_options.visible, [&](int i) {
            if (m_options.marks && m_state.litLines()[i]) {
                litLines.push_back(i);
            } else if (!m_withText) {
                const std::vector<LayoutPoint>& points = m_scene.lines[i].points;
                for (std::size_t k = 1; k < points.size(); ++k) {
                    straight << QLineF(points[k - 1].x, points[k - 1].y, points[k].x, points[k].y);
                }
            } else {
                paintCurve(m_scene.lines[i], normal, 1);
            }
        });
        if (!straight.isEmpty()) m_p.drawLines(straight);
        for (const int i : litLines) paintCurve(m_scene.lines[i], lit, 2);
    }

    void paintCurve(const SceneLine& line, const QColor& color, double width) {
        const std::vector<LayoutPoint>& points = line.points;
        QPainterPath path(QPointF(points[0].x, points[0].y));
        for (std::size_t k = 1; k < points.size(); ++k) {
            const LayoutPoint& a = points[k - 1];
            const LayoutPoint& b = points[k];
            if (a.x == b.x) {
                path.lineTo(b.x, b.y);
            } else {
                const double bend = (b.y - a.y) * 0.5;
                path.cubicTo(a.x, a.y + bend, b.x, b.y - bend, b.x, b.y);
            }
        }
        m_p.setPen(pen(color, width));
        m_p.setBrush(Qt::NoBrush);
        m_p.drawPath(path);
        if (!line.arrow || m_options.scale < kLabelScale) return;
        const double back = line.upward ? kArrow * 1.5 : -kArrow * 1.5;
        const QPointF tip(points.back().x, points.back().y);
        const QPointF head[] = {tip, tip + QPointF(-kArrow * 0.75, back),
                                tip + QPointF(kArrow * 0.75, back)};
        m_p.setPen(Qt::NoPen);
        m_p.setBrush(color);
        m_p.drawPolygon(head, 3);
    }

    QColor fillOf(const SceneBox& box, const BoxMark& mark) const {
        if (m_state.heat() != GraphHeat::Kind) {
            if (mark.heat >= 0) return QColor::fromRgb(m_theme.sequential(mark.heat));
            return m_theme.color(Theme::Raised);
        }
        const double tint = !m_withText ? 0.6 : box.group >= 0 ? 0.22 : 0.13;
        return Theme::mix(m_theme.color(Theme::Raised), accentOf(box), tint);
    }

    void paintBox(int i) {
        const SceneBox& box = m_scene.boxes[i];
        const BoxMark& mark = m_state.marks()[i];
        QColor fill = fillOf(box, mark);
        QColor border = Theme::mix(m_theme.color(Theme::Border), accentOf(box), 0.55);
        const bool heated = m_state.heat() != GraphHeat::Kind && mark.heat >= 0;
        QColor ink = heated ? Theme::textOn(fill) : m_theme.color(Theme::Text);
        if (waiting(mark)) {
            fill = Theme::mix(m_theme.color(Theme::Panel), fill, heated ? 0.4 : 0.15);
            border = Theme::mix(m_theme.color(Theme::Panel), border, 0.45);
            ink = m_theme.color(Theme::Disabled);
        }
        if (m_options.marks && mark.current && !heated) {
            fill = Theme::mix(fill, m_theme.color(Category::Stopped), 0.35);
        }
        if (!m_withText) {
            m_p.fillRect(rect(box), fill);
            return;
        }
        const bool leaf = box.group < 0 && m_state.operatorAt(box.node) == nullptr;
        m_p.setPen(pen(border));
        m_p.setBrush(fill);
        const double radius = leaf ? box.height / 2 : kRadius;
        if (box.group >= 0) {
            // A second sheet behind says that there is more inside.
            const double shift = box.upward ? -3 : 3;
            m_p.drawRoundedRect(rect(box).adjusted(3, shift, 3, shift), radius, radius);
        }
        m_p.drawRoundedRect(rect(box), radius, radius);
        paintChips(box, ink, fill);
        paintContent(i, ink, leaf);
        if (m_options.marks && mark.ran > 0 && mark.ran < 1) {
            const QRectF r = rect(box);
            m_p.fillRect(
                QRectF(r.left() + kRadius, r.bottom() - 3, (r.width() - 2 * kRadius) * mark.ran, 2),
                accentOf(box));
        }
    }

    void paintContent(int i, const QColor& ink, bool leaf) {
        const SceneBox& box = m_scene.boxes[i];
        const QRectF content = contentRect(box);
        m_p.setPen(ink);
        if (leaf) {
            m_p.setFont(m_theme.smallFont());
            m_p.drawText(content, Qt::AlignCenter, text(box.text.title));
            return;
        }
        m_p.setFont(box.group >= 0 ? m_theme.boldFont() : m_theme.font());
        const QRectF line = content.adjusted(22, 0, box.group >= 0 ? -22 : -4, 0);
        if (box.text.subtitle.empty()) {
            m_p.drawText(line, Qt::AlignVCenter | Qt::AlignLeft, text(box.text.title));
        } else {
            m_p.drawText(line.adjusted(0, 4, 0, -line.height() / 2),
                         Qt::AlignVCenter | Qt::AlignLeft, text(box.text.title));
            m_p.setFont(m_theme.smallFont());
            m_p.setPen(Theme::mix(ink, m_theme.color(Theme::Muted), 0.5));
            if (m_state.heat() != GraphHeat::Kind) m_p.setPen(ink);
            m_p.drawText(line.adjusted(0, line.height() / 2, 0, -3),
                         Qt::AlignVCenter | Qt::AlignLeft, text(box.text.subtitle));
        }
        paintDot(i);
        if (box.group >= 0) paintOpener(box, true);
    }

    void paintChips(const SceneBox& box, const QColor& ink, const QColor& fill) {
        if (box.chips.empty()) return;
        m_p.setFont(m_theme.smallFont());
        for (const SceneChip& chip : box.chips) {
            const QRectF r(chip.x, chip.y, chip.width, chip.height);
            m_p.setPen(Qt::NoPen);
            m_p.setBrush(Theme::mix(fill, ink, 0.14));
            m_p.drawRoundedRect(r, r.height() / 2, r.height() / 2);
            m_p.setPen(Theme::mix(ink, fill, 0.2));
            m_p.drawText(r, Qt::AlignCenter, fitted(chip.label, chip.width - 6));
        }
    }

    void paintDot(int i) {
        const SceneBox& box = m_scene.boxes[i];
        const QRectF area = dotRect(box);
        if (area.isEmpty()) return;
        const BoxMark& mark = m_state.marks()[i];
        const QPointF centre = area.center();
        const bool hovered = m_options.hoverDot && m_options.hoverBox == i;
        const QColor red =
            mark.dotEnabled ? m_theme.color(Theme::Bad) : m_theme.color(Theme::Disabled);
        if (mark.dot != PlaceMatch::None) {
            const double radius = mark.dot == PlaceMatch::Exact ? kDotSize / 2 : kDotSize / 3;
            m_p.setPen(pen(red, 1.5));
            m_p.setBrush(mark.dotVerified ? QBrush(red) : QBrush(Qt::NoBrush));
            m_p.drawEllipse(centre, radius, radius);
        } else if (mark.dotInside) {
            m_p.setPen(pen(red, 1.5));
            m_p.setBrush(Qt::NoBrush);
            m_p.drawEllipse(centre, kDotSize / 3, kDotSize / 3);
        } else if (hovered && m_options.marks) {
            QColor faint = m_theme.color(Theme::Bad);
            faint.setAlphaF(0.4F);
            m_p.setPen(Qt::NoPen);
            m_p.setBrush(faint);
            m_p.drawEllipse(centre, kDotSize / 2, kDotSize / 2);
        }
        if (!mark.current || !m_options.marks) return;
        // Before the operator the arrow points at it; behind it, it has passed.
        const QColor arrow = m_theme.color(Category::Stopped);
        const double x = m_state.currentAfter() ? box.x + box.width - 12 : centre.x() - 4;
        const QPointF triangle[] = {{x, centre.y() - 5}, {x + 9, centre.y()}, {x, centre.y() + 5}};
        m_p.setPen(pen(Theme::textOn(arrow), 0.5));
        m_p.setBrush(arrow);
        m_p.drawPolygon(triangle, 3);
    }

    void paintOpener(const SceneBox& box, bool plus) {
        const QPointF c = openerRect(box).center();
        m_p.setPen(pen(m_theme.color(Theme::Muted), 1.5));
        m_p.drawLine(c - QPointF(4, 0), c + QPointF(4, 0));
        if (plus) m_p.drawLine(c - QPointF(0, 4), c + QPointF(0, 4));
    }

    void paintOutput(const SceneBox& box) {
        if (!box.hasReaders || box.output.empty()) return;
        const QFont font = m_theme.smallFont();
        m_p.setFont(font);
        m_p.setPen(m_theme.color(Theme::Muted));
        const double height = QFontMetricsF(font).height();
        const double sheet = box.group >= 0 ? 4 : 1;
        const QString label = fitted(box.output, kMaxLabel);
        const QRectF area(box.x + box.width / 2 + 5,
                          box.upward ? box.y - height - sheet : box.y + box.height + sheet,
                          m_p.fontMetrics().horizontalAdvance(label) + 2, height);
        QColor halo = m_theme.color(Theme::Panel);
        halo.setAlphaF(0.7F);
        m_p.fillRect(area, halo);  // edges that leave sideways pass behind
        m_p.drawText(area, Qt::AlignLeft | Qt::AlignVCenter, label);
    }

    void paintOverviewName(int i) {
        const SceneBox& box = m_scene.boxes[i];
        if (box.group < 0) return;
        const double s = m_options.scale;
        const QRectF r(box.x * s, box.y * s, box.width * s, box.height * s);
        if (r.width() < 60 || r.height() < kOverviewText + 3) return;
        m_p.save();
        m_p.scale(1 / s, 1 / s);
        QFont font = m_theme.smallFont();
        font.setPixelSize(static_cast<int>(kOverviewText));
        m_p.setFont(font);
        const BoxMark& mark = m_state.marks()[i];
        const QColor fill = fillOf(box, mark);
        m_p.setPen(box.open        ? m_theme.color(Theme::Muted)
                   : waiting(mark) ? m_theme.color(Theme::Muted)
                                   : Theme::textOn(fill));
        const QString name =
            QFontMetricsF(font).elidedText(text(box.text.title), Qt::ElideMiddle, r.width() - 8);
        m_p.drawText(r.adjusted(4, 1, -4, -1),
                     (box.open ? Qt::AlignTop : Qt::AlignVCenter) | Qt::AlignLeft, name);
        m_p.restore();
    }

    /// Frames that must be seen from any distance: grown to at least a few pixels.
    void paintOutline(int i) {
        const SceneBox& box = m_scene.boxes[i];
        const BoxMark& mark = m_state.marks()[i];
        QColor color;
        double width = 2;
        if (mark.current) {
            color = m_theme.color(Category::Stopped);
        } else if (mark.selected) {
            color = m_theme.color(Theme::Accent);
        } else if (mark.activeMatch) {
            color = m_theme.color(Theme::Warning);
            width = 3;
        } else if (mark.neighbour || mark.match) {
            color = m_theme.color(mark.neighbour ? Theme::Accent : Theme::Warning);
            width = 1.5;
        } else if (m_options.hoverBox == i && !box.open && m_withText) {
            color = m_theme.color(Theme::Muted);
            width = 1;
        } else {
            return;
        }
        const double least =
            (mark.current || mark.selected || mark.activeMatch ? 8 : 4) / m_options.scale;
        QRectF r = rect(box);
        const double growX = std::max(0.0, least - r.width()) / 2;
        const double growY = std::max(0.0, least - r.height()) / 2;
        r.adjust(-growX, -growY, growX, growY);
        m_p.setBrush(Qt::NoBrush);
        m_p.setPen(pen(color, width));
        const bool leaf = box.group < 0 && m_state.operatorAt(box.node) == nullptr;
        const double radius = !m_withText ? 0 : leaf ? r.height() / 2 : kRadius;
        m_p.drawRoundedRect(r, radius, radius);
        if (mark.current && mark.selected) {
            m_p.setPen(pen(m_theme.color(Theme::Accent), 1));
            const double out = 3 / m_options.scale;
            m_p.drawRoundedRect(r.adjusted(-out, -out, out, out), radius, radius);
        }
    }

    QPainter& m_p;
    const GraphState& m_state;
    const GraphScene& m_scene;
    const GraphPaintOptions& m_options;
    const Theme& m_theme;
    const bool m_withText;
};

}  // namespace

void paintGraph(QPainter& painter, const GraphState& state, const GraphPaintOptions& options) {
    Painter(painter, state, options).paint();
}

QRectF contentRect(const SceneBox& box) {
    QRectF r(box.x, box.y, box.width, box.height);
    if (box.open) {
        r.setHeight(std::min(r.height(), QFontMetricsF(Theme::current().boldFont()).height() + 8));
        return r;
    }
    if (box.chips.empty()) return r;
    const SceneChip& chip = box.chips.front();
    if (chip.y - box.y < box.height / 2) {
        r.setTop(chip.y + chip.height);
    } else {
        r.setBottom(chip.y);
    }
    return r;
}

QRectF dotRect(const SceneBox& box) {
    QRectF r = contentRect(box);
    r.setWidth(22);
    return r;
}

QRectF openerRect(const SceneBox& box) {
    QRectF r = contentRect(box);
    r.setLeft(r.right() - 22);
    return r;
}

}  // namespace tapescope::viewers
