// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/panel_cell.h"

#include "widgets/figures/csv.h"
#include "widgets/figures/panels/panel_reading.h"
#include "widgets/figures/panels/panel_registry.h"
#include "widgets/figures/view_state.h"
#include "widgets/plots/glyph.h"

#include <QActionGroup>
#include <QApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QMouseEvent>
#include <QRegularExpression>
#include <QToolButton>
#include <QVBoxLayout>

namespace normscope::widgets {

namespace {

constexpr int kPanelCellHeaderHeight = 32, kPanelCellMargin = 16, kButtonPadding = 4, kPanelCellTitle = 14,
              kSubtitle = 11;
constexpr int kWidestStep = 9999;
const QString kPartsBetween = QStringLiteral(" · ");
constexpr int kLargeText = 24, kLargeMargin = 30;
constexpr int kPendingDelay =
    100;  // ms: a figure that awaits its measurement has its runs' names as late as this

QToolButton* headerButton(QWidget* parent, const QString& text, const QString& name,
                          const char* object_name) {
    auto* button = new QToolButton(parent);
    button->setText(text);
    button->setToolTip(name);
    button->setAccessibleName(name);
    button->setObjectName(QLatin1String(object_name));
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::TabFocus);
    return button;
}

QToolButton* glyphButton(QWidget* parent, Glyph glyph, const QString& name, const char* object_name) {
    auto* button = new GlyphButton(glyph, name, parent);
    button->setObjectName(QLatin1String(object_name));
    return button;
}

/// A menu opened below the button on a click, without Qt's menu arrow.
QMenu* popUpMenu(QToolButton* button) {
    auto* menu = new QMenu(button);
    QObject::connect(button, &QToolButton::clicked, menu,
                     [button, menu] { menu->popup(button->mapToGlobal(QPoint(0, button->height()))); });
    return menu;
}

}  // namespace

PanelCell::PanelCell(const FigureSource& source, const std::string& panel, QWidget* parent)
    : QFrame(parent),
      source_(source),
      panel_(panel),
      options_{{panel, {}}},
      later_(this, kPendingDelay,
             [this] {
                 if (isVisible()) draw(source_.figureKey(panel_, options_[panel_]));
             }),
      plot_(new PlotView(this)) {
    header_ = new QWidget(this);
    header_->setObjectName(QStringLiteral("header"));
    header_->setFixedHeight(kPanelCellHeaderHeight);
    header_->installEventFilter(this);
    header_->setBackgroundRole(QPalette::Base);  // one surface with the plot
    header_->setAutoFillBackground(true);
    menu_ = headerButton(header_, {}, tr("Choose the panel of this cell"), "panelMenu");
    panel_menu_ = popUpMenu(menu_);
    subtitle_ = new QLabel(header_);
    subtitle_->setObjectName(QStringLiteral("subtitle"));
    subtitle_->setForegroundRole(QPalette::PlaceholderText);
    subtitle_->setAttribute(Qt::WA_TransparentForMouseEvents);
    subtitle_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    setTypes();
    measure_ =
        headerButton(header_, {}, tr("Measure the shown step: replays the run up to it (M)"), "panelMeasure");
    measure_->hide();
    connect(measure_, &QToolButton::clicked, this, &PanelCell::measureRequested);
    options_button_ = glyphButton(header_, Glyph::More, tr("Options of the panel"), "panelOptions");
    options_menu_ = popUpMenu(options_button_);
    // On the header's right end while the mouse is over the panel or the header has the keyboard's focus.
    tools_ = new QWidget(header_);
    tools_->setObjectName(QStringLiteral("tools"));
    tools_->setBackgroundRole(QPalette::Base);
    tools_->setAutoFillBackground(true);
    auto* save = glyphButton(tools_, Glyph::Download, tr("Export or copy this figure"), "panelExport");
    QMenu* save_menu = popUpMenu(save);
    save_menu->addAction(tr("Export figure…"), this, &PanelCell::exportRequested);
    save_menu->addAction(tr("Save CSV…"), this, &PanelCell::csvRequested);
    save_menu->addAction(tr("Copy figure"), this, &PanelCell::copyRequested);
    auto* help = headerButton(tools_, QStringLiteral("?"), tr("Formula, source and erratum"), "panelHelp");
    connect(help, &QToolButton::clicked, this, &PanelCell::helpRequested);
    auto* expand = glyphButton(tools_, Glyph::Expand, tr("Maximise (F)"), "panelExpand");
    connect(expand, &QToolButton::clicked, this, &PanelCell::focusRequested);

    auto* row = new QHBoxLayout(header_);
    row->setContentsMargins(kPanelCellMargin - kButtonPadding, 0, 4, 0);
    row->setSpacing(2);
    row->addWidget(menu_);
    row->addWidget(subtitle_, 1);
    row->addWidget(measure_);
    row->addWidget(options_button_);
    auto* tools = new QHBoxLayout(tools_);
    tools->setContentsMargins(4, 0, 2, 0);
    tools->setSpacing(2);
    for (QToolButton* button : {save, help, expand}) tools->addWidget(button);
    tools_->hide();
    // Left to right. A hidden button takes no Tab: with the focus in the header they are shown.
    QWidget* before = menu_;
    for (QToolButton* button : {save, help, expand, measure_, options_button_}) {
        setTabOrder(before, button);
        before = button;
    }
    connect(qApp, &QApplication::focusChanged, this, &PanelCell::showTools);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(header_);
    column->addWidget(plot_, 1);

    plot_->setTitleShown(false);
    connect(plot_, &PlotView::focusRequested, this, &PanelCell::focusRequested);
    connect(plot_, &PlotView::helpRequested, this, &PanelCell::helpRequested);
    connect(plot_, &PlotView::viewStateChanged, this, [this] { views_[panel_] = plot_->viewState(); });
    connect(plot_, &PlotView::cellClicked, this, &PanelCell::pickCell);
    fillPanelMenu();
    fillOptionsMenu();
}

