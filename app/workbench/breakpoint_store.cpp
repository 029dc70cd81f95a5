// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/breakpoint_store.h"

#include <QFileInfo>
#include <QSettings>

#include <algorithm>
#include <utility>

namespace tapescope::app {

bool samePath(const QString& a, const QString& b) {
    if (a == b) return true;
    const QString& shorter = a.size() < b.size() ? a : b;
    const QString& longer = a.size() < b.size() ? b : a;
    return !shorter.isEmpty() && longer.endsWith(QLatin1Char('/') + shorter);
}

QString Breakpoint::title() const {
    if (kind == Kind::Function) return name;
    return QFileInfo(file).fileName() + QLatin1Char(':') + QString::number(line);
}

BreakpointStore::BreakpointStore(QObject* parent) : QObject(parent) {}

const Breakpoint* BreakpointStore::find(int key) const {
    const auto it = std::find_if(m_breakpoints.begin(), m_breakpoints.end(),
                                 [key](const Breakpoint& b) { return b.key == key; });
    return it == m_breakpoints.end() ? nullptr : &*it;
}

Breakpoint* BreakpointStore::mutableFind(int key) { return const_cast<Breakpoint*>(find(key)); }

const Breakpoint* BreakpointStore::findFunction(const QString& name) const {
    const auto it = std::find_if(m_breakpoints.begin(), m_breakpoints.end(), [&](const auto& b) {
        return b.kind == Breakpoint::Kind::Function && b.name == name;
    });
    return it == m_breakpoints.end() ? nullptr : &*it;
}

const Breakpoint* BreakpointStore::findSource(const QString& file, int line) const {
    const auto it = std::find_if(m_breakpoints.begin(), m_breakpoints.end(), [&](const auto& b) {
        return b.kind == Breakpoint::Kind::Source && b.line == line && samePath(b.file, file);
    });
    return it == m_breakpoints.end() ? nullptr : &*it;
}

Breakpoint* BreakpointStore::byAdapterId(int adapterId) {
    if (adapterId <= 0) return nullptr;
    const auto it = std::find_if(m_breakpoints.begin(), m_breakpoints.end(),
                                 [&](const auto& b) { return b.adapterId == adapterId; });
    return it == m_breakpoints.end() ? nullptr : &*it;
}

QSet<int> BreakpointStore::linesOf(const QString& file) const {
    QSet<int> lines;
    for (const Breakpoint& b : m_breakpoints) {
        if (b.kind == Breakpoint::Kind::Source && samePath(b.file, file)) lines.insert(b.line);
    }
    return lines;
}

void BreakpointStore::notify() {
    emit definitionsChanged();
    emit changed();
}

int BreakpointStore::add(Breakpoint breakpoint) {
    breakpoint.key = m_nextKey++;
    const int key = breakpoint.key;
    m_breakpoints.push_back(std::move(breakpoint));
    notify();
    return key;
}

int BreakpointStore::addFunction(const QString& name) {
    if (const Breakpoint* known = findFunction(name)) {
        setEnabled(known->key, true);
        return known->key;
    }
    Breakpoint b;
    b.name = name;
    return add(std::move(b));
}

int BreakpointStore::addSource(const QString& file, int line) {
    if (const Breakpoint* known = findSource(file, line)) {
        setEnabled(known->key, true);
        return known->key;
    }
    Breakpoint b;
    b.kind = Breakpoint::Kind::Source;
    b.file = file;
    b.line = line;
    return add(std::move(b));
}

void BreakpointStore::addTemporaryFunction(const QString& name) {
    const Breakpoint* known = findFunction(name);
    if (known != nullptr && known->enabled) return;
    Breakpoint b;
    b.name = name;
    b.temporary = true;
    add(std::move(b));
}

void BreakpointStore::addTemporarySource(const QString& file, int line) {
    const Breakpoint* known = findSource(file, line);
    if (known != nullptr && known->enabled) return;
    Breakpoint b;
    b.kind = Breakpoint::Kind::Source;
    b.file = file;
    b.line = line;
    b.temporary = true;
    add(std::move(b));
}

void BreakpointStore::dropTemporary() {
    if (std::erase_if(m_breakpoints, [](const Breakpoint& b) { return b.temporary; }) > 0) notify();
}

void BreakpointStore::toggleFunction(const QString& name) {
    if (const Breakpoint* known = findFunction(name))
        remove(known->key);
    else
        addFunction(name);
}

void BreakpointStore::toggleSource(const QString& file, int line) {
    if (const Breakpoint* known = findSource(file, line))
        remove(known->key);
    else
        addSource(file, line);
}

void BreakpointStore::remove(int key) {
    if (std::erase_if(m_breakpoints, [key](const Breakpoint& b) { return b.key == key; }) > 0)
        notify();
}

void BreakpointStore::clear() {
    if (m_breakpoints.empty()) return;
    m_breakpoints.clear();
    notify();
}

void BreakpointStore::setEnabled(int key, bool enabled) {
    Breakpoint* b = mutableFind(key);
    if (b == nullptr || b->enabled == enabled) return;
    b->enabled = enabled;
    if (!enabled) b->adapterId = 0;
    notify();
}

void BreakpointStore::setFromHit(int key, int fromHit) {
    Breakpoint* b = mutableFind(key);
    if (b == nullptr || fromHit < 1 || b->fromHit == fromHit) return;
    b->fromHit = fromHit;
    notify();
}

void BreakpointStore::rename(int key, const QString& name) {
    Breakpoint* b = mutableFind(key);
    if (b == nullptr || b->kind != Breakpoint::Kind::Function || name.isEmpty() || b->name == name)
        return;
    b->name = name;
    b->hits = 0;
    notify();
}

void BreakpointStore::setAdapterState(int key, int adapterId, bool verified,
                                      const QString& message) {
    Breakpoint* b = mutableFind(key);
    if (b == nullptr) return;
    b->adapterId = adapterId;
    b->verified = verified;
    b->message = message;
    emit changed();
}

void BreakpointStore::updateByAdapterId(int adapterId, bool verified, const QString& message) {
    if (Breakpoint* b = byAdapterId(adapterId))
        setAdapterState(b->key, adapterId, verified, message);
}

void BreakpointStore::countHit(int adapterId, qint64 hits) {
    Breakpoint* b = byAdapterId(adapterId);
    if (b == nullptr) return;
    b->hits = hits > 0 ? hits : b->hits + 1;
    b->verified = true;
    emit changed();
}

void BreakpointStore::forgetAdapter() {
    for (Breakpoint& b : m_breakpoints) {
        b.adapterId = 0;
        b.verified = false;
        b.message.clear();
    }
    emit changed();
}

void BreakpointStore::resetHits() {
    for (Breakpoint& b : m_breakpoints) b.hits = 0;
    emit changed();
}

void BreakpointStore::load(QSettings& settings) {
    m_breakpoints.clear();
    const int count = settings.beginReadArray(QStringLiteral("breakpoints"));
    for (int i = 0; i < count; ++i) {
        settings.setArrayIndex(i);
        Breakpoint b;
        b.name = settings.value("name").toString();
        b.file = settings.value("file").toString();
        b.line = settings.value("line").toInt();
        b.kind = b.file.isEmpty() ? Breakpoint::Kind::Function : Breakpoint::Kind::Source;
        b.enabled = settings.value("enabled", true).toBool();
        b.fromHit = std::max(1, settings.value("fromHit", 1).toInt());
        const bool usable = b.kind == Breakpoint::Kind::Function ? !b.name.isEmpty() : b.line > 0;
        if (!usable) continue;  // a settings file edited by hand
        b.key = m_nextKey++;
        m_breakpoints.push_back(std::move(b));
    }
    settings.endArray();
    notify();
}

void BreakpointStore::save(QSettings& settings) const {
    settings.remove(QStringLiteral("breakpoints"));
    settings.beginWriteArray(QStringLiteral("breakpoints"));
    int i = 0;
    for (const Breakpoint& b : m_breakpoints) {
        if (b.temporary) continue;
        settings.setArrayIndex(i++);
        settings.setValue("name", b.name);
        settings.setValue("file", b.file);
        settings.setValue("line", b.line);
        settings.setValue("enabled", b.enabled);
        settings.setValue("fromHit", b.fromHit);
    }
    settings.endArray();
}

}  // namespace tapescope::app
