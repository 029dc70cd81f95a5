// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/source/source_view.h"

#include "viewers/common/empty_state.h"
#include "viewers/common/icons.h"
#include "viewers/common/theme.h"
#include "viewers/source/source_editor.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QToolButton>

#include <algorithm>

namespace tapescope::viewers {

namespace {

/// One path is the other, or ends in it at a component's border.
bool sameFile(const QString& a, const QString& b) {
    const QString x = QString(a).replace(u'\\', u'/');
    const QString y = QString(b).replace(u'\\', u'/');
    if (x.isEmpty() || y.isEmpty()) return false;
    const QString& longer = x.size() >= y.size() ? x : y;
    const QString& shorter = x.size() >= y.size() ? y : x;
    return longer == shorter ||
           (longer.endsWith(shorter) &&
            (shorter.startsWith(u'/') || longer[longer.size() - shorter.size() - 1] == u'/'));
}

}  // namespace

struct SourceView::Impl {
    explicit Impl(SourceView* view) : q(view) {}

    struct File {
        QString path;
        QString text;
        int line = 1;
        int scroll = 0;
    };

    SourceView* q;
    QStackedWidget* pages = nullptr;
    EmptyState* empty = nullptr;
    QComboBox* chooser = nullptr;
    SourceEditor* editor = nullptr;
    QWidget* bar = nullptr;  ///< find or go to line
    QLabel* barName = nullptr;
    QLineEdit* barText = nullptr;
    QLabel* barState = nullptr;
    QToolButton* previous = nullptr;
    QToolButton* next = nullptr;
    bool finding = true;  ///< the bar's purpose
    std::vector<File> files;
    int shown = -1;
    QHash<QString, QHash<int, SourceBreakpoint>> breakpoints;  ///< by path as given
    QHash<QString, QHash<int, double>> costs;
    QString currentFile;
    int currentLine = 0;

