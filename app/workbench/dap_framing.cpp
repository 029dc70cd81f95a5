// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/dap_framing.h"

#include <QList>

namespace tapescope::app {
namespace {

constexpr qsizetype kMaxHeaderBytes =
    64 * 1024;  // without a header end in so much text, the text is no header

/// The value of the last Content-Length in a header block, or -1; strayEnd is where text before
/// that header ends.
qsizetype contentLength(const QByteArray& block, qsizetype& strayEnd) {
    const QByteArray lower = block.toLower();
    const qsizetype at = lower.lastIndexOf("content-length:");
    if (at < 0) {
        strayEnd = block.size();
        return -1;
    }
    const qsizetype valueAt = at + qsizetype{15};
    qsizetype end = block.indexOf('\r', valueAt);
    if (end < 0) end = block.size();
    bool ok = false;
    const qlonglong value = block.mid(valueAt, end - valueAt).trimmed().toLongLong(&ok);
    if (!ok || value < 0 || value > kMaxDapMessageBytes) {
        strayEnd = block.size();
        return -1;
    }
    strayEnd = at;
    return static_cast<qsizetype>(value);
}

/// Other header fields ("Content-Type: …") before Content-Length are no stray text.
QByteArray withoutHeaderLines(const QByteArray& text) {
    QByteArray kept;
    for (const QByteArray& line : text.split('\n')) {
        if (line.toLower().startsWith("content-type:") || line.trimmed().isEmpty()) continue;
        if (!kept.isEmpty()) kept += '\n';
        kept += line;
    }
    return kept.trimmed();
}

}  // namespace

DapFraming::Output DapFraming::feed(const QByteArray& bytes) {
    m_buffer += bytes;
    Output out;
    QByteArray stray;
    const auto addStray = [&stray](const QByteArray& text) {
        if (text.isEmpty()) return;
        if (!stray.isEmpty()) stray += '\n';
        stray += text;
    };
    qsizetype pos = 0;
    while (true) {
        if (m_bodyBytes >= 0) {
            if (m_buffer.size() - pos < m_bodyBytes) break;
            out.bodies.push_back(m_buffer.mid(pos, m_bodyBytes));
            pos += m_bodyBytes;
            m_bodyBytes = -1;
            continue;
        }
        const qsizetype end = m_buffer.indexOf("\r\n\r\n", pos);
        if (end < 0) {
            if (m_buffer.size() - pos > kMaxHeaderBytes) {
                addStray(m_buffer.mid(pos).trimmed());
                pos = m_buffer.size();
            }
            break;
        }
        const QByteArray block = m_buffer.mid(pos, end - pos);
        qsizetype strayEnd = 0;
        m_bodyBytes = contentLength(block, strayEnd);
        addStray(withoutHeaderLines(block.left(strayEnd)));
        pos = end + 4;
    }
    m_buffer.remove(0, pos);
    out.stray = QString::fromUtf8(stray);
    return out;
}

QByteArray DapFraming::frame(const QByteArray& body) {
    return "Content-Length: " + QByteArray::number(body.size()) + "\r\n\r\n" + body;
}

}  // namespace tapescope::app
