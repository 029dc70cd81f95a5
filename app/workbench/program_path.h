// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace tapescope::app {

/// The path of another of our programs: beside this one, else on PATH, else its bare name.
QString siblingProgram(const QString& name);

/// Where new runs are recorded when no folder is open; made on first use by the launch.
QString defaultRunsFolder();

/// "FOLDER/digits-cnn-20261130-160020.tape", with -2, -3 … if that exists.
QString newTapePath(const QString& folder, const QString& model);

}  // namespace tapescope::app
