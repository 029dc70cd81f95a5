// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/shot.h"

#include "app/workbench/dap_tensor_provider.h"
#include "app/workbench/debug_perspective.h"
#include "app/workbench/graph_follower.h"
#include "app/workbench/main_window.h"
#include "viewers/models/runs_model.h"
#include "viewers/models/tape_session.h"

#include <QApplication>
#include <QDir>
#include <QFileInfo>
#include <QPainter>
#include <QPixmap>
#include <QSvgGenerator>
#include <QThreadPool>

namespace tapescope::app {

namespace {
constexpr int kPollMs = 50;
constexpr int kQuietTurns =
    4;  // this long without background work: every view has painted what it was told
constexpr int kLimitMs = 300'000;
}  // namespace

Shot::Shot(MainWindow& window, WorkbenchOptions options, QObject* parent)
    : QObject(parent), m_window(window), m_options(std::move(options)) {
    m_poll.setInterval(kPollMs);
    connect(&m_poll, &QTimer::timeout, this, &Shot::check);
    m_limit.setSingleShot(true);
    m_limit.setInterval(kLimitMs);
    connect(&m_limit, &QTimer::timeout, this, [this] {
        end(
            tr("the view was not complete after five minutes; is another process still writing the "
               "tape?"));
    });
    connect(&window.library(), &RunLibrary::notice, this, [this, &window](const QString& text) {
        if (window.library().front() == nullptr) end(text);  // a folder without tapes
    });
    connect(&window.session(), &DebugSession::ended, this, [this](const SessionEnd& ended) {
        if (ended.kind != SessionEnd::Kind::Finished && ended.kind != SessionEnd::Kind::Stopped)
            end(ended.message);
    });
}

void Shot::start() {
    m_window.resize(m_options.size);
    m_window.showPerspective(
        m_options.shot == QLatin1String("curves")     ? MainWindow::PerspectiveId::Curves
        : m_options.shot == QLatin1String("timeline") ? MainWindow::PerspectiveId::Timeline
                                                      : MainWindow::PerspectiveId::Debug);
    m_window.show();
    m_limit.start();
    m_poll.start();
}

bool Shot::runIsReady() {
    DebugSession& session = m_window.session();
    if (!session.isActive()) return true;  // it ended: the tape says everything
    if (m_options.breaks.isEmpty()) return false;
    return session.isStopped() && !session.frames().empty() && !session.scopes().empty() &&
           m_window.debug().provider().pending() == 0;
}

bool Shot::ready() {
    viewers::TapeSession* tape = m_window.library().front();
    if (tape == nullptr) return false;
    if (!m_options.model.isEmpty() && !runIsReady()) return false;
    const viewers::TapeSnapshot& snapshot = tape->snapshot();
    if (!snapshot.status.ok() && m_options.model.isEmpty()) {
        end(QString::fromStdString(snapshot.status.message()));
        return false;
    }
    if (!snapshot.run || snapshot.loading) return false;
    if (!m_chosen) {
        if (m_options.step >= 0) {
            if (snapshot.graphOfStep(m_options.step) == 0) {
                const QString file = QDir::toNativeSeparators(tape->path());
                end(snapshot.lastStep() < 0
                        ? tr("%1 has no graph of step %2: it has no steps.")
                              .arg(file)
                              .arg(m_options.step)
                        : tr("%1 has no graph of step %2; it has steps up to %3.")
                              .arg(file)
                              .arg(m_options.step)
                              .arg(snapshot.lastStep()));
                return false;
            }
            m_window.selection().setStep(m_options.step);
        }
        m_chosen = true;
        return false;
    }
    const storage::GraphId wanted = snapshot.graphToShow(m_window.selection().step());
    const viewers::GraphPtr shown = m_window.follower().shownGraph();
    if (wanted != 0 && !shown) {
        if (!m_window.follower().problem().isEmpty()) end(m_window.follower().problem());
        return false;
    }
    if (m_options.node >= 0 && shown) {
        if (m_options.node >= static_cast<qint64>(shown->nodes.size())) {
            end(tr("the graph has no node %1; its last one is %2.")
                    .arg(m_options.node)
                    .arg(shown->nodes.size() - 1));
            return false;
        }
        m_window.selection().setOp({shown->id, m_options.node, 0, m_options.step});
        m_options.node = -1;
        return false;
    }
    return QThreadPool::globalInstance()->activeThreadCount() == 0;
}

void Shot::check() {
    if (!ready()) {
        m_quietTurns = 0;
        return;
    }
    if (++m_quietTurns >= kQuietTurns) write();
}

void Shot::write() {
    // A focus frame says where keys go; in a picture they go nowhere.
    if (QWidget* focus = QApplication::focusWidget()) focus->clearFocus();
    if (m_window.size() != m_options.size) {
        end(tr("the window cannot be %1x%2: it needs at least %3x%4 (--size).")
                .arg(m_options.size.width())
                .arg(m_options.size.height())
                .arg(m_window.minimumSizeHint().expandedTo(m_window.minimumSize()).width())
                .arg(m_window.minimumSizeHint().expandedTo(m_window.minimumSize()).height()));
        return;
    }
    const bool svg = m_options.output.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive);
    const QString file = QDir::toNativeSeparators(m_options.output);
    const QString problem =
        tr("%1 cannot be written: does its folder exist, and may you write there?").arg(file);
    if (!svg) {
        end(m_window.grab().save(m_options.output, "PNG") ? QString() : problem);
        return;
    }
    QFile out(m_options.output);
    if (!out.open(QIODevice::WriteOnly)) {
        end(problem);
        return;
    }
    QSvgGenerator generator;
    generator.setOutputDevice(&out);
    generator.setSize(m_window.size());
    generator.setViewBox(QRect(QPoint(0, 0), m_window.size()));
    generator.setTitle(tr("Tapescope"));
    QPainter painter;
    if (!painter.begin(&generator)) {
        end(problem);
        return;
    }
    m_window.render(&painter);
    painter.end();
    // The generator writes behind the painter's back: only the file knows whether all of it
    // arrived.
    end(out.flush() && out.error() == QFileDevice::NoError ? QString() : problem);
}

void Shot::end(const QString& error) {
    if (m_done) return;
    m_done = true;
    m_poll.stop();
    m_limit.stop();
    emit finished(error);
}

}  // namespace tapescope::app