void PanelCell::pickCell(int row_index, int column_index, int plot) {
    const HeatMap& map = plot_->figure()->plots[static_cast<std::size_t>(plot)].maps.front();
    if (map.column_steps.empty()) {
        Q_EMIT layerPicked(row_index, column_index);
        return;
    }
    const std::int64_t step = map.column_steps[static_cast<std::size_t>(column_index)];
    if (step >= 0) Q_EMIT stepPicked(step);
}

void PanelCell::fillPanelMenu() {
    panel_menu_->clear();
    for (const PanelQuestion question : kPanelQuestions) {
        panel_menu_->addSection(questionText(question));
        for (const PanelInfo& info : panels()) {
            if (panelReading(info.id).question != question) continue;
            // After the tab: at the menu's right edge.
            QAction* action = panel_menu_->addAction(info.title + u'\t' + costText(info.probes), this,
                                                     [this, id = info.id] { setPanel(id); });
            action->setCheckable(true);
            action->setChecked(info.id == panel_);
        }
    }
    menu_->setText(panelInfo(panel_).title + QStringLiteral(" ▾"));
}

void PanelCell::fillOptionsMenu() {
    QMenu* menu = options_menu_;
    menu->clear();
    const PanelInfo& info = panelInfo(panel_);
    const PanelOptions now = resolveOptions(info, options_[panel_]);
    for (const PanelOption& option : info.options) {
        menu->addSection(option.label);
        auto* group = new QActionGroup(menu);
        for (const std::string& value : option.values) {
            QAction* action = menu->addAction(optionTitle(value), this, [this, key = option.key, value] {
                options_[panel_][key] = value;
                // The axes changed: an old zoom does not apply.
                plot_->resetView();
                fillOptionsMenu();
                refresh();
            });
            action->setCheckable(true);
            action->setChecked(now.at(option.key) == value);
            group->addAction(action);
        }
    }
    options_button_->setEnabled(!info.options.empty());
}

void PanelCell::setPanel(const std::string& panel) {
    if (panel == panel_) return fillPanelMenu();  // a click on the checked entry unchecked it
    panel_ = panelInfo(panel).id;
    options_.try_emplace(panel_);
    plot_->setViewState(views_[panel_]);
    fillPanelMenu();
    fillOptionsMenu();
    Q_EMIT panelChanged();  // before the figure: it depends on what is being measured
    refresh();
}

void PanelCell::setOptions(const PanelOptions& options) {
    resolveOptions(panelInfo(panel_), options);  // throws on unknown options
    options_[panel_] = options;
    fillOptionsMenu();
    refresh();
}

void PanelCell::setViews(const std::map<std::string, PlotViewState>& views) {
    views_ = views;
    plot_->setViewState(views_[panel_]);
}

void PanelCell::setTextSizes(int text_px, double line_px) {
    plot_->setSizes(text_px, line_px);
    const bool large = text_px >= 18;
    if (large != large_) drawn_.reset();
    large_ = large;
    header_->setFixedHeight(large ? 2 * text_px - 4 : kPanelCellHeaderHeight);
    header_->layout()->setContentsMargins(large ? kLargeMargin : kPanelCellMargin - kButtonPadding, 0, 4, 0);
    options_button_->setVisible(!large);
    setTypes();
    refresh();
    elideSubtitle();
    showTools();
}

void PanelCell::setTypes() {
    QFont title = font(), subtitle = font();
    title.setPixelSize(large_ ? kLargeText : kPanelCellTitle);
    title.setWeight(QFont::DemiBold);
    subtitle.setPixelSize(large_ ? kLargeText : kSubtitle);
    menu_->setFont(title);
    subtitle_->setFont(subtitle);
}

