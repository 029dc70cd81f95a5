// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/tensors/slice_spec.h"
#include "viewers/tensors/tensor_provider.h"

#include <QString>

class QImage;
class QTableView;

namespace tapescope::viewers {

/// A line a row of the table, values as exact as they came; nan, inf, -inf as NumPy reads them.
/// Returns an error sentence, empty if written.
QString writeCsv(const QString& path, const SliceSpec& slice, const TensorSlice& values);
bool writePng(const QString& path, const QImage& picture, QString* error);
/// The selected cells as lines of tab-separated values, onto the clipboard. Cells whose values are
/// not there yet stay empty.
void copySelection(const QTableView& table);

}  // namespace tapescope::viewers
