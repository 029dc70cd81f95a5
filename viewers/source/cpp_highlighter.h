// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSyntaxHighlighter>
#include <QTextCharFormat>

namespace tapescope::viewers {

/// Colours C++: keywords, numbers, strings, comments, preprocessor lines, called functions, types
/// by their capital letter. A scanner of its own, one pass a line; raw strings end at their line.
class CppHighlighter final : public QSyntaxHighlighter {
    Q_OBJECT
public:
    explicit CppHighlighter(QTextDocument* document);
    /// Takes the theme's colours again.
    void updateColours();

protected:
    void highlightBlock(const QString& text) override;

private:
    qsizetype highlightComment(const QString& text, qsizetype begin);
    QTextCharFormat m_keyword;
    QTextCharFormat m_number;
    QTextCharFormat m_string;
    QTextCharFormat m_comment;
    QTextCharFormat m_preprocessor;
    QTextCharFormat m_function;
    QTextCharFormat m_type;
};

}  // namespace tapescope::viewers
