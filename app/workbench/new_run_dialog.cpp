// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/new_run_dialog.h"

#include "app/workbench/calm_selection.h"
#include "app/workbench/model_catalog.h"
#include "viewers/common/theme.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFormLayout>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QRegularExpressionValidator>
#include <QSpinBox>
#include <QVBoxLayout>

#include <limits>

namespace tapescope::app {

using viewers::Theme;

namespace {

constexpr char kSetting[] = "setting";

QWidget* editorOf(const ModelSetting& setting, const QJsonValue& value) {
    if (setting.defaultValue.isBool()) {
        auto* box = new QCheckBox;
        box->setChecked(value.toBool());
        return box;
    }
    auto* line = new QLineEdit;
    if (value.isDouble())
        line->setText(QString::number(value.toDouble(), 'g', 12));
    else
        line->setText(value.toString());
    if (setting.defaultValue.isDouble()) {
        line->setValidator(new QRegularExpressionValidator(
            QRegularExpression(QStringLiteral("-?[0-9]*\\.?[0-9]*([eE][-+]?[0-9]{1,3})?")), line));
        line->setFont(Theme::current().monoFont());
    }
    return line;
}

}  // namespace

NewRunDialog::NewRunDialog(const ModelCatalog& catalog, QString runsFolder, QWidget* parent)
    : QDialog(parent),
      m_catalog(catalog),
      m_runsFolder(std::move(runsFolder)),
      m_models(new QListWidget),
      m_summary(new QLabel),
      m_problem(new QLabel),
      m_steps(new QSpinBox),
      m_seed(new QSpinBox),
      m_data(new QLineEdit),
      m_dataRow(new QWidget),
      m_dataLabel(new QLabel(tr("Data folder"))),
      m_stopOnEntry(new QCheckBox(tr("Stop before the first operator"))),
      m_settingsHost(new QWidget),
      m_settings(new QFormLayout(m_settingsHost)) {
    setStyleSheet(QStringLiteral("QDialogButtonBox{dialogbuttonbox-buttons-have-icons:0}"));
    setWindowTitle(tr("New run"));
    setObjectName(QStringLiteral("newRunDialog"));
    m_models->setObjectName(QStringLiteral("modelList"));
    m_models->setFixedWidth(170);
    calmSelection(m_models);
    m_models->setItemDelegate(new RowDelegate(m_models));
    m_models->setAccessibleName(tr("Model"));
    m_summary->setWordWrap(true);
    m_problem->setWordWrap(true);
    m_steps->setRange(1, std::numeric_limits<int>::max());
    m_steps->setGroupSeparatorShown(true);
    m_seed->setRange(0, std::numeric_limits<int>::max());
    m_settings->setContentsMargins(0, 0, 0, 0);

    auto* browse = new QPushButton(tr("Browse…"));
    auto* dataLayout = new QHBoxLayout(m_dataRow);
    dataLayout->setContentsMargins(0, 0, 0, 0);
    dataLayout->addWidget(m_data, 1);
    dataLayout->addWidget(browse);
    connect(browse, &QPushButton::clicked, this, [this] {
        auto* dialog = new QFileDialog(this, tr("Folder with the data files"), m_data->text());
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->setFileMode(QFileDialog::Directory);
        connect(dialog, &QFileDialog::fileSelected, m_data, &QLineEdit::setText);
        dialog->open();
    });

    auto* form = new QFormLayout;
    form->setHorizontalSpacing(12);
    form->addRow(tr("Steps"), m_steps);
    form->addRow(tr("Seed"), m_seed);
    form->addRow(m_dataLabel, m_dataRow);
    form->addRow(QString(), m_stopOnEntry);

    auto* settingsTitle = new QLabel(tr("Settings"));
    settingsTitle->setFont(Theme::current().boldFont());
    auto* where = new QLabel(tr("Recorded to %1").arg(QDir::toNativeSeparators(m_runsFolder)));
    where->setWordWrap(true);
    where->setForegroundRole(QPalette::PlaceholderText);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    m_run = buttons->addButton(tr("Run"), QDialogButtonBox::AcceptRole);
    m_run->setDefault(true);

    auto* right = new QVBoxLayout;
    right->setSpacing(12);
    right->addWidget(m_summary);
    right->addLayout(form);
    right->addWidget(settingsTitle);
    right->addWidget(m_settingsHost);
    right->addStretch(1);
    right->addWidget(m_problem);
    right->addWidget(where);
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(16, 16, 16, 16);
    grid->setHorizontalSpacing(16);
    grid->setVerticalSpacing(12);
    grid->addWidget(m_models, 0, 0);
    grid->addLayout(right, 0, 1);
    grid->addWidget(buttons, 1, 0, 1, 2);
    resize(620, 460);

    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_models, &QListWidget::currentRowChanged, this, [this] { showModel(current()); });
    connect(m_models, &QListWidget::itemDoubleClicked, this, [this] {
        if (m_run->isEnabled()) accept();
    });
    connect(m_data, &QLineEdit::textChanged, this, &NewRunDialog::validate);
    connect(&m_catalog, &ModelCatalog::changed, this, &NewRunDialog::fillModels);
    fillModels();
}