    void build();
    int indexOf(const QString& file) const;
    void show(int index);
    void updateChooser();
    void updateMarks();
    void showBar(bool find);
    void hideBar();
    void barChanged();
    void stepFind(int direction);
    template <class T>
    static T ofFile(const QHash<QString, T>& all, const QString& file) {
        for (auto it = all.cbegin(); it != all.cend(); ++it) {
            if (sameFile(it.key(), file)) return it.value();
        }
        return {};
    }
};

void SourceView::Impl::build() {
    auto* column = new QVBoxLayout(q);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    pages = new QStackedWidget(q);
    column->addWidget(pages);
    empty = new EmptyState(QStringLiteral("file"), tr("No source"), {}, pages);
    empty->setObjectName(QStringLiteral("sourceEmpty"));
    pages->addWidget(empty);
    auto* page = new QWidget(pages);
    pages->addWidget(page);
    auto* inner = new QVBoxLayout(page);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(0);

    chooser = new QComboBox(page);
    chooser->setObjectName(QStringLiteral("sourceFile"));
    chooser->setAccessibleName(tr("Source file"));
    chooser->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    chooser->setMinimumContentsLength(16);
    auto* head = new QHBoxLayout;
    head->setContentsMargins(Theme::kGrid, Theme::kGrid, Theme::kGrid, Theme::kGrid);
    head->addWidget(chooser, 1);
    inner->addLayout(head);
    editor = new SourceEditor(page);
    editor->setObjectName(QStringLiteral("sourceEditor"));
    inner->addWidget(editor, 1);
    q->setFocusProxy(editor);

    bar = new QWidget(page);
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(Theme::kGrid, Theme::kGrid, Theme::kGrid, Theme::kGrid);
    row->setSpacing(Theme::kGrid);
    barName = new QLabel(bar);
    row->addWidget(barName);
    barText = new QLineEdit(bar);
    barText->setObjectName(QStringLiteral("sourceFind"));
    barText->installEventFilter(q);
    row->addWidget(barText, 1);
    barState = new QLabel(bar);
    barState->setObjectName(QStringLiteral("sourceFindState"));
    row->addWidget(barState);
    const auto button = [&](const QString& icon, const QString& tip) {
        auto* b = new QToolButton(bar);
        b->setAutoRaise(true);
        b->setToolTip(tip);
        b->setAccessibleName(tip);
        setThemedIcon(b, icon);
        row->addWidget(b);
        return b;
    };
    previous = button(QStringLiteral("chevron-up"), tr("Previous match (Shift+F3)"));
    next = button(QStringLiteral("chevron-down"), tr("Next match (F3)"));
    QToolButton* close = button(QStringLiteral("close"), tr("Close (Esc)"));
    bar->hide();
    inner->addWidget(bar);

    connect(chooser, &QComboBox::activated, q, [this](int index) { show(index); });
    connect(editor, &SourceEditor::breakpointClicked, q, [this](int line) {
        if (shown >= 0)
            emit q->breakpointToggled(files[static_cast<std::size_t>(shown)].path, line);
    });
    connect(editor, &SourceEditor::cursorLineMoved, q, [this](int line) {
        if (shown >= 0) emit q->lineChosen(files[static_cast<std::size_t>(shown)].path, line);
    });
    connect(editor, &SourceEditor::runToRequested, q, [this](int line) {
        if (shown >= 0) emit q->runToRequested(files[static_cast<std::size_t>(shown)].path, line);
    });
    connect(editor, &SourceEditor::findRequested, q, &SourceView::showFind);
    connect(editor, &SourceEditor::goToRequested, q, &SourceView::showGoToLine);
    connect(editor, &SourceEditor::findNextRequested, q,
            [this](int direction) { stepFind(direction); });
    connect(barText, &QLineEdit::textChanged, q, [this] { barChanged(); });
    connect(previous, &QToolButton::clicked, q, [this] { stepFind(-1); });
    connect(next, &QToolButton::clicked, q, [this] { stepFind(1); });
    connect(close, &QToolButton::clicked, q, [this] { hideBar(); });
}

int SourceView::Impl::indexOf(const QString& file) const {
    const auto exact = std::ranges::find(files, file, &File::path);
    if (exact != files.end()) return static_cast<int>(exact - files.begin());
    const auto it =
        std::ranges::find_if(files, [&](const File& f) { return sameFile(f.path, file); });
    return it == files.end() ? -1 : static_cast<int>(it - files.begin());
}

void SourceView::Impl::show(int index) {
    if (shown >= 0 && shown < static_cast<int>(files.size())) {
        files[static_cast<std::size_t>(shown)].line = editor->cursorLine();
        files[static_cast<std::size_t>(shown)].scroll = editor->verticalScrollBar()->value();
    }
    shown = index;
    pages->setCurrentIndex(index >= 0 ? 1 : 0);
    chooser->setCurrentIndex(index);
    if (index < 0) {
        editor->setSource({});
        return;
    }
    const File& file = files[static_cast<std::size_t>(index)];
    chooser->setToolTip(file.path);
    editor->setSource(file.text);
    updateMarks();
    editor->goTo(file.line, false);
    editor->verticalScrollBar()->setValue(file.scroll);
    if (bar->isVisible()) barChanged();
}

void SourceView::Impl::updateChooser() {
    const QSignalBlocker block(chooser);
    chooser->clear();
    for (const File& file : files) {
        const QString name = file.path.section(u'/', -1);
        const bool unique = std::ranges::count_if(files, [&](const File& f) {
                                return f.path.section(u'/', -1) == name;
                            }) == 1;
        chooser->addItem(unique ? name : file.path);
        chooser->setItemData(chooser->count() - 1, file.path, Qt::ToolTipRole);
    }
    chooser->setCurrentIndex(shown);
}

void SourceView::Impl::updateMarks() {
    if (shown < 0) return;
    const QString& path = files[static_cast<std::size_t>(shown)].path;
    editor->setMarks(ofFile(breakpoints, path), ofFile(costs, path));
    editor->setCurrentLine(sameFile(currentFile, path) ? currentLine : 0);
}

void SourceView::Impl::showBar(bool find) {
    if (shown < 0) return;
    finding = find;
    barName->setText(find ? tr("Find") : tr("Go to line"));
    barText->setPlaceholderText(find ? QString() : tr("1 to %1").arg(editor->blockCount()));
    barText->setAccessibleName(barName->text());
    previous->setVisible(find);
    next->setVisible(find);
    const QString selected = editor->textCursor().selectedText();
    barText->setText(find && !selected.contains(QChar::ParagraphSeparator) ? selected : QString());
    bar->show();
    barText->setFocus(Qt::ShortcutFocusReason);
    barText->selectAll();
    barChanged();
}

void SourceView::Impl::hideBar() {
    bar->hide();
    editor->setFindText({});
    editor->setFocus(Qt::OtherFocusReason);
}

void SourceView::Impl::barChanged() {
    if (!finding) {
        barState->clear();
        return;
    }
    const int count = editor->setFindText(barText->text());
    barState->setText(barText->text().isEmpty() ? QString()
                      : count == 0              ? tr("none")
                                                : QString::number(count));
}

void SourceView::Impl::stepFind(int direction) {
    if (!bar->isVisible() || !finding) {
        showBar(true);
        return;
    }
    const int at = editor->step(direction);
    if (at >= 0) barState->setText(QStringLiteral("%1/%2").arg(at + 1).arg(editor->matchCount()));
}

SourceView::SourceView(QWidget* parent) : QWidget(parent), m_impl(std::make_unique<Impl>(this)) {
    m_impl->build();
    setEmptyText({});
}

SourceView::~SourceView() = default;

void SourceView::setSources(const std::vector<storage::SourceRow>& sources) {
    const QString before = currentFile();
    std::vector<Impl::File> files;
    for (const storage::SourceRow& row : sources) {
        Impl::File file{QString::fromStdString(row.path), QString::fromStdString(row.text)};
        for (const Impl::File& old : m_impl->files) {
            if (old.path != file.path) continue;
            file.line = old.path == before ? m_impl->editor->cursorLine() : old.line;
            file.scroll =
                old.path == before ? m_impl->editor->verticalScrollBar()->value() : old.scroll;
        }
        files.push_back(std::move(file));
    }
    m_impl->shown = -1;  // the old files are gone
    m_impl->files = std::move(files);
    m_impl->updateChooser();
    const int index = m_impl->indexOf(before);
    m_impl->show(index >= 0 ? index : m_impl->files.empty() ? -1 : 0);
    if (m_impl->currentLine > 0) setCurrentLine(m_impl->currentFile, m_impl->currentLine);
}

void SourceView::addSource(const QString& file, const QString& text) {
    const int index = m_impl->indexOf(file);
    if (index < 0) {
        m_impl->files.push_back({file, text});
        m_impl->updateChooser();
        if (m_impl->shown < 0) m_impl->show(0);
    } else {
        m_impl->files[static_cast<std::size_t>(index)].text = text;
        if (index == m_impl->shown) m_impl->show(index);
    }
    if (m_impl->currentLine > 0 && sameFile(m_impl->currentFile, file))
        setCurrentLine(m_impl->currentFile, m_impl->currentLine);
}

QStringList SourceView::files() const {
    QStringList result;
    for (const Impl::File& file : m_impl->files) result << file.path;
    return result;
}

QString SourceView::currentFile() const {
    return m_impl->shown < 0 ? QString()
                             : m_impl->files[static_cast<std::size_t>(m_impl->shown)].path;
}

void SourceView::setEmptyText(const QString& text) {
    m_impl->empty->setTexts(tr("No source"),
                            text.isEmpty() ? tr("It appears when a run is opened or started whose "
                                                "tape carries its sources.")
                                           : text);
}

bool SourceView::showLine(const QString& file, int line) {
    const int index = m_impl->indexOf(file);
    if (index < 0) return false;
    if (index != m_impl->shown) m_impl->show(index);
    m_impl->editor->goTo(line, false);
    return true;
}

bool SourceView::setCurrentLine(const QString& file, int line) {
    m_impl->currentFile = file;
    m_impl->currentLine = line;
    m_impl->updateMarks();
    const bool found = showLine(file, line);
    m_impl->updateMarks();
    return found;
}

void SourceView::clearCurrentLine() {
    m_impl->currentFile.clear();
    m_impl->currentLine = 0;
    m_impl->updateMarks();
}

void SourceView::setBreakpoints(const QString& file,
                                const std::vector<SourceBreakpoint>& breakpoints) {
    QHash<int, SourceBreakpoint>& marks = m_impl->breakpoints[file];
    marks.clear();
    for (const SourceBreakpoint& b : breakpoints) marks.insert(b.line, b);
    m_impl->updateMarks();
}

void SourceView::setLineCosts(const QString& file, const QHash<int, double>& nsByLine) {
    m_impl->costs[file] = nsByLine;
    m_impl->updateMarks();
}

int SourceView::cursorLine() const { return m_impl->shown < 0 ? 0 : m_impl->editor->cursorLine(); }

void SourceView::showFind() { m_impl->showBar(true); }
void SourceView::showGoToLine() { m_impl->showBar(false); }

bool SourceView::eventFilter(QObject* watched, QEvent* event) {
    if (watched != m_impl->barText || event->type() != QEvent::KeyPress)
        return QWidget::eventFilter(watched, event);
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool back = (key->modifiers() & Qt::ShiftModifier) != 0;
    switch (key->key()) {
        case Qt::Key_Escape:
            m_impl->hideBar();
            return true;
        case Qt::Key_F3:
            m_impl->stepFind(back ? -1 : 1);
            return true;
        case Qt::Key_Return:
        case Qt::Key_Enter: {
            if (m_impl->finding) {
                m_impl->stepFind(back ? -1 : 1);
                return true;
            }
            bool number = false;
            const int line = m_impl->barText->text().trimmed().toInt(&number);
            if (!number || line < 1 || line > m_impl->editor->blockCount()) {
                m_impl->barState->setText(
                    tr("Lines are 1 to %1.").arg(m_impl->editor->blockCount()));
                return true;
            }
            m_impl->hideBar();
            m_impl->editor->goTo(line, true);
            return true;
        }
        default:
            return QWidget::eventFilter(watched, event);
    }
}

}  // namespace tapescope::viewers
