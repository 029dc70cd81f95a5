// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewers/graph/graph_view.h"

#include "viewers/common/icons.h"
#include "viewers/common/theme.h"
#include "viewers/graph/graph_canvas.h"
#include "viewers/graph/graph_export.h"
#include "viewers/models/selection.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPointer>
#include <QStandardItemModel>
#include <QToolButton>

namespace tapescope::viewers {

struct GraphView::Impl {
    explicit Impl(GraphView* view) : q(view) {}

    GraphView* q;
    QLineEdit* search = nullptr;
    QLabel* matches = nullptr;
    QToolButton* previous = nullptr;
    QToolButton* next = nullptr;
    QComboBox* colour = nullptr;
    GraphCanvas* canvas = nullptr;
    QPointer<Selection> selection;
    bool following = true;
    bool first = true;
    bool syncing = false;  ///< the selection's change is our own

    GraphState& state() { return canvas->state(); }

    void build();
    QToolButton* button(QHBoxLayout* row, const QString& iconName, const QString& tip);
    void updateHeatChoices();
    void showMatches();
    void stepMatch(int direction);
    void publish(int node, int group);
    void takeSelectedOp();
    void takeSelectedModule();
    void showMenu(int box, const QPoint& at);
    void exportTo(bool svg);
    void selectBox(int node, int group);
    void toggleBreakpoint(int box);
    void showCurrent(bool centre);
};

QToolButton* GraphView::Impl::button(QHBoxLayout* row, const QString& iconName,
                                     const QString& tip) {
    auto* b = new QToolButton(q);
    b->setAutoRaise(true);
    b->setToolTip(tip);
    b->setAccessibleName(tip);
    setThemedIcon(b, iconName);
    row->addWidget(b);
    return b;
}

void GraphView::Impl::build() {
    auto* column = new QVBoxLayout(q);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* row = new QHBoxLayout;
    row->setContentsMargins(Theme::kGrid, Theme::kGrid, Theme::kGrid, Theme::kGrid);
    row->setSpacing(Theme::kGrid);
    column->addLayout(row);

    search = new QLineEdit(q);
    search->setObjectName(QStringLiteral("graphSearch"));
    search->setPlaceholderText(tr("Find operator or module"));
    search->setAccessibleName(tr("Find in the graph"));
    search->setToolTip(
        tr("Operator, module path or type, leaf, or #number (Ctrl+F)\nEnter: next, Shift+Enter: "
           "previous"));
    search->setClearButtonEnabled(true);
    search->setMaximumWidth(280);
    search->installEventFilter(q);
    row->addWidget(search, 1);
    matches = new QLabel(q);
    matches->setObjectName(QStringLiteral("graphMatches"));
    row->addWidget(matches);
    previous = button(row, QStringLiteral("chevron-up"), tr("Previous match (Shift+Enter)"));
    next = button(row, QStringLiteral("chevron-down"), tr("Next match (Enter)"));
    row->addStretch(0);
    colour = new QComboBox(q);
    colour->setObjectName(QStringLiteral("graphColour"));
    colour->setAccessibleName(tr("Colour by"));
    colour->setToolTip(tr("What the colour of the nodes means"));
    colour->addItem(tr("Colour: phase"), static_cast<int>(GraphHeat::Kind));
    colour->addItem(tr("Colour: time"), static_cast<int>(GraphHeat::Time));
    colour->addItem(tr("Colour: arithmetic"), static_cast<int>(GraphHeat::Flops));
    colour->addItem(tr("Colour: memory traffic"), static_cast<int>(GraphHeat::Memory));
    row->addWidget(colour);
    auto* collapse = button(row, QStringLiteral("minus"), tr("Close all modules"));
    auto* expand = button(row, QStringLiteral("plus"), tr("Open all modules"));
    auto* fitAll = button(row, QStringLiteral("fit"), tr("Show the whole graph (F)"));
    auto* save = button(row, QStringLiteral("export"), tr("Save as a picture"));
    save->setPopupMode(QToolButton::InstantPopup);
    auto* saveMenu = new QMenu(save);
    connect(saveMenu->addAction(tr("Save as PNG…")), &QAction::triggered, q,
            [this] { exportTo(false); });
    connect(saveMenu->addAction(tr("Save as SVG…")), &QAction::triggered, q,
            [this] { exportTo(true); });
    save->setMenu(saveMenu);

    canvas = new GraphCanvas(q);
    canvas->setObjectName(QStringLiteral("graphCanvas"));
    column->addWidget(canvas, 1);
    q->setFocusProxy(canvas);

    connect(collapse, &QToolButton::clicked, q, &GraphView::collapseAll);
    connect(expand, &QToolButton::clicked, q, &GraphView::expandAll);
    connect(fitAll, &QToolButton::clicked, q, &GraphView::fit);
    connect(search, &QLineEdit::textChanged, q, [this](const QString& text) {
        state().setSearch(text.trimmed().toStdString());
        canvas->update();
        showMatches();
    });
    connect(previous, &QToolButton::clicked, q, [this] { stepMatch(-1); });
    connect(next, &QToolButton::clicked, q, [this] { stepMatch(1); });
    connect(colour, &QComboBox::activated, q,
            [this](int i) { q->setHeat(static_cast<GraphHeat>(colour->itemData(i).toInt())); });
    connect(canvas, &GraphCanvas::chosen, q, [this](int node, int group) { publish(node, group); });
    connect(canvas, &GraphCanvas::activated, q,
            [this](int node) { emit q->activated(state().graph().nodes[node].seq); });
    connect(canvas, &GraphCanvas::breakpointClicked, q, [this](int box) { toggleBreakpoint(box); });
    connect(canvas, &GraphCanvas::menuRequested, q,
            [this](int box, const QPoint& at) { showMenu(box, at); });
    connect(canvas, &GraphCanvas::searchRequested, q, &GraphView::focusSearch);
    connect(canvas, &GraphCanvas::showCurrentRequested, q, [this] { showCurrent(true); });
    updateHeatChoices();
    showMatches();
}

void GraphView::Impl::updateHeatChoices() {
    const bool known = state().data() && !state().data()->timeNs.empty();
    auto* model = qobject_cast<QStandardItemModel*>(colour->model());
    QStandardItem* time = model->item(colour->findData(static_cast<int>(GraphHeat::Time)));
    time->setEnabled(known);
    time->setToolTip(known ? QString() : tr("The tape has no operator times for this step."));
    if (!known && state().heat() == GraphHeat::Time) q->setHeat(GraphHeat::Kind);
}

void GraphView::Impl::showMatches() {
    const int count = state().matchCount();
    const bool any = !search->text().trimmed().isEmpty();
    matches->setText(!any     ? QString()
                     : !count ? tr("none")
                              : QStringLiteral("%1/%2").arg(state().activeMatch() + 1).arg(count));
    matches->setVisible(any);
    previous->setVisible(any);
    next->setVisible(any);
    previous->setEnabled(count > 0);
    next->setEnabled(count > 0);
}

void GraphView::Impl::stepMatch(int direction) {
    const int count = state().matchCount();
    if (count == 0) return;
    const int now = state().activeMatch();
    state().setActiveMatch(now < 0 ? (direction > 0 ? 0 : count - 1)
                                   : (now + direction + count) % count);
    canvas->sceneChanged();
    canvas->showBox(state().activeMatchBox(), false);
    showMatches();
}

void GraphView::Impl::publish(int node, int group) {
    const storage::GraphNode* op = state().operatorAt(node);
    emit q->selected(op != nullptr ? static_cast<qint64>(op->seq) : -1);
    if (!selection) return;
    syncing = true;
    if (op != nullptr) {
        selection->setOp({state().data()->graph.id, op->seq, 0, -1});
        for (const storage::SiteRow& site : state().data()->sites) {
            if (site.id == op->site && site.line > 0) {
                selection->setSite(
                    {QString::fromStdString(site.file), static_cast<int>(site.line)});
            }
        }
    }
    const int around = node >= 0 ? state().graph().nodes[node].group : group;
    if (around >= 0)
        selection->setModulePath(QString::fromStdString(state().graph().groups[around].path));
    syncing = false;
}

void GraphView::Impl::selectBox(int node, int group) {
    const GraphCanvas::Anchor anchor = canvas->anchorAt(-1);
    if (node >= 0) state().reveal(node);
    state().select(node, group);
    canvas->restore(anchor);
    canvas->sceneChanged();
    if (state().selectedBox() >= 0) canvas->showBox(state().selectedBox(), false);
}

void GraphView::Impl::takeSelectedOp() {
    if (syncing || !selection || !state().data()) return;
    const OpRef& op = selection->op();
    if (op.graph != state().data()->graph.id || op.seq < 0) return;
    const int node = state().nodeOf(static_cast<std::uint32_t>(op.seq));
    if (node >= 0 && node != state().selectedNode()) selectBox(node, -1);
}

void GraphView::Impl::takeSelectedModule() {
    if (syncing || !selection || selection->modulePath().isEmpty()) return;
    const std::string path = selection->modulePath().toStdString();
    // An operator chosen in that module stays chosen.
    if (const int node = state().selectedNode(); node >= 0) {
        if (state().graph().groups[state().graph().nodes[node].group].path == path) return;
    }
    for (int g = 0; g < static_cast<int>(state().graph().groups.size()); ++g) {
        const GraphGroup& group = state().graph().groups[g];
        if (group.kind == GraphGroup::Kind::Module && group.path == path) {
            selectBox(-1, g);
            return;
        }
    }
}

void GraphView::Impl::toggleBreakpoint(int box) {
    const GraphPlace place = state().place(box);
    if (place.op.empty() && place.module.empty()) return;
    emit q->breakpointToggled(QString::fromStdString(place.op),
                              QString::fromStdString(place.module), place.backward);
}

void GraphView::Impl::showMenu(int box, const QPoint& at) {
    QMenu menu(q);
    if (box >= 0) {
        const SceneBox& b = state().scene().boxes[box];
        const GraphPlace place = state().place(box);
        if (!place.op.empty() || !place.module.empty()) {
            const QString name = QString::fromStdString(breakpointName(place));
            QAction* toggle = menu.addAction(tr("Toggle breakpoint on “%1”").arg(name), q,
                                             [this, box] { toggleBreakpoint(box); });
            toggle->setShortcut(Qt::Key_F9);
            menu.addAction(tr("Run to here"), q, [this, place] {
                emit q->runToRequested(QString::fromStdString(place.op),
                                       QString::fromStdString(place.module), place.backward);
            });
            menu.addAction(tr("Copy name"), q,
                           [name] { QApplication::clipboard()->setText(name); });
        }
        if (b.group >= 0 && state().graph().groups[b.group].kind != GraphGroup::Kind::Column) {
            const int group = b.group;
            menu.addAction(b.open ? tr("Close group") : tr("Open group"), q,
                           [this, group] { canvas->toggleGroup(group); });
        }
        menu.addSeparator();
    }
    menu.addAction(tr("Show the whole graph"), q, &GraphView::fit);
    menu.addAction(tr("Open all modules"), q, &GraphView::expandAll);
    menu.addAction(tr("Close all modules"), q, &GraphView::collapseAll);
    QAction* follow = menu.addAction(tr("Follow the current operator"));
    follow->setCheckable(true);
    follow->setChecked(following);
    connect(follow, &QAction::toggled, q, &GraphView::setFollowing);
    menu.addSeparator();
    menu.addAction(tr("Save as PNG…"), q, [this] { exportTo(false); });
    menu.addAction(tr("Save as SVG…"), q, [this] { exportTo(true); });
    menu.exec(at);
}

void GraphView::Impl::exportTo(bool svg) {
    const QString path = QFileDialog::getSaveFileName(
        q, tr("Save the graph"), svg ? QStringLiteral("graph.svg") : QStringLiteral("graph.png"),
        svg ? tr("SVG pictures (*.svg)") : tr("PNG pictures (*.png)"));
    if (path.isEmpty()) return;
    QString error;
    if (!(svg ? q->exportSvg(path, &error) : q->exportPng(path, &error)))
        QMessageBox::warning(q, tr("Save the graph"), error);
}

void GraphView::Impl::showCurrent(bool centre) {
    const int node = state().current() ? state().nodeOf(*state().current()) : -1;
    if (node >= 0) canvas->showBox(state().scene().boxOfNode[node], centre);
}

GraphView::GraphView(QWidget* parent) : QWidget(parent), m_impl(std::make_unique<Impl>(this)) {
    m_impl->build();
    setEmptyText({});
}

GraphView::~GraphView() = default;

void GraphView::setGraph(GraphDataPtr shown) {
    const GraphCanvas::Anchor anchor =
        m_impl->state().empty() ? GraphCanvas::Anchor() : m_impl->canvas->anchorAt(-1);
    m_impl->state().setData(std::move(shown));
    if (m_impl->state().empty()) {
        m_impl->first = true;
    } else if (m_impl->first) {
        m_impl->first = false;
        m_impl->canvas->showBeginning();
    } else {
        m_impl->canvas->restore(anchor);
    }
    m_impl->updateHeatChoices();
    m_impl->canvas->sceneChanged();
    m_impl->showMatches();
    if (m_impl->following) m_impl->showCurrent(false);
}

GraphDataPtr GraphView::graph() const { return m_impl->state().data(); }

void GraphView::setEmptyText(const QString& text) {
    m_impl->canvas->setEmptyText(text.isEmpty() ? tr("No graph yet. It appears when a step has "
                                                     "run, or when a run stops at a breakpoint.")
                                                : text);
}

void GraphView::setCurrent(std::optional<std::uint32_t> seq, bool after) {
    const GraphCanvas::Anchor anchor = m_impl->canvas->anchorAt(-1);
    m_impl->state().setCurrent(seq, after, m_impl->following);
    if (!m_impl->state().empty()) m_impl->canvas->restore(anchor);
    m_impl->canvas->sceneChanged();
    if (m_impl->following) m_impl->showCurrent(false);
}

void GraphView::setProgress(std::optional<std::uint32_t> seq) {
    m_impl->state().setProgress(seq);
    m_impl->canvas->update();
}

void GraphView::setFollowing(bool on) { m_impl->following = on; }

void GraphView::setBreakpoints(std::vector<GraphBreakpoint> breakpoints) {
    m_impl->state().setBreakpoints(std::move(breakpoints));
    m_impl->canvas->update();
}

void GraphView::setHeat(GraphHeat heat) {
    m_impl->state().setHeat(heat);
    m_impl->colour->setCurrentIndex(m_impl->colour->findData(static_cast<int>(heat)));
    m_impl->canvas->update();
}

GraphHeat GraphView::heat() const { return m_impl->state().heat(); }

void GraphView::setSelection(Selection* selection) {
    if (m_impl->selection) disconnect(m_impl->selection, nullptr, this, nullptr);
    m_impl->selection = selection;
    if (selection == nullptr) return;
    connect(selection, &Selection::opChanged, this, [this] { m_impl->takeSelectedOp(); });
    connect(selection, &Selection::modulePathChanged, this,
            [this] { m_impl->takeSelectedModule(); });
}

std::optional<std::uint32_t> GraphView::selectedNode() const {
    const storage::GraphNode* op = m_impl->state().operatorAt(m_impl->state().selectedNode());
    return op != nullptr ? std::optional(op->seq) : std::nullopt;
}

void GraphView::selectNode(std::optional<std::uint32_t> seq) {
    m_impl->selectBox(seq ? m_impl->state().nodeOf(*seq) : -1, -1);
}

void GraphView::focusSearch() {
    m_impl->search->setFocus(Qt::ShortcutFocusReason);
    m_impl->search->selectAll();
}

void GraphView::setSearchText(const QString& text) { m_impl->search->setText(text); }

void GraphView::fit() { m_impl->canvas->fit(); }

void GraphView::expandAll() {
    m_impl->state().setAllOpen(true);
    m_impl->canvas->showBeginning();
    m_impl->canvas->sceneChanged();
}

void GraphView::collapseAll() {
    m_impl->state().setAllOpen(false);
    m_impl->canvas->showBeginning();
    m_impl->canvas->sceneChanged();
}

bool GraphView::exportPng(const QString& path, QString* error) const {
    return exportGraphPng(m_impl->canvas->state(), path, error);
}

bool GraphView::exportSvg(const QString& path, QString* error) const {
    return exportGraphSvg(m_impl->canvas->state(), path, error);
}

bool GraphView::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_impl->search && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        switch (key->key()) {
            case Qt::Key_Return:
            case Qt::Key_Enter:
                m_impl->stepMatch(key->modifiers() & Qt::ShiftModifier ? -1 : 1);
                return true;
            case Qt::Key_Escape:
                m_impl->search->clear();
                m_impl->canvas->setFocus(Qt::OtherFocusReason);
                return true;
            default:
                break;
        }
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace tapescope::viewers
