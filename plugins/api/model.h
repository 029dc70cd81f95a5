// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/errors.h"
#include "engine/nn/module.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tapescope::plugins {

/// The user named something that is not there, or left out what is needed. what() has the nearest
/// names and the remedy.
class UsageError : public engine::ErrorType<UsageError> {
public:
    using ErrorType::ErrorType;
};

using SettingValue = std::variant<bool, std::int64_t, double, std::string>;

/// A hyper-parameter that `--set name=value` (DAP: launch.set) changes.
struct Setting {
    std::string name;
    SettingValue defaultValue;
    std::string help;
    std::vector<std::string> choices = {};                  ///< of a text; empty = anything
    double min = -std::numeric_limits<double>::infinity();  ///< of a number
    double max = std::numeric_limits<double>::infinity();
};
/// "0.001", "64", "true", "adam"
std::string settingText(const SettingValue& value);
/// Throws UsageError if the value, of the right type, is not among the choices or out of range.
void checkSetting(const Setting& setting, const SettingValue& value);

/// The settings of one run, checked against the model's list.
class Settings {
public:
    /// Throws UsageError: unknown name (with the nearest ones), a value of another type or out of
    /// range.
    static Settings resolve(std::span<const Setting> known,
                            std::span<const std::pair<std::string, std::string>> given);
    std::int64_t integer(std::string_view name) const;
    double real(std::string_view name) const;
    bool flag(std::string_view name) const;
    const std::string& text(std::string_view name) const;
    const std::vector<std::pair<std::string, SettingValue>>& all() const { return m_values; }

private:
    const SettingValue& at(std::string_view name) const;
    std::vector<std::pair<std::string, SettingValue>> m_values;
};

/// What a running model may tell beside what observers see.
class RunLog {
public:
    virtual ~RunLog() = default;
    virtual void scalar(std::string_view tag, std::int64_t step, double value) = 0;
    /// Values of a tensor as a histogram of this step.
    virtual void histogram(std::string_view tag, std::int64_t step,
                           const engine::Tensor& values) = 0;
    virtual void text(std::string_view line) = 0;
    /// True when a histogram is due at this step: models ask before they pay for one.
    virtual bool wantsHistograms(std::int64_t step) const = 0;
};

struct ProgramOptions {
    Settings settings;
    std::optional<std::string> dataDir;  ///< --data DIR
    std::int64_t steps = 0;              ///< how long the run will be, for schedules
};

/// A model with its data, loss and optimiser: what `tapescope run` trains. The runner has seeded
/// the current Context's generator before the factory is called, so equal seeds give equal runs.
class Program {
public:
    virtual ~Program() = default;
    virtual engine::nn::Module& model() = 0;
    /// One training step: data, forward, backward, optimiser, scalars (train/loss, train/accuracy,
    /// lr, …).
    virtual void trainStep(std::int64_t step, RunLog& log) = 0;
    /// Whether validate() is due after this step (the runner also calls it after the last one).
    virtual bool validationDue(std::int64_t step) const = 0;
    /// val/loss and val/accuracy on held-back data.
    virtual void validate(std::int64_t step, RunLog& log) = 0;
    virtual std::int64_t samplesPerStep() const = 0;
};

/// The text of a source file, carried inside the program so that the source view needs no checkout.
struct EmbeddedFile {
    std::string_view path;  ///< as Site::file names it: "plugins/models/digits_cnn.cpp"
    std::string_view text;
};

struct ModelEntry {
    std::string name;  ///< "digits-cnn"
    std::string summary;
    std::vector<Setting> settings = {};
    std::int64_t defaultSteps = 0;
    bool needsDataDir = false;
    /// Which files --data holds, and where to get them. Empty: the model takes no --data.
    std::string dataHelp = {};
    std::vector<EmbeddedFile> sources = {};
    std::function<std::unique_ptr<Program>(const ProgramOptions&)> create = {};
};

/// Every model the program knows; filled by explicit register functions.
class ModelRegistry {
public:
    /// Throws engine::Error if the name is taken.
    void add(ModelEntry entry);
    const std::vector<ModelEntry>& entries() const { return m_entries; }
    /// Throws UsageError "unknown model …; did you mean …".
    const ModelEntry& find(std::string_view name) const;

private:
    std::vector<ModelEntry> m_entries;
};

}  // namespace tapescope::plugins
