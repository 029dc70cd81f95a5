// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/curves/chart_grouping.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace tapescope::viewers {
namespace {

constexpr std::array kTraining{"train", "training"};
constexpr std::array kHeldOut{"val",  "valid",    "validation", "test",
                              "eval", "evaluate", "evaluation"};

template <class Names>
bool startsWithOne(const Names& names, const QString& tag) {
    return std::any_of(names.begin(), names.end(), [&tag](const char* name) {
        const QLatin1String prefix(name);
        return tag.size() > prefix.size() && tag.startsWith(prefix, Qt::CaseInsensitive) &&
               tag[prefix.size()] == u'/';
    });
}

/// What people look at first stands first.
int rank(const QString& title) {
    if (title.compare(QLatin1String("loss"), Qt::CaseInsensitive) == 0) return 0;
    if (title.contains(QLatin1String("loss"), Qt::CaseInsensitive)) return 1;
    if (title.contains(QLatin1String("acc"), Qt::CaseInsensitive)) return 2;
    return 3;
}

}  // namespace

bool isHeldOut(const QString& tag) { return startsWithOne(kHeldOut, tag); }

QString defaultChart(const QString& tag) {
    if (startsWithOne(kTraining, tag) || isHeldOut(tag)) return tag.mid(tag.indexOf(u'/') + 1);
    return tag;
}

std::vector<ChartPlan> planCharts(QStringList tags, const QHash<QString, QString>& chosen) {
    tags.removeDuplicates();
    // Training before held-out within a chart: it gets the first colour.
    std::sort(tags.begin(), tags.end(), [](const QString& a, const QString& b) {
        return std::tuple(isHeldOut(a), a) < std::tuple(isHeldOut(b), b);
    });
    std::vector<ChartPlan> plans;
    for (const QString& tag : tags) {
        const QString title = chosen.value(tag, defaultChart(tag));
        const auto found = std::find_if(plans.begin(), plans.end(),
                                        [&](const ChartPlan& p) { return p.title == title; });
        if (found != plans.end()) {
            found->tags << tag;
        } else {
            plans.push_back({title, {tag}});
        }
    }
    std::stable_sort(plans.begin(), plans.end(), [](const ChartPlan& a, const ChartPlan& b) {
        return std::tuple(rank(a.title), a.title) < std::tuple(rank(b.title), b.title);
    });
    return plans;
}

}  // namespace tapescope::viewers
