// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/common/theme.h"
#include "viewers/graph/graph_painter.h"

#include <QCoreApplication>
#include <QFontMetricsF>

#include <memory>
#include <unordered_map>

namespace tapescope::viewers {

namespace {

constexpr double kMaxTextWidth = 260;

struct GraphTexts {
    Q_DECLARE_TR_FUNCTIONS(tapescope::viewers::GraphTexts)
};

/// Widths repeat a lot: 20 000 operators have a few dozen names.
class TextMeasure {
public:
    explicit TextMeasure(const QFont& font) : m_metrics(font) {}
    struct Fitted {
        std::string text;
        double width;
    };
    const Fitted& fit(const std::string& text) {
        const auto [it, isNew] = m_known.try_emplace(text);
        if (isNew) {
            const QString shown =
                m_metrics.elidedText(QString::fromStdString(text), Qt::ElideMiddle, kMaxTextWidth);
            it->second = {shown.toStdString(), m_metrics.horizontalAdvance(shown)};
        }
        return it->second;
    }
    double height() const { return m_metrics.height(); }

private:
    QFontMetricsF m_metrics;
    std::unordered_map<std::string, Fitted> m_known;
};

QString columnTitle(GraphColumn column) {
    switch (column) {
        case GraphColumn::Forward:
            break;
        case GraphColumn::Backward:
            return GraphTexts::tr("Backward");
        case GraphColumn::Optimizer:
            return GraphTexts::tr("Optimizer");
    }
    return GraphTexts::tr("Forward");
}

QString groupTitle(const GraphGroup& group) {
    switch (group.kind) {
        case GraphGroup::Kind::Column:
            return columnTitle(group.column);
        case GraphGroup::Kind::Fold:
            break;
        case GraphGroup::Kind::Backward:
            return GraphTexts::tr("%1 gradient").arg(QString::fromStdString(group.name));
        case GraphGroup::Kind::Module:
            break;
    }
    return QString::fromStdString(group.name);
}

QString groupSubtitle(const GraphGroup& group) {
    const QString operators = group.operators == 1
                                  ? GraphTexts::tr("1 operator")
                                  : GraphTexts::tr("%1 operators").arg(group.operators);
    if (group.kind == GraphGroup::Kind::Fold) {
        return QStringLiteral("%1× %2 · %3")
            .arg(group.members)
            .arg(QString::fromStdString(group.type), operators);
    }
    if (group.kind == GraphGroup::Kind::Backward || group.type.empty()) return operators;
    return QStringLiteral("%1 · %2").arg(QString::fromStdString(group.type), operators);
}

}  // namespace

SceneStyle themedSceneStyle() {
    const Theme& theme = Theme::current();
    const auto normal = std::make_shared<TextMeasure>(theme.font());
    const auto bold = std::make_shared<TextMeasure>(theme.boldFont());
    const auto small = std::make_shared<TextMeasure>(theme.smallFont());
    SceneStyle style;
    style.lineHeight = normal->height();
    style.groupText = [bold, small](const GraphGroup& group) {
        const TextMeasure::Fitted title = bold->fit(groupTitle(group).toStdString());
        const TextMeasure::Fitted subtitle = small->fit(groupSubtitle(group).toStdString());
        return BoxText{title.text, subtitle.text, std::max(title.width, subtitle.width)};
    };
    style.nodeText = [normal, small](const ModuleGraphNode& node) {
        const TextMeasure::Fitted& label = (node.seq < 0 ? small : normal)->fit(node.label);
        return BoxText{label.text, {}, label.width};
    };
    style.smallWidth = [small](const std::string& text) { return small->fit(text).width; };
    return style;
}

}  // namespace tapescope::viewers