void NewRunDialog::fillModels() {
    const QSignalBlocker quiet(m_models);
    m_models->clear();
    for (const ModelInfo& model : m_catalog.models()) m_models->addItem(model.name);
    int row = 0;
    for (int i = 0; i < m_models->count(); ++i) {
        if (m_models->item(i)->text() == m_wanted.model) row = i;
    }
    m_models->setCurrentRow(row);
    showModel(current());
}

const ModelInfo* NewRunDialog::current() const {
    const QListWidgetItem* item = m_models->currentItem();
    return item == nullptr ? nullptr : m_catalog.find(item->text());
}

void NewRunDialog::setSpec(const LaunchSpec& spec) {
    m_wanted = spec;
    m_stopOnEntry->setChecked(spec.stopOnEntry);
    fillModels();
}

void NewRunDialog::showModel(const ModelInfo* model) {
    while (m_settings->rowCount() > 0) m_settings->removeRow(0);
    const bool wanted = model != nullptr && model->name == m_wanted.model;
    m_summary->setText(model == nullptr ? QString() : model->summary);
    m_dataLabel->setVisible(model != nullptr && !model->dataHelp.isEmpty());
    m_dataRow->setVisible(m_dataLabel->isVisibleTo(this));
    if (model != nullptr) {
        m_steps->setValue(
            static_cast<int>(wanted && m_wanted.steps > 0 ? m_wanted.steps : model->defaultSteps));
        m_seed->setValue(wanted ? static_cast<int>(m_wanted.seed) : 0);
        m_data->setText(wanted ? m_wanted.dataDir : QString());
        m_data->setPlaceholderText(model->needsData ? tr("required") : tr("optional"));
        m_data->setToolTip(model->dataHelp);
        for (const ModelSetting& setting : model->settings) {
            const QJsonValue value = wanted && m_wanted.settings.contains(setting.name)
                                         ? m_wanted.settings.value(setting.name)
                                         : setting.defaultValue;
            QWidget* editor = editorOf(setting, value);
            editor->setProperty(kSetting, setting.name);
            editor->setToolTip(setting.help);
            editor->setAccessibleName(setting.name);
            auto* label = new QLabel(setting.name);
            label->setToolTip(setting.help);
            m_settings->addRow(label, editor);
        }
    }
    validate();
}

void NewRunDialog::validate() {
    const ModelInfo* model = current();
    QString problem;
    if (model == nullptr)
        problem = !m_catalog.error().isEmpty() ? m_catalog.error()
                  : m_catalog.loaded()         ? tr("tapescope knows no models.")
                                               : tr("Asking tapescope for its models…");
    else if (model->needsData && m_data->text().trimmed().isEmpty())
        problem = tr("%1 needs a data folder: %2").arg(model->name, model->dataHelp);
    m_problem->setText(problem);
    m_problem->setVisible(!problem.isEmpty());
    QPalette colours = m_problem->palette();
    colours.setColor(QPalette::WindowText, Theme::current().color(Theme::Warning));
    m_problem->setPalette(colours);
    m_run->setEnabled(problem.isEmpty());
}

LaunchSpec NewRunDialog::spec() const {
    LaunchSpec out;
    const ModelInfo* model = current();
    if (model == nullptr) return out;
    out.model = model->name;
    out.steps = m_steps->value();
    out.seed = m_seed->value();
    out.dataDir = m_data->text().trimmed();
    out.stopOnEntry = m_stopOnEntry->isChecked();
    for (const ModelSetting& setting : model->settings) {
        for (const QWidget* editor : m_settingsHost->findChildren<QWidget*>()) {
            if (editor->property(kSetting).toString() != setting.name) continue;
            QJsonValue value;
            if (const auto* box = qobject_cast<const QCheckBox*>(editor)) {
                value = box->isChecked();
            } else if (const auto* line = qobject_cast<const QLineEdit*>(editor)) {
                value = line->text();
                if (setting.defaultValue.isDouble()) {
                    // A whole number stays one: the model knows which of its settings must be.
                    bool whole = false;
                    bool number = false;
                    const qint64 integer = line->text().toLongLong(&whole);
                    const double real = line->text().toDouble(&number);
                    if (!number) continue;  // an empty field means the default
                    value = whole ? QJsonValue(integer) : QJsonValue(real);
                }
            }
            // Only what differs is sent, so that the tape's settings say what was changed.
            if (value != setting.defaultValue) out.settings.insert(setting.name, value);
        }
    }
    return out;
}

}  // namespace tapescope::app
