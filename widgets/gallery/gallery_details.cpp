// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/gallery/gallery_details.h"

#include "core/gallery/recipe_distance.h"
#include "widgets/figures/gallery/gallery_figure.h"
#include "widgets/gallery/gallery_measures.h"
#include "widgets/gallery/gallery_texts.h"
#include "widgets/plots/glyph.h"
#include "widgets/plots/plot_view.h"
#include "widgets/plots/theme.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <algorithm>

namespace normscope::widgets {

namespace {

constexpr int kFigureHeight = 260;  // px

QLabel* label(QWidget* parent, const char* name, int px) {
    auto* made = new QLabel(parent);
    made->setObjectName(QLatin1String(name));
    QFont font = made->font();
    font.setPixelSize(px);
    made->setFont(font);
    made->setTextFormat(Qt::PlainText);
    made->setWordWrap(true);
    return made;
}

/// With the focus Space presses it rather than starting a run.
class Button : public QPushButton {
  public:
    using QPushButton::QPushButton;

  protected:
    bool event(QEvent* event) override {
        if (!keepsSpace(this, event)) return QPushButton::event(event);
        event->accept();
        return true;
    }
};

QPushButton* button(QWidget* parent, const char* name) {
    auto* made = new Button(parent);
    made->setObjectName(QLatin1String(name));
    made->setAutoDefault(false);
    return made;
}

/// A line; empty: it takes no space.
void say(QLabel* label, const QString& line) {
    label->setText(line);
    label->setVisible(!line.isEmpty());
}

}  // namespace

GalleryDetails::GalleryDetails(QWidget* parent)
    : QWidget(parent),
      title_(label(this, "galleryEntry", 13)),
      reason_(label(this, "galleryReason", 11)),
      problem_(label(this, "galleryProblem", 11)),
      run_(button(this, "galleryRun")),
      again_(button(this, "galleryAgain")),
      map_(button(this, "galleryMap")),
      remove_(button(this, "galleryRemove")),
      scrolled_(new QScrollArea(this)) {
    setObjectName(QStringLiteral("galleryDetails"));
    QFont bold = title_->font();
    bold.setBold(true);
    title_->setFont(bold);
    reason_->setForegroundRole(QPalette::PlaceholderText);
    again_->setText(tr("Measure again in a new folder"));
    again_->setToolTip(tr("The folder that is there is renamed and kept"));
    map_->setText(tr("Show the sweep"));
    map_->setToolTip(tr("As a map: a click on a cell opens its runs"));
    remove_->setText(tr("Remove from the list"));
    remove_->setToolTip(tr("Its file and its runs stay where they are"));

    auto* inside = new QWidget(scrolled_);
    inside->setBackgroundRole(QPalette::Base);
    statement_ = label(inside, "galleryStatement", 12);
    sweep_ = label(inside, "gallerySweep", 11);
    sweep_->setForegroundRole(QPalette::PlaceholderText);
    measures_ = new GalleryMeasures(inside);
    figure_ = new PlotView(inside);
    figure_->setObjectName(QStringLiteral("galleryFigure"));
    figure_->setAccessibleName(tr("Figure of the selected measure"));
    figure_->setFixedHeight(kFigureHeight);
    export_ = button(inside, "galleryExport");
    export_->setText(tr("Export this figure …"));
    arms_ = label(inside, "galleryArms", 11);
    recipe_ = label(inside, "galleryRecipe", 11);
    recipe_->setTextFormat(Qt::RichText);
    recipe_->setForegroundRole(QPalette::PlaceholderText);
    auto* texts = new QVBoxLayout(inside);
    texts->setContentsMargins(0, 0, 6, 0);
    texts->setSpacing(8);
    texts->addWidget(statement_);
    texts->addWidget(sweep_);
    texts->addWidget(measures_);
    texts->addWidget(figure_);
    texts->addWidget(export_, 0, Qt::AlignLeft);
    texts->addWidget(arms_);
    texts->addWidget(recipe_);
    texts->addStretch(1);
    scrolled_->setWidget(inside);
    scrolled_->setWidgetResizable(true);
    scrolled_->setFrameShape(QFrame::NoFrame);
    scrolled_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scrolled_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);  // the table's width does not change
    scrolled_->setFocusPolicy(Qt::NoFocus);

    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(8);
    for (QPushButton* one : {run_, again_, map_, remove_}) buttons->addWidget(one);
    buttons->addStretch(1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    column->addWidget(title_);
    column->addWidget(problem_);
    column->addLayout(buttons);
    column->addWidget(reason_);
    column->addWidget(scrolled_, 1);

    // Of a copy of the id: another entry may be shown before the receiver is done.
    connect(run_, &QPushButton::clicked, this,
            [this] { Q_EMIT running_ ? stopRequested() : runRequested(QString(id_)); });
    connect(again_, &QPushButton::clicked, this, [this] { Q_EMIT runAgainRequested(QString(id_)); });
    connect(map_, &QPushButton::clicked, this, [this] { Q_EMIT sweepRequested(QString(id_)); });
    connect(remove_, &QPushButton::clicked, this, [this] { Q_EMIT removeRequested(QString(id_)); });
    connect(export_, &QPushButton::clicked, this, [this] { Q_EMIT exportRequested(QString(id_)); });
    connect(measures_, &QTableWidget::currentCellChanged, this, &GalleryDetails::showFigure);
    followTheme();
}

void GalleryDetails::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) followTheme();
}

