// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/graph/graph_export.h"

#include "viewers/common/theme.h"
#include "viewers/graph/graph_painter.h"

#include <QCoreApplication>
#include <QFile>
#include <QImageWriter>
#include <QPainter>
#include <QSvgGenerator>

#include <algorithm>
#include <cmath>

namespace tapescope::viewers {

namespace {

constexpr double kMargin = 16;
constexpr double kPngScale = 2;
constexpr double kMaxSide = 30000;  // QImage and most viewers end at 32767

struct GraphExport {
    Q_DECLARE_TR_FUNCTIONS(tapescope::viewers::GraphExport)
};

bool fail(QString* error, const QString& text) {
    if (error != nullptr) *error = text;
    return false;
}

void paintAll(QPainter& painter, const GraphState& state, double detail) {
    painter.translate(kMargin, kMargin);
    GraphPaintOptions options;
    options.visible = QRectF(0, 0, state.scene().width, state.scene().height);
    options.scale = detail;
    options.marks = false;
    paintGraph(painter, state, options);
}

}  // namespace

bool exportGraphPng(const GraphState& state, const QString& path, QString* error) {
    if (state.empty()) return fail(error, GraphExport::tr("There is no graph to export."));
    const double width = state.scene().width + 2 * kMargin;
    const double height = state.scene().height + 2 * kMargin;
    double scale = std::min({kPngScale, kMaxSide / width, kMaxSide / height});
    scale = std::min(scale, std::sqrt(kMaxExportPixels / (width * height)));
    QImage image(std::max(1, static_cast<int>(width * scale)),
                 std::max(1, static_cast<int>(height * scale)), QImage::Format_RGB32);
    if (image.isNull())
        return fail(error, GraphExport::tr("Not enough memory for a picture of %1.").arg(path));
    image.fill(Theme::current().color(Theme::Window));
    QPainter painter(&image);
    painter.scale(scale, scale);
    paintAll(painter, state, scale);
    painter.end();
    QImageWriter writer(path, "png");
    if (writer.write(image)) return true;
    return fail(error, GraphExport::tr("Cannot write %1: %2.").arg(path, writer.errorString()));
}

bool exportGraphSvg(const GraphState& state, const QString& path, QString* error) {
    if (state.empty()) return fail(error, GraphExport::tr("There is no graph to export."));
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly)) {
        return fail(error, GraphExport::tr("Cannot write %1: %2.").arg(path, file.errorString()));
    }
    const QSizeF size(state.scene().width + 2 * kMargin, state.scene().height + 2 * kMargin);
    QSvgGenerator generator;
    generator.setOutputDevice(&file);
    generator.setSize(size.toSize());
    generator.setViewBox(QRectF(QPointF(), size));
    generator.setTitle(GraphExport::tr("Graph of step %1").arg(state.data()->graph.firstStep));
    QPainter painter(&generator);
    painter.fillRect(QRectF(QPointF(), size), Theme::current().color(Theme::Window));
    paintAll(painter, state, 1);
    painter.end();
    file.close();
    if (file.error() == QFileDevice::NoError) return true;
    return fail(error, GraphExport::tr("Cannot write %1: %2.").arg(path, file.errorString()));
}

}  // namespace tapescope::viewers
