// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/timeline/gpu_notice_bar.h"

#include "viewers/common/elided_label.h"
#include "viewers/common/theme.h"
#include "viewers/models/format.h"

#include <QFontMetrics>
#include <QHBoxLayout>
#include <QHash>
#include <QLabel>
#include <QScrollArea>
#include <QStringList>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace tapescope::viewers {
namespace {

using Kind = profiler::GpuNotice::Kind;

constexpr qsizetype kMostLines = 200;  // a hostile tape may name any number of counts
constexpr int kListHeight = 150;
constexpr qsizetype kMostTexts = 12;  // in the line

/// "3 dropped records": a count and what was lost; 0 if the text does not begin with one.
std::pair<qint64, QString> counted(const std::string& text) {
    const QString all = QString::fromStdString(text);
    qsizetype at = 0;
    QString digits;
    for (; at < all.size() && (all[at].isDigit() || all[at] == QChar(0x202f)); ++at)
        if (all[at].isDigit()) digits += all[at];
    if (digits.isEmpty() || at >= all.size() || all[at] != u' ') return {0, all};
    return {digits.toLongLong(), all.mid(at + 1)};
}

/// One text for what several processes lost alike: "600 dropped records in 200 processes".
QStringList summed(const std::vector<profiler::GpuNotice>& notices, Kind kind) {
    struct Sum {
        qint64 count = 0;
        int notices = 0;
        QString first;
        QString what;
        std::set<std::string> processes;
    };
    std::vector<Sum> sums;
    QHash<QString, std::size_t> byName;
    for (const profiler::GpuNotice& n : notices) {
        if (n.kind != kind) continue;
        auto [count, what] = counted(n.text);
        if (n.process.empty()) count = 0;
        const QString key = count > 0 ? what : QString::fromStdString(n.text);
        const auto at = byName.constFind(key);
        const std::size_t index = at != byName.constEnd() ? *at : sums.size();
        if (index == sums.size()) {
            byName.insert(key, index);
            sums.push_back({0, 0, QString::fromStdString(n.text), what, {}});
        }
        sums[index].count += count;
        ++sums[index].notices;
        sums[index].processes.insert(n.process);
    }
    QStringList texts;
    for (const Sum& sum : sums) {
        const bool many = sum.processes.size() > 1 && kind != Kind::Fact;
        const QString text =
            sum.count > 0 && sum.notices > 1
                ? QStringLiteral("%1 %2").arg(format::exactCount(sum.count), sum.what)
                : sum.first;
        texts << (many ? GpuNoticeBar::tr("%1 in %2 processes")
                             .arg(text,
                                  format::exactCount(static_cast<qint64>(sum.processes.size())))
                       : text);
    }
    return texts;
}

}  // namespace

QString gpuAbsence(const std::vector<profiler::GpuNotice>& notices) {
    QStringList lines;
    for (const profiler::GpuNotice& n : notices)
        if (n.kind == Kind::Off && lines.size() < 4) lines << QString::fromStdString(n.text);
    lines.removeDuplicates();
    return lines.join(u'\n');
}

