// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/tensors/tensor_export.h"

#include "viewers/tensors/tensor_model.h"

#include <QApplication>
#include <QClipboard>
#include <QCoreApplication>
#include <QImage>
#include <QImageWriter>
#include <QItemSelectionModel>
#include <QSaveFile>
#include <QTableView>
#include <QTextStream>

#include <algorithm>
#include <cmath>

namespace tapescope::viewers {

namespace {

struct TensorExport {
    Q_DECLARE_TR_FUNCTIONS(tapescope::viewers::TensorExport)
};

QString plain(double value) {
    if (std::isnan(value)) return QStringLiteral("nan");
    if (std::isinf(value)) return value > 0 ? QStringLiteral("inf") : QStringLiteral("-inf");
    return QString::number(value, 'g', QLocale::FloatingPointShortest);
}

}  // namespace

QString writeCsv(const QString& path, const SliceSpec& slice, const TensorSlice& values) {
    const qint64 rows = slice.rows();
    const qint64 columns = slice.columns();
    if (values.truncated || static_cast<qint64>(values.values.size()) != rows * columns) {
        return TensorExport::tr(
                   "The debug adapter sent %1 values where %2 were asked for; %3 was not written.")
            .arg(values.values.size())
            .arg(rows * columns)
            .arg(path);
    }
    const bool turned = slice.columnAxis() >= 0 && slice.columnAxis() < slice.rowAxis();
    QSaveFile file(path);  // nothing half-written
    if (!file.open(QIODevice::WriteOnly | QIODevice::Text)) {
        return TensorExport::tr("Cannot write %1: %2.").arg(path, file.errorString());
    }
    QTextStream out(&file);
    for (qint64 r = 0; r < rows; ++r) {
        for (qint64 c = 0; c < columns; ++c) {
            if (c > 0) out << ',';
            out << plain(
                values.values[static_cast<std::size_t>(turned ? c * rows + r : r * columns + c)]);
        }
        out << '\n';
    }
    out.flush();
    if (!file.commit())
        return TensorExport::tr("Cannot write %1: %2.").arg(path, file.errorString());
    return {};
}

bool writePng(const QString& path, const QImage& picture, QString* error) {
    QImageWriter writer(path, "png");
    if (writer.write(picture)) return true;
    if (error != nullptr)
        *error = TensorExport::tr("Cannot write %1: %2.").arg(path, writer.errorString());
    return false;
}

void copySelection(const QTableView& table) {
    const QItemSelection selection = table.selectionModel()->selection();
    if (selection.isEmpty()) return;
    int top = selection.front().top();
    int bottom = selection.front().bottom();
    int left = selection.front().left();
    int right = selection.front().right();
    for (const QItemSelectionRange& range : selection) {
        top = std::min(top, range.top());
        bottom = std::max(bottom, range.bottom());
        left = std::min(left, range.left());
        right = std::max(right, range.right());
    }
    // About what the model keeps in memory anyway; more goes through the CSV export.
    constexpr int kMaxCells = 65536;
    right = std::min(right, left + kMaxCells - 1);
    bottom = std::min(bottom, top + kMaxCells / (right - left + 1) - 1);
    QString text;
    for (int r = top; r <= bottom; ++r) {
        for (int c = left; c <= right; ++c) {
            if (c > left) text += u'\t';
            const QModelIndex index = table.model()->index(r, c);
            if (!selection.contains(index)) continue;
            const QVariant value = index.data(TensorModel::ValueRole);
            if (value.isValid()) text += plain(value.toDouble());
        }
        text += u'\n';
    }
    QApplication::clipboard()->setText(text);
}

}  // namespace tapescope::viewers
