// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QJsonValue>
#include <QObject>
#include <QString>
#include <QStringList>

#include <vector>

class QProcess;

namespace tapescope::app {

struct ModelSetting {
    QString name;
    QJsonValue defaultValue;  ///< bool, number or string
    QString help;
};

struct ModelInfo {
    QString name;
    QString summary;
    qint64 defaultSteps = 0;
    bool needsData = false;
    QString dataHelp;
    std::vector<ModelSetting> settings;
};

/// What can be run, asked from `tapescope models --json` in the background.
class ModelCatalog final : public QObject {
    Q_OBJECT

public:
    explicit ModelCatalog(QObject* parent = nullptr);
    ~ModelCatalog() override;
    void load(const QString& program);
    bool loaded() const { return m_loaded; }
    const std::vector<ModelInfo>& models() const { return m_models; }
    const ModelInfo* find(const QString& name) const;
    /// Why the list is empty; "" while all is well.
    const QString& error() const { return m_error; }

    /// False if the text is not a list of models.
    static bool parse(const QByteArray& json, std::vector<ModelInfo>& out);

signals:
    void changed();

private:
    void fail(const QString& why);

    QProcess* m_process = nullptr;  ///< while it is being asked
    std::vector<ModelInfo> m_models;
    QString m_error;
    bool m_loaded = false;
};

}  // namespace tapescope::app
