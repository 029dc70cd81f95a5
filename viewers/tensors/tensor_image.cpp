// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/tensors/tensor_image.h"

#include "viewers/common/theme.h"
#include "viewers/models/format.h"
#include "viewers/tensors/tensor_model.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace tapescope::viewers {

namespace {

constexpr double kTileGap = 6;
constexpr double kMaxZoom = 64;
constexpr double kValueZoom = 44;  // px a cell from which its number fits
constexpr double kScaleWidth = 72;
constexpr double kMargin = 8;
constexpr double kMinStrip = 8;      // px: a long thin plane is rather cut off than invisible
constexpr double kMinLabelled = 18;  // px: narrower tiles get no label

}  // namespace

TensorImage::TensorImage(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(160, 100);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName(tr("Image of the values"));
    m_lineHeight = QFontMetricsF(Theme::current().smallFont()).height();
    connect(&Theme::current(), &Theme::changed, this, [this] {
        m_lineHeight = QFontMetricsF(Theme::current().smallFont()).height();
        m_tiles.dropImages();
        update();
    });
}

void TensorImage::setTiles(TensorTiles tiles, std::function<QString(int, int, int)> cellText,
                           const QString& tileAxisName, const QString& note) {
    const bool same = tiles.tiles() == m_tiles.tiles() && tiles.rows() == m_tiles.rows() &&
                      tiles.columns() == m_tiles.columns();
    m_tiles = std::move(tiles);
    m_cellText = std::move(cellText);
    m_tileAxis = tileAxisName;
    m_note = note;
    m_emptyText = tr("The slice has no elements.");
    m_hover = {};
    if (!same || m_fitted) fit();
    update();
}

void TensorImage::clear(const QString& text) {
    m_tiles = {};
    m_emptyText = text;
    m_hover = {};
    m_fitted = true;
    update();
}

void TensorImage::setStale(bool stale) {
    m_stale = stale;
    update();
}

double TensorImage::labelHeight() const { return m_tiles.tiles() > 1 ? m_lineHeight : 0; }

QRectF TensorImage::area() const {
    return QRectF(rect()).adjusted(kMargin, kMargin, -kScaleWidth - kMargin, -m_lineHeight - 8);
}

QSizeF TensorImage::gridSize(double zoom, int perRow) const {
    const int lines = (m_tiles.tiles() + perRow - 1) / perRow;
    return {perRow * (m_tiles.columns() * zoom + kTileGap) - kTileGap,
            lines * (m_tiles.rows() * zoom + kTileGap + labelHeight()) - kTileGap};
}

/// The arrangement that shows the tiles largest.
void TensorImage::fit() {
    m_fitted = true;
    if (m_tiles.empty()) return;
    const QRectF space = area();
    m_zoom = 0;
    for (int perRow = 1; perRow <= m_tiles.tiles(); ++perRow) {
        const int lines = (m_tiles.tiles() + perRow - 1) / perRow;
        const double x = (space.width() - (perRow - 1) * kTileGap) / perRow / m_tiles.columns();
        const double y = (space.height() - (lines - 1) * kTileGap - lines * labelHeight()) / lines /
                         m_tiles.rows();
        const double zoom = std::min({x, y, kMaxZoom});
        if (zoom > m_zoom) {
            m_zoom = zoom;
            m_perRow = perRow;
        }
    }
    if (m_zoom <= 0) {  // a grid larger than the pane at any zoom
        m_perRow = std::max(1, static_cast<int>(std::sqrt(m_tiles.tiles())));
        m_zoom = 1.0 / m_tiles.columns();
    }
    m_zoom =
        std::max(m_zoom, kMinStrip / (m_tiles.rows() * std::max(1, m_tiles.tiles() / m_perRow)));
    if (m_zoom > 1) m_zoom = std::floor(m_zoom);  // whole pixels: every value the same size
    const QSizeF grid = gridSize(m_zoom, m_perRow);
    m_origin = {std::floor(space.left() + std::max(0.0, space.width() - grid.width()) / 2),
                std::floor(space.top() + std::max(0.0, space.height() - grid.height()) / 2)};
    update();
}

QPointF TensorImage::tileOrigin(int tile) const {
    return m_origin +
           QPointF(tile % m_perRow * (m_tiles.columns() * m_zoom + kTileGap),
                   tile / m_perRow * (m_tiles.rows() * m_zoom + kTileGap + labelHeight()) +
                       labelHeight());
}

TensorImage::Cell TensorImage::cellAt(const QPointF& pos) const {
    if (m_tiles.empty() || !area().contains(pos)) return {};
    const double width = m_tiles.columns() * m_zoom;
    const double height = m_tiles.rows() * m_zoom;
    const QPointF p = pos - m_origin;
    if (p.x() < 0 || p.y() < 0) return {};
    const int column = static_cast<int>(p.x() / (width + kTileGap));
    const int line = static_cast<int>(p.y() / (height + kTileGap + labelHeight()));
    const int tile = line * m_perRow + column;
    if (column >= m_perRow || tile >= m_tiles.tiles()) return {};
    const QPointF inside = pos - tileOrigin(tile);
    if (inside.x() < 0 || inside.y() < 0 || inside.x() >= width || inside.y() >= height) return {};
    return {tile, std::min(static_cast<int>(inside.y() / m_zoom), m_tiles.rows() - 1),
            std::min(static_cast<int>(inside.x() / m_zoom), m_tiles.columns() - 1)};
}

