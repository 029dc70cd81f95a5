// SPDX-License-Identifier: GPL-3.0-or-later
// The part of MainWindow that starts runs and opens tapes, and says how they ended.
#include "app/workbench/banner.h"
#include "app/workbench/debug_perspective.h"
#include "app/workbench/main_window.h"
#include "app/workbench/new_run_dialog.h"
#include "app/workbench/program_path.h"
#include "viewers/models/tape_session.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFutureWatcher>
#include <QJsonDocument>
#include <QSettings>
#include <QtConcurrent/QtConcurrentRun>

namespace tapescope::app {

namespace {
constexpr int kRecent = 10;
}

void MainWindow::openPath(const QString& path) {
    const QFileInfo info(path);
    if (!info.exists()) {
        m_banner->showMessage(Banner::Kind::Error,
                              tr("%1 does not exist: check the name, or start a run with F5.")
                                  .arg(QDir::toNativeSeparators(path)));
        return;
    }
    m_banner->dismiss();
    if (info.isDir())
        m_library.openFolder(info.absoluteFilePath());
    else
        m_library.open(info.absoluteFilePath());
    remember(info.absoluteFilePath());
}

void MainWindow::openDialog(bool folder) {
    const QString start = m_library.front() != nullptr ? QFileInfo(m_library.front()->path()).path()
                                                       : m_library.runsFolder();
    auto* dialog =
        new QFileDialog(this, folder ? tr("Open a folder of tapes") : tr("Open tapes"), start);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(folder ? QFileDialog::Directory : QFileDialog::ExistingFiles);
    if (!folder) dialog->setNameFilters({tr("Tapes (*.tape)"), tr("All files (*)")});
    connect(dialog, &QFileDialog::filesSelected, this, [this](const QStringList& files) {
        for (const QString& file : files) openPath(file);
    });
    dialog->open();
}

void MainWindow::remember(const QString& path) {
    if (!m_options.remember) return;
    QSettings settings;
    QStringList recent = settings.value(QStringLiteral("recent")).toStringList();
    recent.removeAll(path);
    recent.prepend(path);
    settings.setValue(QStringLiteral("recent"), recent.mid(0, kRecent));
    updateRecent();
}

LaunchSpec MainWindow::rememberedSpec() const {
    if (m_lastSpec) return *m_lastSpec;
    LaunchSpec spec;
    if (!m_options.remember) return spec;
    const QSettings settings;
    spec.model = settings.value(QStringLiteral("lastRun/model")).toString();
    spec.steps = settings.value(QStringLiteral("lastRun/steps")).toLongLong();
    spec.seed = settings.value(QStringLiteral("lastRun/seed")).toLongLong();
    spec.dataDir = settings.value(QStringLiteral("lastRun/data")).toString();
    spec.stopOnEntry = settings.value(QStringLiteral("lastRun/stopOnEntry")).toBool();
    spec.settings =
        QJsonDocument::fromJson(settings.value(QStringLiteral("lastRun/settings")).toByteArray())
            .object();
    return spec;
}

void MainWindow::newRun() {
    auto* dialog = new NewRunDialog(m_catalog, m_library.runsFolder(), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setSpec(rememberedSpec());
    connect(dialog, &QDialog::accepted, this, [this, dialog] { launch(dialog->spec()); });
    dialog->open();
}

void MainWindow::runOrContinue() {
    if (m_session.isStopped()) {
        m_session.resume();
        return;
    }
    if (m_session.isActive()) return;
    if (m_lastSpec)
        launch(*m_lastSpec);
    else
        newRun();
}

void MainWindow::launch(LaunchSpec spec) {
    m_lastSpec = spec;
    m_lastSpec->tapePath.clear();  // the next run gets a tape of its own
    if (m_options.remember) {
        QSettings settings;
        settings.setValue(QStringLiteral("lastRun/model"), spec.model);
        settings.setValue(QStringLiteral("lastRun/steps"), spec.steps);
        settings.setValue(QStringLiteral("lastRun/seed"), spec.seed);
        settings.setValue(QStringLiteral("lastRun/data"), spec.dataDir);
        settings.setValue(QStringLiteral("lastRun/stopOnEntry"), spec.stopOnEntry);
        settings.setValue(QStringLiteral("lastRun/settings"),
                          QJsonDocument(spec.settings).toJson());
    }
    if (!spec.tapePath.isEmpty()) {
        startRun(std::move(spec));
        return;
    }
    // Making the folder and finding a free name are file work: not on this thread.
    auto* watcher = new QFutureWatcher<QString>(this);
    connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, spec]() mutable {
        spec.tapePath = watcher->result();
        watcher->deleteLater();
        if (spec.tapePath.isEmpty()) {
            m_banner->showMessage(Banner::Kind::Error,
                                  tr("The folder %1 for new runs cannot be made: open another "
                                     "folder with File → Open folder.")
                                      .arg(QDir::toNativeSeparators(m_library.runsFolder())));
            return;
        }
        startRun(std::move(spec));
    });
    watcher->setFuture(QtConcurrent::run([folder = m_library.runsFolder(), model = spec.model] {
        return QDir().mkpath(folder) ? newTapePath(folder, model) : QString();
    }));
}

void MainWindow::startRun(LaunchSpec spec) {
    m_banner->dismiss();
    m_session.launch(spec);
    m_library.open(spec.tapePath);
}

void MainWindow::onStopped(const StopInfo& stop) {
    if (stop.reason == QLatin1String("exception")) {
        m_banner->showMessage(Banner::Kind::Error,
                              stop.text.isEmpty() ? stop.description : stop.text, tr("Console"),
                              [this] { m_debug->showConsole(); });
    }
    updateStatus();
}

void MainWindow::onEnded(const SessionEnd& end) {
    const QString tape = QFileInfo(m_session.spec().tapePath).absoluteFilePath();
    m_warned.insert(tape);  // what follows says more than "cut"
    if (viewers::TapeSession* session = m_library.find(tape)) {
        session->refresh();
        // A run that never began has written no tape: its row would wait for ever.
        if (end.kind == SessionEnd::Kind::NotStarted && !session->snapshot().run)
            m_library.close(session);
    }
    switch (end.kind) {
        case SessionEnd::Kind::Finished:
        case SessionEnd::Kind::Stopped:
            break;
        case SessionEnd::Kind::Failed:
            m_banner->showMessage(Banner::Kind::Error, end.message, tr("Console"),
                                  [this] { m_debug->showConsole(); });
            break;
        case SessionEnd::Kind::Crashed:
            m_banner->showMessage(Banner::Kind::Error, end.message, tr("Run again"),
                                  [this] { runOrContinue(); });
            break;
        case SessionEnd::Kind::NotStarted:
            m_banner->showMessage(Banner::Kind::Error, end.message, tr("New run…"),
                                  [this] { newRun(); });
            break;
    }
    updateStatus();
    updateActions();
}

}  // namespace tapescope::app
