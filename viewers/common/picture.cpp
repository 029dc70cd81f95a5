// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/common/picture.h"

#include <QApplication>
#include <QFileDialog>
#include <QImage>
#include <QMessageBox>
#include <QPainter>
#include <QSvgGenerator>
#include <QWidget>

namespace tapescope::viewers {

bool renderWidget(QWidget& widget, QImage& image, const std::function<void()>& settle) {
    if (image.isNull()) return false;
    const QSize before = widget.size();
    const bool hidden = !widget.isVisible();
    if (hidden) {
        widget.setAttribute(Qt::WA_DontShowOnScreen, true);
        widget.show();
    }
    const QSize size = (QSizeF(image.size()) / image.devicePixelRatio()).toSize();
    widget.resize(size);
    // Layouts of nested widgets settle one level at a time.
    for (int i = 0; i < 4; ++i) {
        QApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
        QApplication::sendPostedEvents(nullptr, QEvent::Resize);
        QApplication::sendPostedEvents(nullptr, QEvent::Polish);
    }
    if (settle) settle();
    widget.render(&image);
    if (hidden) {
        widget.hide();
        widget.setAttribute(Qt::WA_DontShowOnScreen, false);
    } else {
        widget.resize(before);
    }
    return true;
}

bool savePng(const QString& path, const QSize& size, const std::function<void(QPainter&)>& paint) {
    QImage image(size * 2, QImage::Format_ARGB32_Premultiplied);
    if (image.isNull()) return false;
    image.setDevicePixelRatio(2);
    image.fill(Qt::transparent);
    QPainter painter(&image);
    painter.setRenderHint(QPainter::Antialiasing);
    paint(painter);
    painter.end();
    return image.save(path, "PNG");
}

bool saveSvg(const QString& path, const QSize& size, const QString& title,
             const std::function<void(QPainter&)>& paint) {
    QSvgGenerator generator;
    generator.setFileName(path);
    generator.setSize(size);
    generator.setViewBox(QRect(QPoint(), size));
    generator.setTitle(title);
    QPainter painter;
    if (!painter.begin(&generator)) return false;
    paint(painter);
    return painter.end();
}

QString csvField(const QString& text) {
    if (!text.contains(u',') && !text.contains(u'"') && !text.contains(u'\n')) return text;
    QString quoted = text;
    quoted.replace(u'"', QStringLiteral("\"\""));
    return u'"' + quoted + u'"';
}

QString askSavePath(QWidget* parent, const QString& title, const QString& name,
                    const QString& suffix) {
    QString path =
        QFileDialog::getSaveFileName(parent, title, name + u'.' + suffix,
                                     QStringLiteral("%1 (*.%2)").arg(suffix.toUpper(), suffix));
    if (!path.isEmpty() && !path.endsWith(u'.' + suffix, Qt::CaseInsensitive))
        path += u'.' + suffix;
    return path;
}

void tellCannotWrite(QWidget* parent, const QString& path) {
    QMessageBox::warning(parent, QApplication::applicationDisplayName(),
                         QApplication::translate(
                             "Picture",
                             "%1 cannot be written: check that its folder exists, is writable and "
                             "has room.")
                             .arg(path));
}

}  // namespace tapescope::viewers
