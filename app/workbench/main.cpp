// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/main_window.h"
#include "app/workbench/shot.h"
#include "app/workbench/workbench_options.h"
#include "viewers/common/theme.h"

#include <QApplication>
#include <QFileInfo>
#include <QPalette>
#include <QSettings>
#include <QTemporaryDir>

#include <algorithm>
#include <cstdio>
#include <optional>

namespace {

using tapescope::app::MainWindow;
using tapescope::app::WorkbenchOptions;
using tapescope::viewers::Theme;

int complain(const QString& message, int status) {
    std::fprintf(stderr, "tapescope-workbench: %s\n", qPrintable(message));
    return status;
}

/// The offscreen platform has no window manager and says so at each window: nobody can do anything
/// about it.
void withoutPlatformNoise(QtMsgType type, const QMessageLogContext& context, const QString& text) {
    if (text.startsWith(QLatin1String("This plugin does not support")) ||
        text.contains(QLatin1String("XDG_RUNTIME_DIR")))
        return;
    std::fprintf(stderr, "%s\n", qPrintable(qFormatLogMessage(type, context, text)));
}

bool haveDisplay() {
    return !qEnvironmentVariableIsEmpty("DISPLAY") ||
           !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY") ||
           !qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM");
}

Theme::Mode themeOf(const WorkbenchOptions& options) {
    QString name = options.theme;
    if (name.isEmpty() && options.shot.isEmpty())
        name = QSettings().value(QStringLiteral("theme")).toString();
    if (name == QLatin1String("light")) return Theme::Mode::Light;
    if (name == QLatin1String("dark") || !options.shot.isEmpty()) return Theme::Mode::Dark;
    // Qt 6.4 cannot ask the desktop; its palette follows it.
    return QApplication::palette().color(QPalette::Window).lightness() < 128 ? Theme::Mode::Dark
                                                                             : Theme::Mode::Light;
}

void begin(MainWindow& window, const WorkbenchOptions& options) {
    if (!options.connectHost.isEmpty())
        window.session().setRemote(options.connectHost, options.connectPort);
    for (const QString& text : options.breaks) {
        // NAME@N stops from the N-th hit on; names have no '@'.
        const int key =
            window.breakpoints().addFunction(text.section(QLatin1Char('@'), 0, 0).trimmed());
        window.breakpoints().setFromHit(key,
                                        std::max(1, text.section(QLatin1Char('@'), 1).toInt()));
    }
    for (const QString& path : options.paths) window.openPath(path);
    if (options.model.isEmpty()) return;
    tapescope::app::LaunchSpec spec;
    spec.model = options.model;
    spec.steps = options.steps;
    spec.seed = options.seed;
    spec.settings = options.settings;
    spec.dataDir =
        options.dataDir.isEmpty() ? QString() : QFileInfo(options.dataDir).absoluteFilePath();
    spec.tapePath = options.tape.isEmpty() ? QString() : QFileInfo(options.tape).absoluteFilePath();
    window.launch(spec);
}

int takeShot(const WorkbenchOptions& options) {
    if (!options.paths.isEmpty() && !QFileInfo::exists(options.paths.front()))
        return complain(
            QCoreApplication::translate(
                "main",
                "%1 does not exist; name a tape made by \"tapescope run MODEL --tape FILE\".")
                .arg(options.paths.front()),
            1);
    MainWindow window({.remember = false});
    tapescope::app::Shot shot(window, options);
    std::optional<QString> error;
    QObject::connect(&shot, &tapescope::app::Shot::finished, &window,
                     [&error, &window](const QString& text) {
                         error = text;
                         // Not quit(): it would ask the window, and the window would ask the user
                         // about the run.
                         if (!window.session().isActive()) {
                             QCoreApplication::exit();
                             return;
                         }
                         QObject::connect(&window.session(), &tapescope::app::DebugSession::ended,
                                          &window, [] { QCoreApplication::exit(); });
                         window.session().stop();
                     });
    // A picture of a run that nobody asked to keep leaves no tape behind.
    const QTemporaryDir scratch;
    WorkbenchOptions own = options;
    if (!own.model.isEmpty() && own.tape.isEmpty())
        own.tape = scratch.filePath(own.model + QStringLiteral(".tape"));
    begin(window, own);
    shot.start();
    QApplication::exec();
    window.session().disconnect(&shot);
    if (!error)
        return complain(
            QCoreApplication::translate("main", "interrupted before the picture was made."), 1);
    return error->isEmpty() ? 0 : complain(*error, 1);
}

}  // namespace

int main(int argc, char** argv) {
    QStringList words;
    for (int i = 1; i < argc; ++i) words.append(QString::fromLocal8Bit(argv[i]));
    QString error;
    const std::optional<WorkbenchOptions> options = tapescope::app::parseOptions(words, error);
    if (!options) return complain(error, 2);
    if (options->help) {
        std::fputs(qPrintable(tapescope::app::usageText()), stdout);
        return 0;
    }
    if (options->version) {
        std::printf("tapescope-workbench %s (Qt %s)\n", TAPESCOPE_VERSION, qVersion());
        return 0;
    }
    if (!options->shot.isEmpty() && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    if (!options->shot.isEmpty()) qInstallMessageHandler(withoutPlatformNoise);
    if (!haveDisplay())
        return complain(
            QStringLiteral(
                "there is no display; draw a picture with --shot VIEW TAPE -o FILE.png, or run "
                "\"tapescope report TAPE\"."),
            1);

    QCoreApplication::setOrganizationName(QStringLiteral("tapescope"));
    QCoreApplication::setApplicationName(QStringLiteral("workbench"));
    QCoreApplication::setApplicationVersion(QStringLiteral(TAPESCOPE_VERSION));
    QGuiApplication::setDesktopFileName(QStringLiteral("io.github.tapescope.Tapescope"));
    // Our own options are parsed above; Qt gets none of them.
    int noArguments = 1;
    QApplication app(noArguments, argv);
    Theme::current().apply(themeOf(*options));

    if (!options->shot.isEmpty()) return takeShot(*options);
    MainWindow window({.remember = true});
    begin(window, *options);
    window.show();
    return QApplication::exec();
}
