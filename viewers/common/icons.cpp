// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/common/icons.h"

#include "viewers/common/theme.h"

#include <QAbstractButton>
#include <QAction>
#include <QFile>
#include <QPainter>
#include <QSvgRenderer>

namespace tapescope::viewers {
namespace {

QPixmap render(QByteArray svg, const QColor& color, int size) {
    // Qt's SVG knows `currentColor` only as the presentation attribute `color` of the root.
    svg.replace("currentColor", color.name(QColor::HexRgb).toLatin1());
    QSvgRenderer renderer(svg);
    QPixmap pixmap(size, size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    if (color.alpha() != 255) painter.setOpacity(color.alphaF());
    renderer.render(&painter);
    return pixmap;
}

QByteArray source(const QString& name) {
    Theme::current();  // the resources are registered with it
    QFile file(QStringLiteral(":/tapescope/icons/%1.svg").arg(name));
    const bool present = file.open(QIODevice::ReadOnly);
    Q_ASSERT_X(present, "icon", qPrintable(name));
    return present ? file.readAll() : QByteArray();
}

template <class T>
void follow(T* target, const QString& name) {
    target->setIcon(icon(name));
    QObject::connect(&Theme::current(), &Theme::changed, target,
                     [target, name] { target->setIcon(icon(name)); });
}

}  // namespace

QIcon icon(const QString& name, const QColor& color) {
    const QByteArray svg = source(name);
    QIcon result;
    for (const int size : {16, 20, 24, 32, 48}) {
        result.addPixmap(render(svg, color, size), QIcon::Normal);
        result.addPixmap(render(svg, Theme::current().color(Theme::Disabled), size),
                         QIcon::Disabled);
    }
    return result;
}

QIcon icon(const QString& name) { return icon(name, Theme::current().color(Theme::Text)); }

QIcon appIcon() {
    const QByteArray svg = source(QStringLiteral("app"));
    QIcon result;
    for (const int size : {16, 24, 32, 48, 64, 128, 256})
        result.addPixmap(render(svg, Qt::black, size));
    return result;
}

void setThemedIcon(QAction* action, const QString& name) { follow(action, name); }
void setThemedIcon(QAbstractButton* button, const QString& name) { follow(button, name); }

}  // namespace tapescope::viewers
