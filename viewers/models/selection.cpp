// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/models/selection.h"

namespace tapescope::viewers {

void Selection::setTimeRange(const TimeRange& range) {
    if (range == m_timeRange) return;
    m_timeRange = range;
    emit timeRangeChanged();
}

void Selection::setStep(std::int64_t step) {
    if (step == m_step) return;
    m_step = step;
    emit stepChanged();
}

void Selection::setOp(const OpRef& op) {
    if (op == m_op) return;
    m_op = op;
    emit opChanged();
}

void Selection::setModulePath(const QString& path) {
    if (path == m_modulePath) return;
    m_modulePath = path;
    emit modulePathChanged();
}

void Selection::setSite(const SiteRef& site) {
    if (site == m_site) return;
    m_site = site;
    emit siteChanged();
}

void Selection::setTensor(const QString& name) {
    if (name == m_tensor) return;
    m_tensor = name;
    emit tensorChanged();
}

void Selection::setTag(const QString& tag) {
    if (tag == m_tag) return;
    m_tag = tag;
    emit tagChanged();
}

void Selection::setRun(const QString& path) {
    if (path == m_run) return;
    m_run = path;
    emit runChanged();
}

void Selection::clear() {
    setOp({});
    setModulePath({});
    setSite({});
    setTensor({});
    setTimeRange({});
}

}  // namespace tapescope::viewers
