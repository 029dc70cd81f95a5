// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/workbench_options.h"

#include <QCoreApplication>
#include <QJsonArray>
#include <QJsonDocument>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

namespace tapescope::app {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("WorkbenchOptions", text); }

/// Number of single-letter edits between two words.
int distance(const QString& a, const QString& b) {
    std::vector<int> row(static_cast<std::size_t>(b.size()) + 1);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = static_cast<int>(j);
    for (qsizetype i = 1; i <= a.size(); ++i) {
        int diagonal = row[0];
        row[0] = static_cast<int>(i);
        for (std::size_t j = 1; j < row.size(); ++j) {
            const int above = row[j];
            const int same = diagonal + (a[i - 1] == b[static_cast<qsizetype>(j) - 1] ? 0 : 1);
            row[j] = std::min({above + 1, row[j - 1] + 1, same});
            diagonal = above;
        }
    }
    return row.back();
}

QJsonValue jsonValue(const QString& text) {
    // "0.1", "true" and "12" are themselves; everything else is a text.
    const QJsonDocument document = QJsonDocument::fromJson("[" + text.toUtf8() + "]");
    if (document.isArray() && document.array().size() == 1 && !document.array().at(0).isNull())
        return document.array().at(0);
    return text;
}

bool parseSize(const QString& text, QSize& out) {
    const QStringList parts = text.split(QLatin1Char('x'));
    if (parts.size() != 2) return false;
    bool okWidth = false;
    bool okHeight = false;
    out = {parts[0].toInt(&okWidth), parts[1].toInt(&okHeight)};
    return okWidth && okHeight && out.width() > 0 && out.height() > 0 && out.width() <= 16384 &&
           out.height() <= 16384;
}

bool parseHost(const QString& text, QString& host, quint16& port) {
    const qsizetype colon = text.lastIndexOf(QLatin1Char(':'));
    if (colon <= 0) return false;
    bool ok = false;
    host = text.left(colon);
    port = text.mid(colon + 1).toUShort(&ok);
    return ok && port > 0;
}

/// "conv2d", "conv2d@3": stops from the third hit on.
bool isBreak(const QString& text) {
    const qsizetype at = text.indexOf(QLatin1Char('@'));
    if (text.left(at < 0 ? text.size() : at).trimmed().isEmpty()) return false;
    if (at < 0) return true;
    bool ok = false;
    return text.mid(at + 1).toInt(&ok) >= 1 && ok;
}

}  // namespace