void PanelCell::refresh() {
    dirty_ = !isVisible();
    if (dirty_) return;
    FigureKey key = source_.figureKey(panel_, options_[panel_]);
    if (drawn_ == key) return;
    // While knobs move in quick succession, what waits for its measurement is not redrawn for each new name.
    if (drawn_ && key.pendingAs(*drawn_)) {
        later_.request();
        return;
    }
    draw(std::move(key));
}

void PanelCell::draw(FigureKey key) {
    later_.cancel();
    drawn_ = std::move(key);
    Q_EMIT figureAsked();
    Figure figure = source_.figure(panel_, options_[panel_]);
    if (large_) figure = withoutRatio(std::move(figure));  // too low for two large labels
    menu_->setText(figure.title + QStringLiteral(" ▾"));   // of the quantity where a panel shows several
    full_subtitle_ = figure.subtitle;
    has_steps_ = figure.unmeasured || (!figure.plots.empty() && figure.plots.front().x.covers);
    measure_->setVisible(figure.unmeasured && !large_);
    if (figure.unmeasured) measure_->setText(tr("Measure step %1").arg(*figure.unmeasured));
    quantity_.clear();
    if (figure.quantity_in_header && !figure.plots.empty())
        quantity_ = figure.plots.front().y.text() + kPartsBetween;
    quantity_fits_ = quantityFits();
    figure.quantity_in_header = figure.quantity_in_header && quantity_fits_;  // else above its axis
    if (quantity_fits_) full_subtitle_.prepend(quantity_);
    elideSubtitle();
    Q_EMIT figureBuilt();
    plot_->setFigure(std::make_shared<const Figure>(std::move(figure)));
    Q_EMIT figureShown();
}

bool PanelCell::quantityFits() {
    header_->layout()->activate();  // the title's width may have changed
    // The same at every step, so that the axes stay where they are: with four digits and the button.
    static const QRegularExpression kStep(QStringLiteral("step \\d+")),
        kOthers(QStringLiteral(" \\([^)]*\\)"));
    QString with = full_subtitle_.startsWith(quantity_) ? full_subtitle_ : quantity_ + full_subtitle_;
    if (has_steps_) with.remove(kOthers).replace(kStep, QStringLiteral("step %1").arg(kWidestStep));
    const int space =
        (measure_->isHidden() ? subtitle_->geometry() : measure_->geometry()).right() - subtitle_->x();
    const int button =
        large_ || !has_steps_
            ? 0
            : measure_->fontMetrics().horizontalAdvance(tr("Measure step %1").arg(kWidestStep)) +
                  4 * kButtonPadding;
    return subtitle_->fontMetrics().horizontalAdvance(with) <= space - button;
}

/// Whole parts, from the first one on; all of them are in the tooltip.
void PanelCell::elideSubtitle() {
    header_->layout()->activate();
    const QFontMetrics metrics = subtitle_->fontMetrics();
    QStringList parts = full_subtitle_.split(kPartsBetween);
    while (parts.size() > 1 && metrics.horizontalAdvance(parts.join(kPartsBetween)) > subtitle_->width())
        parts.removeLast();
    subtitle_->setText(metrics.elidedText(parts.join(kPartsBetween), Qt::ElideRight, subtitle_->width()));
    header_->setToolTip(subtitle_->text() == full_subtitle_ ? QString() : full_subtitle_);
}

QByteArray PanelCell::csv() const {
    return csvText(*plot_->figure(), plot_->viewState());
}

void PanelCell::showEvent(QShowEvent* event) {
    QFrame::showEvent(event);
    if (dirty_) refresh();
}

void PanelCell::enterEvent(QEnterEvent* event) {
    QFrame::enterEvent(event);
    showTools();
}

void PanelCell::leaveEvent(QEvent* event) {
    QFrame::leaveEvent(event);
    showTools();
}

void PanelCell::showTools() {
    const bool shown = !large_ && (underMouse() || header_->isAncestorOf(QApplication::focusWidget()));
    if (shown) placeTools();
    tools_->setVisible(shown);
    if (shown) tools_->raise();
}

void PanelCell::placeTools() {
    const int width = tools_->sizeHint().width();
    const QWidget* right = measure_->isHidden() ? options_button_ : measure_;
    tools_->setGeometry(right->x() - width, 0, width, header_->height());
}

bool PanelCell::eventFilter(QObject* watched, QEvent* event) {
    if (watched == header_ && event->type() == QEvent::MouseButtonDblClick) {
        Q_EMIT focusRequested();
        return true;
    }
    if (watched == header_ && event->type() == QEvent::Resize) {
        if (!quantity_.isEmpty() && quantityFits() != quantity_fits_) {
            drawn_.reset();
            refresh();
        }
        elideSubtitle();
        placeTools();
    }
    return QFrame::eventFilter(watched, event);
}

}  // namespace normscope::widgets
