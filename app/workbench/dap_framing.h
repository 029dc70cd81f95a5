// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QString>

#include <vector>

namespace tapescope::app {

/// Largest message either side may send (docs/dap.md).
inline constexpr qsizetype kMaxDapMessageBytes = qsizetype{64} << 20;

/// Splits a byte stream into the bodies of `Content-Length` framed messages. Whatever else the
/// stream holds (a model that prints to stdout, a broken header) is skipped to the next header and
/// handed over as stray text. No thread, no I/O.
class DapFraming final {
public:
    struct Output {
        std::vector<QByteArray> bodies;  ///< complete messages, in order
        QString stray;                   ///< text between messages, decoded as UTF-8; may be empty
    };
    /// Adds bytes and returns what became complete.
    Output feed(const QByteArray& bytes);
    static QByteArray frame(const QByteArray& body);

private:
    QByteArray m_buffer;
    qsizetype m_bodyBytes = -1;  ///< length of the body being read; -1 while looking for a header
};

}  // namespace tapescope::app
