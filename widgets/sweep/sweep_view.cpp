// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/sweep/sweep_view.h"

#include "core/findings/in_words.h"
#include "widgets/knobs/choice_box.h"
#include "widgets/plots/glyph.h"
#include "widgets/plots/plot_view.h"

#include <QComboBox>
#include <QDir>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <map>

namespace normscope::widgets {

namespace {

constexpr int kSweepViewInterval = 150;  // ms between two figures while runs end
constexpr int kSweepViewHeaderHeight = 32;

}  // namespace

SweepView::SweepView(QWidget* parent)
    : QWidget(parent),
      colour_(new ChoiceBox(this)),
      map_(new PlotView(this)),
      curves_(new PlotView(this)),
      detail_(new SweepDetail(this)),
      later_(this, kSweepViewInterval, [this] { refresh(); }) {
    setObjectName(QStringLiteral("sweepView"));
    setAccessibleName(tr("Map of the sweep"));
    setAutoFillBackground(true);
    map_->setObjectName(QStringLiteral("sweepMap"));
    curves_->setObjectName(QStringLiteral("sweepCurves"));
    colour_->setObjectName(QStringLiteral("sweepColour"));
    colour_->setAccessibleName(tr("What the cells show"));
    colour_->setFocusPolicy(Qt::TabFocus);
    for (const SweepValue value : kSweepValues)
        colour_->addItem(tr("Colour: %1").arg(sweepValueTitle(value)), static_cast<int>(value));
    colour_->setCurrentIndex(colour_->findData(static_cast<int>(value_)));
    map_->setCellsMarkable(true);
    for (PlotView* plot : {map_, curves_}) plot->setTitleShown(false);

    auto* left = new QVBoxLayout;
    left->setContentsMargins(0, 0, 0, 0);
    left->setSpacing(0);
    left->addWidget(headerOf(map_, title_, subtitle_, true));
    left->addWidget(map_, 3);
    left->addWidget(headerOf(curves_, curves_title_, curves_subtitle_, false));
    left->addWidget(curves_, 2);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(1);
    row->addLayout(left, 1);
    row->addWidget(detail_);

    connect(colour_, &QComboBox::currentIndexChanged, this, [this] {
        const auto value = static_cast<SweepValue>(colour_->currentData().toInt());
        if (value != SweepValue::Scalar) setValue(value);
    });
    // Chosen again, the entry asks for another scalar.
    connect(colour_, &QComboBox::activated, this, [this] {
        if (static_cast<SweepValue>(colour_->currentData().toInt()) == SweepValue::Scalar) chooseScalar();
    });
    connect(map_, &PlotView::cellClicked, this, [this](int row_from_below, int column, int) {
        const std::size_t at = slice_.rows - 1 - static_cast<std::size_t>(row_from_below);
        open({at, static_cast<std::size_t>(column), at, static_cast<std::size_t>(column)});
    });
    connect(map_, &PlotView::cellsMarked, this, [this](int low, int first, int high, int last, int) {
        open({slice_.rows - 1 - static_cast<std::size_t>(high), static_cast<std::size_t>(first),
              slice_.rows - 1 - static_cast<std::size_t>(low), static_cast<std::size_t>(last)});
    });
    connect(detail_, &SweepDetail::panelsRequested, this, &SweepView::closed);
}

QWidget* SweepView::headerOf(PlotView* plot, QLabel*& title, QLabel*& subtitle, bool of_map) {
    auto* header = new QWidget(this);
    header->setFixedHeight(kSweepViewHeaderHeight);
    auto* row = new QHBoxLayout(header);
    row->setContentsMargins(12, 0, 4, 0);
    row->setSpacing(8);
    title = new QLabel(header);
    QFont bold = title->font();
    bold.setBold(true);
    title->setFont(bold);
    subtitle = new QLabel(header);
    subtitle->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    row->addWidget(title);
    row->addWidget(subtitle, 1);
    if (of_map) {
        further_ = new QHBoxLayout;
        row->addLayout(further_);
        row->addWidget(colour_);
    }
    auto* save = new GlyphButton(Glyph::Download, tr("Export or copy this figure"), header);
    auto* menu = new QMenu(save);
    menu->addAction(tr("Export figure…"), this, [this, plot] { Q_EMIT exportRequested(plot); });
    menu->addAction(tr("Save CSV…"), this, [this, plot] { Q_EMIT csvRequested(plot); });
    menu->addAction(tr("Copy figure"), this, [this, plot] { Q_EMIT copyRequested(plot); });
    connect(save, &QToolButton::clicked, menu,
            [save, menu] { menu->popup(save->mapToGlobal(QPoint(0, save->height()))); });
    row->addWidget(save);
    if (of_map) {
        auto* close = new GlyphButton(Glyph::Cross, tr("Show the panels (Esc)"), header);
        close->setObjectName(QStringLiteral("sweepClose"));
        connect(close, &QToolButton::clicked, this, &SweepView::closed);
        row->addWidget(close);
    }
    connect(plot, &PlotView::helpRequested, this, [this, plot] { Q_EMIT helpRequested(plot); });
    return header;
}

void SweepView::setTheme(const Theme& theme) {
    map_->setTheme(theme);
    curves_->setTheme(theme);
    detail_->setTheme(theme);
}

PlotView* SweepView::currentPlot() const {
    return curves_->hasFocus() ? curves_ : map_;
}

void SweepView::setValue(SweepValue value) {
    value_ = value;
    if (value != SweepValue::Scalar) Q_EMIT scalarRequested(std::nullopt);
    showValue();
    refresh();
}

void SweepView::setScalar(const SweepScalar& scalar) {
    Q_EMIT scalarRequested(scalar);
    setValue(SweepValue::Scalar);
}

void SweepView::showValue() {
    const int scalar = colour_->findData(static_cast<int>(SweepValue::Scalar));
    colour_->setItemText(scalar, sweep_ && sweep_->scalar
                                     ? tr("Colour: %1").arg(QString::fromStdString(sweep_->scalar->title()))
                                     : tr("Colour: scalar of a probe…"));
    const QSignalBlocker quiet(colour_);
    colour_->setCurrentIndex(colour_->findData(static_cast<int>(value_)));
}

void SweepView::chooseScalar() {
    if (!sweep_) return showValue();
    auto* menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("scalarMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    std::map<std::string, QMenu*> of_probe, of_array;
    for (const SweepScalar& scalar : sweep_scalars(parse_recipe(sweep_->results.spec.recipe, "the sweep"))) {
        QMenu*& probe = of_probe[scalar.probe];
        if (!probe) probe = menu->addMenu(QString::fromStdString(scalar.probe));
        QMenu*& array = of_array[scalar.probe + '/' + scalar.array];
        if (!array) array = probe->addMenu(QString::fromStdString(scalar.array));
        array->addAction(QString::fromStdString(read_aloud(scalar.over_text())), this,
                         [this, scalar] { setScalar(scalar); });
    }
    connect(menu, &QMenu::aboutToHide, this, &SweepView::showValue);  // dismissed: what was shown before
    menu->popup(colour_->mapToGlobal(QPoint(0, colour_->height())));
}

void SweepView::setSweep(const ShownSweep* sweep) {
    sweep_ = sweep;
    applySweep();
}

void SweepView::updateSweep() {
    later_.request();
}

void SweepView::setRuns(std::vector<RecordedRun> runs) {
    detail_->setRuns(std::move(runs));
    updateSweep();
}

void SweepView::applySweep() {
    if (sweep_ && (sweep_->folder != folder_ || axes_.fixed.size() != sweep_->results.spec.grid.size())) {
        folder_ = sweep_->folder;
        axes_ = defaultAxes(sweep_->results.spec);
        marked_.reset();
        if (value_ == SweepValue::Scalar) value_ = SweepValue::FinalLoss;  // it was the other sweep's
    }
    showValue();
    fillAxes();
    refresh();
}

void SweepView::fillAxes() {
    for (QWidget* choice : choices_) choice->deleteLater();
    choices_.clear();
    if (!sweep_) return;
    const auto& grid = sweep_->results.spec.grid;
    const auto choiceOf = [&](const QStringList& texts, std::size_t now, const QString& name, auto chosen) {
        auto* box = new ChoiceBox(this);
        box->addItems(texts);
        box->setCurrentIndex(static_cast<int>(now));
        box->setAccessibleName(name);
        box->setToolTip(name);
        box->setFocusPolicy(Qt::TabFocus);
        further_->addWidget(box);
        choices_.push_back(box);
        connect(box, &QComboBox::activated, this, [this, chosen](int index) {
            chosen(static_cast<std::size_t>(index));
            marked_.reset();
            QTimer::singleShot(0, this, &SweepView::applySweep);  // deletes the box that is activated
        });
    };
    if (grid.size() <= 2) return;
    // Rows and columns are chosen where there are more than two keys; each of the others has one value.
    QStringList keys;
    for (const SweepAxis& axis : grid) keys << sweepKeyName(axis.key);
    const auto exchange = [](std::optional<std::size_t>& mine, std::optional<std::size_t>& other,
                             std::size_t key) {
        if (other == key) other = mine;
        mine = key;
    };
    QStringList rows, columns;
    for (const QString& key : keys) {
        rows << tr("Rows: %1").arg(key);
        columns << tr("Columns: %1").arg(key);
    }
    choiceOf(rows, *axes_.row, tr("Key of the rows"),
             [this, exchange](std::size_t key) { exchange(axes_.row, axes_.column, key); });
    choiceOf(columns, *axes_.column, tr("Key of the columns"),
             [this, exchange](std::size_t key) { exchange(axes_.column, axes_.row, key); });
    for (std::size_t key = 0; key < grid.size(); ++key) {
        if (key == axes_.row || key == axes_.column) continue;
        QStringList values;
        for (std::size_t i = 0; i < grid[key].values.size(); ++i)
            values << QStringLiteral("%1 %2").arg(keys[static_cast<qsizetype>(key)],
                                                  sweepValueName(grid[key], i));
        choiceOf(values, axes_.fixed[key], keys[static_cast<qsizetype>(key)],
                 [this, key](std::size_t value) { axes_.fixed[key] = value; });
    }
}

void SweepView::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    refresh();
}

void SweepView::refresh() {
    if (!isVisible()) return;
    Figure map, curves;
    if (sweep_) {
        slice_ = sliceOf(sweep_->results, axes_, sweep_->training);
        if (sweep_->scalar) widgets::setScalar(slice_, *sweep_->scalar, sweep_->scalars);
        map = sweepMap(slice_, value_, marked_);
        curves = sweepCurves(slice_);
    } else {
        map.title = tr("Sweep");
        map.empty_text =
            tr("No sweep is open. \"New sweep…\" trains schemes, learning rates or any two keys against each "
               "other; \"Open a sweep…\" shows a folder that normscope-cli sweep has written.");
    }
    title_->setText(map.title);
    subtitle_->setText(map.subtitle);
    curves_title_->setText(curves.title);
    curves_subtitle_->setText(curves.subtitle);
    colour_->setEnabled(sweep_ != nullptr);
    map_->setFigure(std::make_shared<const Figure>(std::move(map)));
    curves_->setFigure(std::make_shared<const Figure>(std::move(curves)));
    detail_->show(sweep_, slice_, marked_);
}

void SweepView::open(const SweepCells& cells) {
    marked_ = cells;
    addRuns(runsIn(slice_, cells));
    refresh();
}

void SweepView::openBest() {
    const HeatMap& drawn = map_->figure()->plots.front().maps.front();
    std::vector<std::size_t> runs;
    for (std::size_t row = 0; row < slice_.rows; ++row)
        for (std::size_t column = 0; column < slice_.columns; ++column)
            if (drawn.runs[(slice_.rows - 1 - row) * slice_.columns + column].best)
                for (const std::size_t run : slice_.runsOf(row, column)) runs.push_back(run);
    marked_.reset();
    addRuns(runs);
    Q_EMIT closed();
}

/// Those that have ended, at most kMaxOpened; one line states what is not added.
void SweepView::addRuns(const std::vector<std::size_t>& runs) {
    if (!sweep_) return;
    QStringList paths, lines;
    std::size_t missing = 0, waiting = 0;
    for (const std::size_t run : runs) {
        const auto& rows = sweep_->results.rows;
        const auto row = std::lower_bound(rows.begin(), rows.end(), run,
                                          [](const SweepRow& r, std::size_t index) { return r.run < index; });
        if (row == rows.end() || row->run != run)
            ++waiting;
        else if (row->recording.empty() || sweep_->missing.count(run))
            ++missing;
        else
            paths << QDir(sweep_->folder).filePath(QString::fromStdString(row->recording));
    }
    const qsizetype ended = paths.size();
    if (ended > static_cast<qsizetype>(kMaxOpened)) {
        paths = paths.mid(0, static_cast<qsizetype>(kMaxOpened));
        lines
            << tr("%1 of %2 runs are added: a comparison of more cannot be read").arg(kMaxOpened).arg(ended);
    }
    if (missing > 0) lines << tr("%1 of %2 recordings are not in the folder").arg(missing).arg(runs.size());
    if (waiting == runs.size() && !runs.empty()) lines << tr("None of these runs has ended yet");
    if (!lines.isEmpty()) Q_EMIT problem(lines.join(QStringLiteral("; ")));
    if (!paths.isEmpty()) Q_EMIT runsRequested(paths);
}

}  // namespace normscope::widgets
