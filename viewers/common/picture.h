// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <functional>

class QImage;
class QPainter;
class QSize;
class QWidget;

namespace tapescope::viewers {

/// Paints a widget into an image at the image's size, laid out for it, shown or not. `settle` is
/// called after the layout, to draw what is otherwise drawn later.
bool renderWidget(QWidget& widget, QImage& image, const std::function<void()>& settle = {});

/// Calls `paint` for a picture of this size: PNG at twice the pixels, or SVG. False if the file
/// cannot be written.
bool savePng(const QString& path, const QSize& size, const std::function<void(QPainter&)>& paint);
bool saveSvg(const QString& path, const QSize& size, const QString& title,
             const std::function<void(QPainter&)>& paint);

/// A CSV field, quoted if it must be.
QString csvField(const QString& text);

/// Asks for a file name ("Save as"); empty if cancelled. `suffix` without dot is appended if
/// missing.
QString askSavePath(QWidget* parent, const QString& title, const QString& name,
                    const QString& suffix);
/// Says that a file could not be written.
void tellCannotWrite(QWidget* parent, const QString& path);

}  // namespace tapescope::viewers
