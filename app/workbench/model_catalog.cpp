// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/model_catalog.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>

#include <algorithm>

namespace tapescope::app {

ModelCatalog::ModelCatalog(QObject* parent) : QObject(parent) {}

bool ModelCatalog::parse(const QByteArray& json, std::vector<ModelInfo>& out) {
    const QJsonDocument document = QJsonDocument::fromJson(json);
    if (!document.isArray()) return false;
    out.clear();
    for (const QJsonValue& each : document.array()) {
        const QJsonObject o = each.toObject();
        ModelInfo model;
        model.name = o.value("name").toString();
        if (model.name.isEmpty()) return false;
        model.summary = o.value("summary").toString();
        model.defaultSteps = o.value("defaultSteps").toInteger();
        model.needsData = o.value("needsData").toBool();
        model.dataHelp = o.value("dataHelp").toString();
        for (const QJsonValue& s : o.value("settings").toArray()) {
            const QJsonObject setting = s.toObject();
            const QJsonValue value = setting.value("default");
            // Qt keeps whole numbers apart: only those are held as integers.
            const bool integer =
                value.isDouble() && value.toVariant().typeId() == QMetaType::LongLong;
            model.settings.push_back({setting.value("name").toString(), value, integer,
                                      setting.value("help").toString()});
        }
        out.push_back(std::move(model));
    }
    return true;
}

const ModelInfo* ModelCatalog::find(const QString& name) const {
    const auto it = std::find_if(m_models.begin(), m_models.end(),
                                 [&](const ModelInfo& m) { return m.name == name; });
    return it == m_models.end() ? nullptr : &*it;
}

void ModelCatalog::fail(const QString& why) {
    m_error = why;
    m_loaded = true;
    emit changed();
}

void ModelCatalog::load(const QString& program) {
    m_loaded = false;
    m_error.clear();
    auto* process = new QProcess(this);
    connect(process, &QProcess::errorOccurred, this,
            [this, process, program](QProcess::ProcessError error) {
                if (error != QProcess::FailedToStart) return;
                fail(tr("\"%1\" could not be started (%2): install tapescope beside this program "
                        "or put it on PATH.")
                         .arg(program, process->errorString()));
                process->deleteLater();
            });
    connect(process, &QProcess::finished, this,
            [this, process](int code, QProcess::ExitStatus status) {
                const QByteArray out = process->readAllStandardOutput();
                const QString errors = QString::fromUtf8(process->readAllStandardError()).trimmed();
                process->deleteLater();
                if (status != QProcess::NormalExit || code != 0) {
                    fail(tr("\"tapescope models\" failed: %1").arg(errors));
                    return;
                }
                if (!parse(out, m_models)) {
                    fail(
                        tr("\"tapescope models --json\" gave no list of models: is it of another "
                           "version?"));
                    return;
                }
                m_loaded = true;
                emit changed();
            });
    process->start(program, {QStringLiteral("models"), QStringLiteral("--json")});
}

}  // namespace tapescope::app