GpuNoticeBar::GpuNoticeBar(QWidget* parent)
    : QWidget(parent),
      m_summary(new ElidedLabel({}, this)),
      m_toggle(new QToolButton(this)),
      m_scroll(new QScrollArea(this)),
      m_list(new QLabel) {
    setObjectName(QStringLiteral("gpuNotices"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 0, 8, 2);
    column->setSpacing(2);
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    row->addWidget(m_summary);
    m_toggle->setAutoRaise(true);
    m_toggle->setCheckable(true);
    m_toggle->setText(tr("Details"));
    m_toggle->setAccessibleName(tr("What is known of the GPU record"));
    row->addWidget(m_toggle);
    row->addStretch(1);
    column->addLayout(row);
    m_list->setTextFormat(Qt::RichText);
    m_list->setWordWrap(true);
    m_list->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    m_list->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_list->setContentsMargins(0, 2, 0, 4);
    m_scroll->setWidget(m_list);
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->hide();
    column->addWidget(m_scroll);
    connect(m_toggle, &QToolButton::toggled, m_scroll, &QWidget::setVisible);
    connect(&Theme::current(), &Theme::changed, this, [this] { restyle(); });
    hide();
}

void GpuNoticeBar::setExpanded(bool on) { m_toggle->setChecked(on); }

QString GpuNoticeBar::summary() const {
    QStringList parts = summed(m_notices, Kind::Loss) + summed(m_notices, Kind::Off);
    parts = parts.mid(0, kMostTexts);
    if (!parts.isEmpty())
        return (m_anyEvents ? tr("GPU record: %1") : tr("No GPU activity: %1"))
            .arg(parts.join(QStringLiteral("  ·  ")));
    parts = summed(m_notices, Kind::Fact).mid(0, kMostTexts);
    const QString complete = m_anyEvents ? tr("GPU record complete") : tr("No GPU activity");
    parts.prepend(complete);
    return parts.join(QStringLiteral("  ·  "));
}

QString GpuNoticeBar::details() const {
    QStringList lines;
    for (const profiler::GpuNotice& n : m_notices) {
        if (lines.size() >= kMostLines) break;
        QString line = QString::fromStdString(n.text);
        if (!n.process.empty())
            line = QString::fromStdString(n.process) + QStringLiteral(": ") + line;
        if (!n.detail.empty())
            line += QStringLiteral(" [%1]").arg(QString::fromStdString(n.detail));
        lines << line;
    }
    return lines.join(u'\n');
}

void GpuNoticeBar::setNotices(const std::vector<profiler::GpuNotice>& notices, bool anyEvents) {
    if (notices == m_notices && anyEvents == m_anyEvents) return;
    m_notices = notices;
    m_anyEvents = anyEvents;
    m_losses = std::any_of(notices.begin(), notices.end(),
                           [](const auto& n) { return n.kind != Kind::Fact; });
    restyle();
}

void GpuNoticeBar::restyle() {
    const Theme& theme = Theme::current();
    m_summary->setText(summary());

    m_summary->setFont(theme.smallFont());
    m_toggle->setFont(theme.smallFont());
    QPalette colors = palette();
    colors.setColor(QPalette::WindowText, theme.color(m_losses ? Theme::Warning : Theme::Muted));
    m_summary->setPalette(colors);
    QString html;
    qsizetype lines = 0;
    for (const profiler::GpuNotice& n : m_notices) {
        if (++lines > kMostLines) {
            html += tr("<div>and %1 more</div>")
                        .arg(static_cast<qlonglong>(m_notices.size()) - kMostLines);
            break;
        }
        const QColor color = theme.color(n.kind == Kind::Loss  ? Theme::Warning
                                         : n.kind == Kind::Off ? Theme::Bad
                                                               : Theme::Good);
        html += QStringLiteral("<div><span style='color:%1'>■</span> %2")
                    .arg(color.name(), QString::fromStdString(n.text).left(2000).toHtmlEscaped());
        QStringList muted;
        if (!n.detail.empty()) muted << QString::fromStdString(n.detail).left(500).toHtmlEscaped();
        if (!n.process.empty())
            muted << QString::fromStdString(n.process).left(200).toHtmlEscaped();
        if (!muted.isEmpty())
            html += QStringLiteral(" <span style='color:%1'>&nbsp;%2</span>")
                        .arg(theme.color(Theme::Muted).name(), muted.join(QStringLiteral(" · ")));
        html += QStringLiteral("</div>");
    }
    m_list->setFont(theme.smallFont());
    m_list->setText(html);
    const int wanted = static_cast<int>(lines) * QFontMetrics(theme.smallFont()).lineSpacing() + 12;
    m_scroll->setFixedHeight(std::min(kListHeight, wanted));
}

}  // namespace tapescope::viewers
