// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/timeline/timeline_view.h"

#include "viewers/common/empty_state.h"
#include "viewers/common/picture.h"
#include "viewers/timeline/timeline_canvas.h"
#include "viewers/timeline/timeline_details.h"
#include "viewers/timeline/timeline_view_impl.h"

#include <QDataStream>
#include <QImage>
#include <QLineEdit>
#include <QSaveFile>
#include <QSplitter>
#include <QTextStream>

namespace tapescope::viewers {
namespace {

constexpr int kStateVersion = 1;

}  // namespace

TimelineView::TimelineView(Selection* selection, QWidget* parent)
    : QWidget(parent), m_impl(std::make_unique<Impl>(this, selection)) {
    setObjectName(QStringLiteral("timelineView"));
    setFocusProxy(m_impl->canvas);
}

TimelineView::~TimelineView() = default;

void TimelineView::setSession(TapeSession* session) { m_impl->setSession(session); }
void TimelineView::setData(TimelinePtr timeline) { m_impl->setData(std::move(timeline)); }
void TimelineView::setLost(std::int64_t count, const QString& details) {
    m_impl->setLost(count, details);
}

TimeRange TimelineView::visibleRange() const { return m_impl->canvas->visibleRange(); }
void TimelineView::setVisibleRange(TimeRange range) { m_impl->canvas->setVisibleRange(range); }
void TimelineView::fitAll() { m_impl->canvas->fitAll(); }
void TimelineView::fitSelection() { m_impl->canvas->fitSelection(); }
std::optional<EventRef> TimelineView::selectedEvent() const { return m_impl->canvas->selected(); }

void TimelineView::selectEvent(std::optional<EventRef> event) {
    m_impl->canvas->select(event, true);
    m_impl->tellSelection(event);
    m_impl->updateDetails();
}

void TimelineView::search(const QString& text, bool forward) {
    m_impl->searchField->setText(text);
    m_impl->findNext(forward);
}

bool TimelineView::exportPng(const QString& path) {
    return savePng(path, m_impl->canvas->size(),
                   [this](QPainter& p) { m_impl->canvas->paintVector(p, m_impl->canvas->size()); });
}

bool TimelineView::exportSvg(const QString& path) {
    return saveSvg(path, m_impl->canvas->size(), tr("Timeline"),
                   [this](QPainter& p) { m_impl->canvas->paintVector(p, m_impl->canvas->size()); });
}

bool TimelineView::exportCsv(const QString& path) const {
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly)) return false;
    QTextStream out(&file);
    out << "operator,phase,calls,total_ns,self_ns,min_ns,max_ns,flops,bytes\n";
    for (const storage::OpSummary& row : aggregate(*m_impl->canvas->data(), visibleRange()))
        out << csvField(QString::fromStdString(row.name)) << ',' << csvField(phaseText(row.phase))
            << ',' << qint64{row.calls} << ',' << qint64{row.totalNs} << ',' << qint64{row.selfNs}
            << ',' << qint64{row.minNs} << ',' << qint64{row.maxNs} << ',' << row.flops << ','
            << qint64{row.bytes} << '\n';
    out.flush();
    return out.status() == QTextStream::Ok && file.commit();
}

bool TimelineView::renderTo(QImage& image) {
    return renderWidget(*this, image, [this] { m_impl->updateDetails(true); });
}

QByteArray TimelineView::saveState() const {
    QByteArray bytes;
    QDataStream out(&bytes, QIODevice::WriteOnly);
    out << kStateVersion << m_impl->splitter->saveState();
    return bytes;
}

bool TimelineView::restoreState(const QByteArray& state) {
    QDataStream in(state);
    int version = 0;
    QByteArray splitter;
    in >> version;
    if (version != kStateVersion) return false;
    in >> splitter;
    return in.status() == QDataStream::Ok && m_impl->splitter->restoreState(splitter);
}

}  // namespace tapescope::viewers
