// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/model_catalog.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>

#include <algorithm>
#include <utility>

namespace tapescope::app {

ModelCatalog::ModelCatalog(QObject* parent) : QObject(parent) {}

ModelCatalog::~ModelCatalog() {
    if (m_process == nullptr) return;
    m_process->disconnect(this);
    m_process->kill();
    m_process->waitForFinished(1000);
}

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
            model.settings.push_back({setting.value("name").toString(), setting.value("default"),
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
    if (m_process != nullptr) return;
    m_loaded = false;
    m_error.clear();
    m_process = new QProcess(this);
    const auto release = [this] {
        m_process->deleteLater();
        return std::exchange(m_process, nullptr);
    };
    connect(m_process, &QProcess::errorOccurred, this,
            [this, program, release](QProcess::ProcessError error) {
                if (error != QProcess::FailedToStart) return;
                fail(tr("\"%1\" could not be started (%2): install tapescope beside this program "
                        "or put it on PATH.")
                         .arg(program, release()->errorString()));
            });
    connect(m_process, &QProcess::finished, this,
            [this, release](int code, QProcess::ExitStatus status) {
                QProcess* process = release();
                if (status != QProcess::NormalExit || code != 0) {
                    fail(tr("\"tapescope models\" failed: %1")
                             .arg(QString::fromUtf8(process->readAllStandardError()).trimmed()));
                    return;
                }
                if (!parse(process->readAllStandardOutput(), m_models)) {
                    fail(
                        tr("\"tapescope models --json\" gave no list of models: is it of another "
                           "version?"));
                    return;
                }
                m_loaded = true;
                emit changed();
            });
    m_process->start(program, {QStringLiteral("models"), QStringLiteral("--json")});
}

}  // namespace tapescope::app