QString TensorImage::readout(const Cell& cell) const {
    if (cell.tile < 0) return m_note;
    return QStringLiteral("[%1] = %2")
        .arg(m_cellText ? m_cellText(cell.tile, cell.row, cell.column) : QString(),
             format::exactNumber(m_tiles.value(cell.tile, cell.row, cell.column)));
}

QImage TensorImage::picture() const {
    QImage image(size() * devicePixelRatioF(), QImage::Format_RGB32);
    image.setDevicePixelRatio(devicePixelRatioF());
    QPainter painter(&image);
    paint(painter);
    return image;
}

void TensorImage::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paint(painter);
    if (hasFocus()) {
        painter.setPen(Theme::current().color(Theme::Accent));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void TensorImage::paint(QPainter& painter) const {
    const Theme& theme = Theme::current();
    painter.fillRect(rect(), theme.color(Theme::Field));
    painter.setFont(theme.smallFont());
    painter.setPen(theme.color(Theme::Muted));
    if (m_tiles.empty()) {
        painter.drawText(rect().adjusted(16, 16, -16, -16), Qt::AlignCenter | Qt::TextWordWrap,
                         m_emptyText);
        return;
    }
    painter.save();
    painter.setClipRect(area());
    paintTiles(painter);
    painter.restore();
    paintScale(painter);
    const QFontMetricsF metrics(theme.smallFont());
    painter.setPen(theme.color(m_hover.tile >= 0 ? Theme::Text : Theme::Muted));
    painter.drawText(
        QRectF(kMargin, height() - metrics.height() - 4, width() - 2 * kMargin, metrics.height()),
        Qt::AlignLeft | Qt::AlignVCenter,
        metrics.elidedText(readout(m_hover), Qt::ElideRight, width() - 2 * kMargin));
}

void TensorImage::paintTiles(QPainter& painter) const {
    const Theme& theme = Theme::current();
    const QRectF space = area();
    const int level = m_tiles.levelFor(m_zoom);
    const double width = m_tiles.columns() * m_zoom;
    const double height = m_tiles.rows() * m_zoom;
    if (m_stale) painter.setOpacity(0.4);
    for (int tile = 0; tile < m_tiles.tiles(); ++tile) {
        const QPointF at = tileOrigin(tile);
        const QRectF target(at, QSizeF(width, height));
        if (!target.adjusted(0, -labelHeight(), 0, 0).intersects(space)) continue;
        const QImage& image = m_tiles.image(tile, level);
        const double pixel = m_zoom * TensorTiles::span(level);
        painter.save();
        painter.setClipRect(target, Qt::IntersectClip);
        painter.drawImage(QRectF(at, QSizeF(image.width() * pixel, image.height() * pixel)), image);
        painter.restore();
        if (labelHeight() > 0 && width >= kMinLabelled) {
            painter.setPen(theme.color(m_hover.tile == tile ? Theme::Text : Theme::Muted));
            painter.drawText(QRectF(at.x(), at.y() - labelHeight(), width, labelHeight()),
                             Qt::AlignLeft | Qt::AlignVCenter, QString::number(tile));
        }
    }
    painter.setOpacity(1);
    if (m_zoom < kValueZoom) return;
    painter.setFont(theme.smallMonoFont());
    for (int tile = 0; tile < m_tiles.tiles(); ++tile) {
        const QPointF at = tileOrigin(tile);
        const int row0 = std::max(0, static_cast<int>((space.top() - at.y()) / m_zoom));
        const int row1 =
            std::min(m_tiles.rows(), static_cast<int>((space.bottom() - at.y()) / m_zoom) + 1);
        const int column0 = std::max(0, static_cast<int>((space.left() - at.x()) / m_zoom));
        const int column1 =
            std::min(m_tiles.columns(), static_cast<int>((space.right() - at.x()) / m_zoom) + 1);
        for (int r = row0; r < row1; ++r) {
            for (int c = column0; c < column1; ++c) {
                const double v = m_tiles.value(tile, r, c);
                painter.setPen(Theme::textOn(QColor::fromRgb(m_tiles.colours().colour(v))));
                painter.drawText(QRectF(at.x() + c * m_zoom, at.y() + r * m_zoom, m_zoom, m_zoom),
                                 Qt::AlignCenter,
                                 std::isfinite(v) ? QString::number(v, 'g', 2)
                                                  : TensorModel::valueText(v, false));
            }
        }
    }
}

/// Bar from the largest to the smallest value, then what is not a number.
void TensorImage::paintScale(QPainter& painter) const {
    const Theme& theme = Theme::current();
    const ValueColours& colours = m_tiles.colours();
    const QRectF space = area();
    const QFontMetricsF metrics(theme.smallFont());
    const double line = metrics.height();
    const double lines = (m_tiles.nanCount() > 0 ? 1 : 0) + (m_tiles.infCount() > 0 ? 2 : 0);
    const QRectF bar(space.right() + kMargin, space.top(), 12,
                     std::clamp(space.height() - lines * (line + 2) - 8, 24.0, 220.0));
    const double most = std::max(std::abs(colours.low), std::abs(colours.high));
    const double top = colours.isSigned() ? most : colours.high;
    const double bottom = colours.isSigned() ? -most : colours.low;
    for (int y = 0; y < static_cast<int>(bar.height()); ++y) {
        const double v = top + (bottom - top) * y / (bar.height() - 1);
        painter.fillRect(QRectF(bar.left(), bar.top() + y, bar.width(), 1),
                         QColor::fromRgb(colours.colour(v)));
    }
    painter.setFont(theme.smallFont());
    painter.setPen(theme.color(Theme::Muted));
    const auto label = [&](double y, double v) {
        painter.drawText(QRectF(bar.right() + 4, y - line / 2, kScaleWidth, line),
                         Qt::AlignLeft | Qt::AlignVCenter, format::number(v));
    };
    label(bar.top() + line / 2, top);
    if (colours.isSigned() && bar.height() > 3 * line) label(bar.center().y(), 0);
    label(bar.bottom() - line / 2, bottom);
    double y = bar.bottom() + 8;
    const auto swatch = [&](const QString& name, Theme::Role role) {
        painter.fillRect(QRectF(bar.left(), y + 2, 12, line - 4), theme.color(role));
        painter.drawText(QRectF(bar.right() + 4, y, kScaleWidth, line),
                         Qt::AlignLeft | Qt::AlignVCenter, name);
        y += line + 2;
    };
    if (m_tiles.nanCount() > 0) swatch(QStringLiteral("NaN"), Theme::NaN);
    if (m_tiles.infCount() > 0) {
        swatch(QStringLiteral("∞"), Theme::PosInf);
        swatch(QStringLiteral("−∞"), Theme::NegInf);
    }
}

void TensorImage::zoomBy(double factor, const QPointF& at) {
    if (m_tiles.empty()) return;
    // The same value stays under the pointer; gaps do not grow, so go by cell.
    const Cell cell = cellAt(at);
    const double before = m_zoom;
    m_zoom =
        std::clamp(m_zoom * factor, 1.0 / std::max(m_tiles.rows(), m_tiles.columns()), kMaxZoom);
    if (cell.tile >= 0) {
        const QPointF inside((cell.column + 0.5) * m_zoom, (cell.row + 0.5) * m_zoom);
        m_origin += at - (tileOrigin(cell.tile) + inside);
    } else {
        m_origin = at - (at - m_origin) * (m_zoom / before);
    }
    m_fitted = false;
    update();
}

void TensorImage::resizeEvent(QResizeEvent*) {
    if (m_fitted) fit();
}

void TensorImage::mousePressEvent(QMouseEvent* event) {
    m_pressedLeft = event->button() == Qt::LeftButton;
    m_pressed = event->position();
    m_pressedOrigin = m_origin;
}

void TensorImage::mouseMoveEvent(QMouseEvent* event) {
    if (m_pressedLeft && (event->buttons() & Qt::LeftButton)) {
        m_origin = m_pressedOrigin + event->position() - m_pressed;
        m_fitted = false;
        update();
        return;
    }
    m_hover = cellAt(event->position());
    update();
}

void TensorImage::mouseReleaseEvent(QMouseEvent*) { m_pressedLeft = false; }

void TensorImage::mouseDoubleClickEvent(QMouseEvent*) { fit(); }

void TensorImage::leaveEvent(QEvent*) {
    m_hover = {};
    update();
}

void TensorImage::wheelEvent(QWheelEvent* event) {
    const QPointF notches = QPointF(event->angleDelta()) / 120;
    if (event->modifiers() & Qt::ControlModifier) {
        zoomBy(std::pow(1.25, notches.y()), event->position());
    } else {
        QPointF pixels = event->pixelDelta().isNull() ? notches * 60 : QPointF(event->pixelDelta());
        if (event->modifiers() & Qt::ShiftModifier) pixels = {pixels.x() + pixels.y(), 0};
        m_origin += pixels;
        m_fitted = false;
        update();
    }
    event->accept();
}

void TensorImage::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            zoomBy(1.25, area().center());
            break;
        case Qt::Key_Minus:
            zoomBy(0.8, area().center());
            break;
        case Qt::Key_F:
            fit();
            break;
        default:
            QWidget::keyPressEvent(event);
    }
}

}  // namespace tapescope::viewers
