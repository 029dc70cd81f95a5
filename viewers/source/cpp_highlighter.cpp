// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/source/cpp_highlighter.h"

#include "viewers/common/theme.h"

#include <QSet>

namespace tapescope::viewers {

namespace {

constexpr int kInComment = 1;  // block state: the next line begins inside /* */

const QSet<QString>& keywords() {
    static const QSet<QString> words = [] {
        const char* all =
            "alignas alignof and asm auto bool break case catch char class concept const consteval "
            "constexpr constinit const_cast "
            "continue co_await co_return co_yield decltype default delete do double dynamic_cast "
            "else enum explicit extern false "
            "final float for friend goto if inline int long mutable namespace new noexcept not "
            "nullptr operator or override private "
            "protected public register reinterpret_cast requires return short signed sizeof static "
            "static_assert static_cast "
            "struct switch template this thread_local throw true try typedef typeid typename union "
            "unsigned using virtual void "
            "volatile while";
        const QStringList list = QString::fromLatin1(all).split(u' ');
        return QSet<QString>(list.begin(), list.end());
    }();
    return words;
}

bool isWord(QChar c) { return c.isLetterOrNumber() || c == u'_'; }

/// Past the closing quote, or the end of the line.
qsizetype stringEnd(const QString& text, qsizetype begin) {
    const QChar quote = text[begin];
    for (qsizetype i = begin + 1; i < text.size(); ++i) {
        if (text[i] == u'\\') {
            ++i;
        } else if (text[i] == quote) {
            return i + 1;
        }
    }
    return text.size();
}

}  // namespace

CppHighlighter::CppHighlighter(QTextDocument* document) : QSyntaxHighlighter(document) {
    updateColours();
}

void CppHighlighter::updateColours() {
    const Theme& theme = Theme::current();
    const bool dark = theme.dark();
    const auto ink = [](QTextCharFormat& format, const QColor& color) {
        format.setForeground(color);
    };
    ink(m_keyword, dark ? QColor(0x8f, 0xb8, 0xf5) : QColor(0x1a, 0x4f, 0xa8));
    ink(m_number, dark ? QColor(0xe0, 0xb0, 0x6c) : QColor(0x8a, 0x52, 0x00));
    ink(m_string, dark ? QColor(0x8f, 0xcf, 0x9a) : QColor(0x1f, 0x6e, 0x34));
    ink(m_comment, theme.color(Theme::Muted));
    m_comment.setFontItalic(true);
    ink(m_preprocessor, dark ? QColor(0xc9, 0xa0, 0xe0) : QColor(0x7a, 0x3e, 0x9d));
    ink(m_function, dark ? QColor(0xe6, 0xd9, 0x9a) : QColor(0x6a, 0x4c, 0x00));
    ink(m_type, dark ? QColor(0x7f, 0xd0, 0xcf) : QColor(0x00, 0x62, 0x70));
    rehighlight();
}

qsizetype CppHighlighter::highlightComment(const QString& text, qsizetype begin) {
    const qsizetype close = text.indexOf(QLatin1String("*/"), begin);
    const qsizetype end = close < 0 ? text.size() : close + 2;
    setFormat(static_cast<int>(begin), static_cast<int>(end - begin), m_comment);
    setCurrentBlockState(close < 0 ? kInComment : 0);
    return end;
}

void CppHighlighter::highlightBlock(const QString& text) {
    setCurrentBlockState(0);
    const auto colour = [this](qsizetype begin, qsizetype end, const QTextCharFormat& format) {
        setFormat(static_cast<int>(begin), static_cast<int>(end - begin), format);
    };
    qsizetype i = previousBlockState() == kInComment ? highlightComment(text, 0) : 0;
    bool lineStart = i == 0;
    while (i < text.size()) {
        const QChar c = text[i];
        const QChar next = i + 1 < text.size() ? text[i + 1] : QChar();
        if (c.isSpace()) {
            ++i;
            continue;
        }
        if (c == u'/' && next == u'/') {
            colour(i, text.size(), m_comment);
            return;
        }
        if (c == u'/' && next == u'*') {
            const qsizetype close = text.indexOf(QLatin1String("*/"), i + 2);
            const qsizetype end = close < 0 ? text.size() : close + 2;
            colour(i, end, m_comment);
            if (close < 0) setCurrentBlockState(kInComment);
            i = end;
        } else if (c == u'#' && lineStart) {
            qsizetype end = i + 1;
            while (end < text.size() && (isWord(text[end]) || text[end].isSpace())) ++end;
            colour(i, end, m_preprocessor);
            if (end < text.size() && text[end] == u'<') {
                const qsizetype close = text.indexOf(u'>', end);
                const qsizetype stop = close < 0 ? text.size() : close + 1;
                colour(end, stop, m_string);
                end = stop;
            }
            i = end;
        } else if (c == u'"' || c == u'\'') {
            const qsizetype end = stringEnd(text, i);
            colour(i, end, m_string);
            i = end;
        } else if (c.isDigit() || (c == u'.' && next.isDigit())) {
            qsizetype end = i + 1;
            while (end < text.size() &&
                   (isWord(text[end]) || text[end] == u'.' || text[end] == u'\'' ||
                    ((text[end] == u'-' || text[end] == u'+') && text[end - 1].toLower() == u'e' &&
                     text[i + 1].toLower() != u'x'))) {
                ++end;
            }
            colour(i, end, m_number);
            i = end;
        } else if (isWord(c)) {
            qsizetype end = i + 1;
            while (end < text.size() && isWord(text[end])) ++end;
            const QString word = text.mid(i, end - i);
            qsizetype after = end;
            while (after < text.size() && text[after] == u' ') ++after;
            if (keywords().contains(word)) {
                colour(i, end, m_keyword);
            } else if (c.isUpper() && word.size() > 1) {
                colour(i, end, m_type);
            } else if (after < text.size() && text[after] == u'(') {
                colour(i, end, m_function);
            }
            i = end;
        } else {
            ++i;
        }
        lineStart = false;
    }
}

}  // namespace tapescope::viewers
