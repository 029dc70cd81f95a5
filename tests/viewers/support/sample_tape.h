// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "storage/tape/writer.h"

#include <QString>
#include <QTemporaryDir>

#include <functional>
#include <memory>

class QWidget;

namespace tapescope::viewers::test {

struct SampleOptions {
    int steps = 60;
    std::uint32_t seed = 1;
    QString name = QStringLiteral("digits-cnn");
    double finalLoss = 0.05;
    bool nanAtEnd = false;
    bool events = true;
    bool histograms = true;
    bool seal = true;
};

/// Writes what a recorded training run looks like: train/loss, train/accuracy, val/loss,
/// val/accuracy, lr, histograms of two parameters, modules, sites, a graph, steps with forward,
/// backward and optimizer, memory. With seal = false the writer stays open.
std::unique_ptr<storage::TapeWriter> writeSampleTape(const QString& path,
                                                     const SampleOptions& options);

/// The events of one training step starting at `startNs`; returns its end. Names and modules are
/// those writeSampleTape() makes.
std::int64_t appendStepEvents(std::vector<storage::OpEvent>& events,
                              std::vector<storage::MemoryEvent>& memory, std::int64_t step,
                              std::int64_t startNs, std::uint32_t& random);
/// Names and modules those events refer to.
std::vector<std::string> sampleNames();
std::vector<storage::ModuleRow> sampleModules();
std::vector<storage::SiteRow> sampleSites();

/// Runs the event loop until the condition holds; false after ten seconds.
bool waitUntil(const std::function<bool()>& condition);

/// Saves a picture of the widget for a look by eye if TAPESCOPE_SHOTS names a folder.
void keepShot(QWidget& widget, const QString& name);

}  // namespace tapescope::viewers::test
