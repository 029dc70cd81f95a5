// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/workbench/session_types.h"

#include <QDialog>

#include <memory>

class QCheckBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;
class QSpinBox;

namespace tapescope::app {

class ModelCatalog;
struct ModelInfo;

/// Chooses what to run: model, steps, seed, its settings, and where it is recorded.
class NewRunDialog final : public QDialog {
    Q_OBJECT

public:
    NewRunDialog(const ModelCatalog& catalog, QString runsFolder, QWidget* parent = nullptr);
    /// Starts from an earlier choice.
    void setSpec(const LaunchSpec& spec);
    /// What was chosen; the tape's path is made by whoever launches.
    LaunchSpec spec() const;

private:
    void fillModels();
    void showModel(const ModelInfo* model);
    void validate();
    const ModelInfo* current() const;

    const ModelCatalog& m_catalog;
    QString m_runsFolder;
    LaunchSpec m_wanted;
    QListWidget* m_models;
    QLabel* m_summary;
    QLabel* m_problem;
    QSpinBox* m_steps;
    QSpinBox* m_seed;
    QLineEdit* m_data;
    QWidget* m_dataRow;
    QLabel* m_dataLabel;
    QCheckBox* m_stopOnEntry;
    QWidget* m_settingsHost;
    QFormLayout* m_settings;
    QPushButton* m_run;
};

}  // namespace tapescope::app