std::optional<WorkbenchOptions> parseOptions(const QStringList& words, QString& error) {
    WorkbenchOptions out;
    // Each option: its handler, which takes the value and says whether it is one.
    const auto text = [](QString& to) {
        return [&to](const QString& v) {
            to = v;
            return !v.isEmpty();
        };
    };
    const auto number = [](qint64& to, qint64 least) {
        return [&to, least](const QString& v) {
            bool ok = false;
            to = v.toLongLong(&ok);
            return ok && to >= least;
        };
    };
    const auto oneOf = [](QString& to, QStringList names) {
        return [&to, names = std::move(names)](const QString& v) {
            to = v;
            return names.contains(v);
        };
    };
    struct Valued {
        std::function<bool(const QString&)> take;
        QString takes;
    };
    const std::map<QString, Valued> valued{
        {"--run", {text(out.model), tr("a model's name (see tapescope models)")}},
        {"--steps", {number(out.steps, 1), tr("a number of steps, 1 or more")}},
        {"--seed", {number(out.seed, 0), tr("a number, 0 or more")}},
        {"--data", {text(out.dataDir), tr("a folder")}},
        {"--tape", {text(out.tape), tr("a file's name")}},
        {"--output", {text(out.output), tr("a file's name")}},
        {"--step", {number(out.step, 0), tr("a step's number, 0 or more")}},
        {"--node", {number(out.node, 0), tr("a node's number, 0 or more")}},
        {"--shot",
         {oneOf(out.shot, {"debug", "curves", "timeline"}), tr("debug, curves or timeline")}},
        {"--theme", {oneOf(out.theme, {"dark", "light"}), tr("dark or light")}},
        {"--size",
         {[&out](const QString& v) { return parseSize(v, out.size); },
          // The window itself knows what it needs, by fonts and texts, and says it.
          tr("WIDTHxHEIGHT up to 16384x16384; the window needs some 800x620")}},
        {"--connect",
         {[&out](const QString& v) { return parseHost(v, out.connectHost, out.connectPort); },
          tr("HOST:PORT with a port from 1 to 65535")}},
        {"--break",
         {[&out](const QString& v) {
              out.breaks.append(v);
              return isBreak(v);
          },
          tr("NAME or NAME@N with N 1 or more")}},
        {"--set",
         {[&out](const QString& v) {
              const qsizetype at = v.indexOf(QLatin1Char('='));
              if (at > 0) out.settings.insert(v.left(at), jsonValue(v.mid(at + 1)));
              return at > 0;
          },
          tr("NAME=VALUE")}}};
    const QStringList switches{"--help", "--version"};
    for (qsizetype i = 0; i < words.size(); ++i) {
        QString word = words[i];
        if (word == QLatin1String("-h")) word = QStringLiteral("--help");
        if (word == QLatin1String("-o")) word = QStringLiteral("--output");
        if (!word.startsWith(QLatin1Char('-'))) {
            out.paths.append(word);
            continue;
        }
        if (switches.contains(word)) {
            (word == QLatin1String("--help") ? out.help : out.version) = true;
            continue;
        }
        QString value;
        bool attached = false;
        if (const qsizetype equals = word.indexOf(QLatin1Char('=')); equals > 0) {
            value = word.mid(equals + 1);
            word = word.left(equals);
            attached = true;
        }
        const auto it = valued.find(word);
        if (it == valued.end()) {
            QString nearest = switches.front();
            for (const auto& [name, handler] : valued) {
                if (distance(word, name) < distance(word, nearest)) nearest = name;
            }
            error = tr("unknown option \"%1\"; did you mean %2?").arg(word, nearest);
            return std::nullopt;
        }
        if (!attached) {
            if (i + 1 >= words.size()) {
                error = tr("%1 needs a value; see --help.").arg(word);
                return std::nullopt;
            }
            value = words[++i];
        }
        if (!it->second.take(value)) {
            error = tr("%1 cannot be \"%2\": it takes %3.").arg(word, value, it->second.takes);
            return std::nullopt;
        }
    }
    if (out.help || out.version) return out;
    if (!out.shot.isEmpty() && out.output.isEmpty())
        error = tr("--shot needs a file to write: -o NAME.png or -o NAME.svg.");
    else if (!out.shot.isEmpty() &&
             !out.output.endsWith(QLatin1String(".png"), Qt::CaseInsensitive) &&
             !out.output.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive))
        error =
            tr("\"%1\" is no picture that --shot can write: name it .png or .svg.").arg(out.output);
    else if (!out.shot.isEmpty() && out.paths.size() != 1 && out.model.isEmpty())
        error = tr("--shot needs one tape to show, or --run MODEL.");
    else if (out.model.isEmpty() &&
             (out.steps > 0 || !out.settings.isEmpty() || !out.tape.isEmpty()))
        error = tr("--steps, --set and --tape belong to a run: name a model with --run.");
    return error.isEmpty() ? std::optional(out) : std::nullopt;
}

QString usageText() {
    return tr(
        "Usage: tapescope-workbench [TAPE|FOLDER…] [options]\n"
        "\n"
        "Opens tapes, or all tapes of a folder, in the window.\n"
        "\n"
        "  --run MODEL          start a run (models: tapescope models)\n"
        "    --steps N          training steps; default: the model's\n"
        "    --seed S           default 0\n"
        "    --set NAME=VALUE   a setting of the model; may be repeated\n"
        "    --data DIR         folder with the model's data files\n"
        "    --tape FILE        record to this file; default: a new one in the runs folder\n"
        "    --break NAME[@N]   set a breakpoint, from its N-th hit on: conv2d, conv2, conv2: "
        "conv2d,\n"
        "                       backward:conv2d; may be repeated\n"
        "  --connect HOST:PORT  debug through an adapter that listens there (tapescope dap "
        "--port)\n"
        "\n"
        "  --shot VIEW          write a picture of the window and exit, without a display; VIEW: "
        "debug, curves, timeline\n"
        "    -o FILE            .png or .svg\n"
        "    --size WxH         default 1280x800\n"
        "    --step N           show this step\n"
        "    --node SEQ         choose this node of the step's graph\n"
        "\n"
        "  --theme dark|light\n"
        "  --help, --version\n");
}

}  // namespace tapescope::app
