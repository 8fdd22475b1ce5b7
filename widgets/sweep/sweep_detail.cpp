// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/sweep/sweep_detail.h"

#include "core/session/run_data.h"
#include "widgets/figures/groups/grouped_figure.h"
#include "widgets/figures/number_text.h"
#include "widgets/figures/panels/panel_registry.h"
#include "widgets/plots/plot_view.h"
#include "widgets/runs/bar_button.h"

#include <QDir>
#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>
#include <map>

namespace normscope::widgets {

namespace {

/// Run or group i of the figure has the colour of this group of the comparison.
void recolour(Figure& figure, const std::vector<int>& colours) {
    const auto move = [&](Role& role) {
        if (role.run >= 0 && static_cast<std::size_t>(role.run) < colours.size())
            role.run = colours[static_cast<std::size_t>(role.run)];
    };
    for (Plot& plot : figure.plots) {
        for (auto& mark : plot.curves) move(mark.role);
        for (auto& mark : plot.bands) move(mark.role);
        for (auto& mark : plot.stems) move(mark.role);
        for (auto& mark : plot.plateaus) move(mark.role);
        for (auto& mark : plot.frame_marks) move(mark.role);
        for (auto& chip : plot.chips)
            if (chip.role) move(*chip.role);
        if (plot.heading_role) move(*plot.heading_role);
    }
    for (auto& note : figure.notes)
        if (note.role) move(*note.role);
}

QString lossList(const std::vector<double>& values) {
    QStringList texts;
    for (const double value : values) texts << QString::number(value, 'f', 2);
    return texts.join(QStringLiteral(", "));
}

}  // namespace

SweepDetail::SweepDetail(QWidget* parent)
    : QWidget(parent),
      title_(new QLabel(this)),
      text_(new QLabel(this)),
      loss_title_(new QLabel(this)),
      gradients_title_(new QLabel(this)),
      loss_(new PlotView(this)),
      gradients_(new PlotView(this)),
      panels_(new BarButton(tr("Show the runs in all panels"), BarButton::Look::Outlined, this)) {
    setObjectName(QStringLiteral("sweepDetail"));
    setFixedWidth(kWidth);
    for (QLabel* label : {title_, loss_title_, gradients_title_}) {
        QFont bold = label->font();
        bold.setBold(true);
        label->setFont(bold);
    }
    title_->setWordWrap(true);
    text_->setWordWrap(true);
    text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    text_->setTextFormat(Qt::PlainText);
    text_->setMinimumHeight(text_->fontMetrics().height() * 3);
    text_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    panels_->setObjectName(QStringLiteral("sweepPanels"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 7, 12, 12);
    column->setSpacing(4);
    column->addWidget(title_);
    column->addWidget(text_);
    column->addWidget(loss_title_);
    column->addWidget(loss_, 1);
    column->addWidget(gradients_title_);
    column->addWidget(gradients_, 1);
    column->addSpacing(4);
    column->addWidget(panels_, 0, Qt::AlignRight);
    for (PlotView* plot : {loss_, gradients_}) {
        plot->setTitleShown(false);
        plot->setMinimumHeight(140);
    }
    connect(panels_, &QPushButton::clicked, this, &SweepDetail::panelsRequested);
}

void SweepDetail::setTheme(const Theme& theme) {
    loss_->setTheme(theme);
    gradients_->setTheme(theme);
}

QString SweepDetail::text() const {
    return title_->text() + u'\n' + text_->text();
}

void SweepDetail::show(const ShownSweep* sweep, const SweepSlice& slice,
                       const std::optional<SweepCells>& cells) {
    if (!sweep || !cells) {
        title_->setText(tr("No cell is marked"));
        text_->setText(
            tr("A click on a cell adds its runs to the comparison, a drag those of a rectangle. "
               "Keys: arrows, Enter; with Shift, a rectangle."));
        return drawRuns({}, false);
    }
    const auto& grid = slice.part.spec.grid;
    const auto range = [](const SweepAxis& axis, std::size_t first, std::size_t last) {
        const QString from = sweepValueName(axis, first);
        return first == last ? from : tr("%1 to %2").arg(from, sweepValueName(axis, last));
    };
    QStringList title;
    if (grid.size() > 1) title << range(grid.front(), cells->first_row, cells->last_row);
    if (!grid.empty())
        title << tr("%1 %2").arg(sweepKeyName(grid.back().key),
                                 range(grid.back(), cells->first_column, cells->last_column));
    title_->setText(title.join(QStringLiteral(" · ")));

    SweepCell together;
    std::vector<double> losses;
    QStringList seeds, recordings;
    std::map<std::size_t, const SweepRow*> rows;
    for (const SweepRow& row : slice.part.rows) rows[slice.runs[row.run]] = &row;
    const std::vector<std::size_t> runs = runsIn(slice, *cells);
    for (const std::size_t run : runs) {
        const auto row = rows.find(run);
        if (row == rows.end()) continue;
        ++together.outcomes[row->second->state];
        if (row->second->final_loss) {
            losses.push_back(*row->second->final_loss);
            seeds << QString::number(sweep->results.runs[run].seed);
        }
        recordings << QDir(sweep->folder).filePath(QString::fromStdString(row->second->recording));
    }
    constexpr std::size_t kMaxNamed = 6;
    QStringList lines;
    lines << (together.ended() == 0 ? tr("None of its runs has ended yet") : sweepOutcomes(together));
    const bool one_cell = cells->first_row == cells->last_row && cells->first_column == cells->last_column;
    if (one_cell && !losses.empty() && losses.size() <= kMaxNamed)
        lines << (losses.size() == 1 ? tr("final loss %1 nat, seed %2").arg(lossList(losses), seeds.front())
                                     : tr("final loss %1 nat for seeds %2")
                                           .arg(lossList(losses), seeds.join(QStringLiteral(", "))));
    text_->setText(lines.join(u'\n'));
    drawRuns(recordings, one_cell && runs.size() > 1);
}

void SweepDetail::drawRuns(const QStringList& recordings, bool by_seed) {
    PanelInput input;
    std::vector<Drawn> runs;
    std::vector<int> colours, group_colours;  // of each run, of each group
    RunGroups groups;
    for (const RecordedRun& run : runs_) {
        if (!recordings.contains(run.recording)) continue;
        input.runs.push_back(run.data.get());
        runs.push_back({run.data, run.data->steps.rows(), run.group});
        colours.push_back(run.group);
        const auto group = static_cast<std::size_t>(
            std::find(group_colours.begin(), group_colours.end(), run.group) - group_colours.begin());
        if (group == group_colours.size()) {
            group_colours.push_back(run.group);
            groups.groups.push_back({run.group_name, {}});
        }
        groups.groups[group].members.push_back(runs.size() - 1);
    }
    const bool grouped = !by_seed && groups.any();
    panels_->setEnabled(!runs.empty());
    if (drawn_ == runs) return;
    drawn_ = runs;
    const auto draw = [&](const char* panel, PlotView* plot, QLabel* title) {
        auto figure = std::make_shared<Figure>();
        figure->empty_text = tr("The runs of marked cells are drawn here");
        if (grouped)
            *figure = groupedFigure(panelInfo(panel), input, groups, {});
        else if (!input.runs.empty())
            *figure = buildPanel(panel, input);
        for (Plot& part : figure->plots) {
            part.chips.clear();  // no space for them
            for (std::size_t i = 0; by_seed && i < runs.size(); ++i) {
                const QString name = QString::fromStdString(runs[i].data->name);
                for (Curve& curve : part.curves)
                    curve.name.replace(name, tr("seed %1").arg(runs[i].data->seed));
            }
        }
        std::erase_if(figure->plots, [](const Plot& part) { return part.is_ratio; });
        recolour(*figure, grouped ? group_colours : colours);
        title->setText(figure->title);
        plot->setFigure(std::move(figure));
    };
    draw("training", loss_, loss_title_);
    draw("gradients", gradients_, gradients_title_);
}

}  // namespace normscope::widgets