void GalleryDetails::followTheme() {
    const bool dark = palette().color(QPalette::Window).lightness() < 128;
    figure_->setTheme(Theme::make(dark ? Theme::Kind::Dark : Theme::Kind::Light));
}

void GalleryDetails::showFigure() {
    figure_->setVisible(!figures_.empty());
    export_->setVisible(!figures_.empty());
    if (figures_.empty()) return;
    const auto selected = static_cast<std::size_t>(std::max(0, measures_->currentRow()));
    figure_->setFigure(figures_[std::min(selected, figures_.size() - 1)]);
}

void GalleryDetails::setRow(const GalleryRow* row) {
    setVisible(row != nullptr);
    const QString id = row ? row->id() : QString();
    if (row && id != id_) {
        title_->setText(QString::fromStdString(row->entry.title));
        statement_->setText(
            tr("%1: %2").arg(sourceText(row->entry), QString::fromStdString(row->entry.statement)));
        sweep_->setText(sweepLines(row->entry.sweep).join(u'\n'));
        say(recipe_, distanceTable(recipe_distance(row->entry)));
    }
    id_ = id;
    if (!row) return;
    figures_.clear();
    const GalleryResult& result = row->state.result;
    if (result.ended > 0 && result.measured.size() == row->entry.measures.size())
        for (std::size_t i = 0; i < result.measured.size(); ++i)
            figures_.push_back(std::make_shared<const Figure>(galleryFigure(row->entry, result, i)));
    measures_->setMeasures(row->entry.measures, result.findings);
    showFigure();
    QStringList arms;
    for (const GalleryArm& arm : row->state.result.arms)
        if (arm.loss) arms << armText(arm);
    say(arms_, arms.join(u'\n'));
    showButtons(*row);
}

void GalleryDetails::showButtons(const GalleryRow& row) {
    const GalleryState& state = row.state;
    using Kind = GalleryState::Kind;
    const bool running = running_ = row.running;
    const QString obstacle = running ? QString() : row.obstacle;
    const bool other = state.kind == Kind::Other, damaged = state.kind == Kind::Damaged;
    run_->setVisible(running || (state.kind != Kind::Ended && !other));
    run_->setText(running ? (row.stopping ? tr("Stopping") : tr("Stop"))
                  : state.kind == Kind::NotRun || state.kind == Kind::Unread
                      ? tr("Run (%1 runs)").arg(row.entry.sweep.trained_runs())
                      : tr("Resume"));
    run_->setEnabled(running ? !row.stopping : obstacle.isEmpty());
    again_->setVisible(!running && (other || damaged));
    again_->setEnabled(obstacle.isEmpty());
    const auto total = row.entry.sweep.trained_runs();
    map_->setVisible(running || state.kind == Kind::Partial || state.kind == Kind::Ended || damaged);
    map_->setEnabled(running || obstacle.isEmpty());
    remove_->setVisible(row.entry.own && !running);
    say(problem_, other     ? tr("Its folder holds another sweep, and is not read: %1").arg(state.problem)
                  : damaged ? tr("Its folder cannot be read: %1").arg(state.problem)
                            : QString());
    say(reason_, running               ? tr("%1 of %2 runs have ended").arg(row.ended).arg(total)
                 : !obstacle.isEmpty() ? obstacle
                 : state.kind == Kind::Partial
                     ? tr("%1 of %2 runs have ended").arg(state.result.ended).arg(total)
                 : state.kind == Kind::Ended ? tr("All %1 runs have ended").arg(total)
                                             : QString());
}

}  // namespace normscope::widgets
