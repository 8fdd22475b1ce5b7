// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/run_strip.h"

#include "widgets/plots/glyph.h"
#include "widgets/runs/bar_button.h"
#include "widgets/runs/comparison_title.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>
#include <QScrollArea>
#include <QScrollBar>
#include <QShortcut>
#include <QWheelEvent>
#include <algorithm>

namespace normscope::widgets {

namespace {

constexpr int kRunStripIndent = 12, kRunStripMargin = 8, kRunStripGap = 12, kTightGap = 5;
constexpr int kWideChip = 180;  // narrower chips, and the buttons give up their texts

/// A row that scrolls by the wheel and by what gets the focus, without a scroll bar. As wide as its content
/// where there is space.
class ScrolledRow : public QScrollArea {
  public:
    explicit ScrolledRow(QWidget* parent) : QScrollArea(parent) {
        setFrameShape(QFrame::NoFrame);
        setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
        setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
        setWidgetResizable(true);
        setFocusPolicy(Qt::NoFocus);
        setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Expanding);
    }
    QSize sizeHint() const override { return widget() ? widget()->sizeHint() : QSize(0, 0); }
    QSize minimumSizeHint() const override { return {120, 0}; }

  protected:
    /// A scroll area does not ask for another size when its content does.
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (watched == widget() && event->type() == QEvent::LayoutRequest) updateGeometry();
        return QScrollArea::eventFilter(watched, event);
    }
    void wheelEvent(QWheelEvent* event) override {
        const QPoint wheel = event->angleDelta();
        QScrollBar* bar = horizontalScrollBar();
        bar->setValue(bar->value() - (wheel.x() != 0 ? wheel.x() : wheel.y()));
        event->accept();
    }
};

}  // namespace

RunStrip::RunStrip(QWidget* parent) : QWidget(parent) {
    setFixedHeight(kHeight);
    setAccessibleName(tr("Runs"));
    auto* line = new QHBoxLayout(this);
    line->setContentsMargins(0, 0, kRunStripMargin, 0);
    line->setSizeConstraint(QLayout::SetNoConstraint);  // minimumSizeHint() is less
    line->setSpacing(0);
    title_ = new ComparisonTitle(this);
    line->addWidget(title_);
    line->addSpacing(kRunStripIndent);
    scroll_ = new ScrolledRow(this);
    auto* row = new QWidget;
    runs_ = new QHBoxLayout(row);
    runs_->setContentsMargins(0, 0, 0, 0);
    scroll_->setWidget(row);
    line->addWidget(scroll_);
    line->addSpacing(kTightGap);

    const auto button = [&](const QString& text, BarButton::Look look, const char* name, const QString& tip) {
        auto* made = new BarButton(text, look, this);
        made->setObjectName(QLatin1String(name));
        made->setToolTip(tip);
        line->addWidget(made);
        return made;
    };
    using Look = BarButton::Look;
    compare_ =
        button(tr("Compare"), Look::Dashed, "compareButton", tr("Add a run to the comparison (Ctrl+=)"));
    compare_->setGlyph(Glyph::Plus);
    connect(compare_, &QPushButton::clicked, this, &RunStrip::compareRequested);
    line->addStretch(1);
    line->addSpacing(kTightGap);
    const auto menu = [&](const QString& text, const char* name, const QString& tip) {
        auto* made = new QMenu(this);
        button(text, Look::Flat, name, tip)->setMenu(made);
        return made;
    };
    const auto choices = [this](QMenu* of, void (RunStrip::*chosen)(const QString&)) {
        connect(of, &QMenu::triggered, this, [this, chosen](QAction* action) {
            Q_EMIT(this->*chosen)(action->data().toString());
        });
    };
    presets_ = menu(tr("Presets"), "presetsButton", tr("Replace the selected run by a preset"));
    choices(presets_, &RunStrip::presetChosen);
    auto* recordings = button(tr("Runs"), Look::Flat, "runsButton", tr("All recordings (Ctrl+Shift+O)"));
    recordings->setGlyph(Glyph::List);
    connect(recordings, &QPushButton::clicked, this, &RunStrip::recordingsRequested);
    stories_ = menu(tr("Stories"), "storiesButton", tr("A comparison, explained step by step"));
    choices(stories_, &RunStrip::storyChosen);
    sweeps_ = menu(tr("Sweep"), "sweepButton", tr("Many runs over two keys, as a map"));

    for (const char* name : {"storiesButton", "sweepButton"})
        not_basic_.push_back(findChild<QWidget*>(QLatin1String(name)));
    full_ = button(tr("Full window"), Look::Outlined, "fullButton",
                   tr("All panels, knobs, sweeps and claims. The menu has the way back."));
    full_->hide();
    connect(full_, &QPushButton::clicked, this, &RunStrip::fullRequested);

    line->addSpacing(kTightGap);
    search_ = button(tr("Find anything"), Look::Outlined, "searchButton", tr("Find anything (Ctrl+K)"));
    search_->setGlyph(Glyph::Search);
    search_->setNote(tr("Ctrl+K"));
    connect(search_, &QPushButton::clicked, this, &RunStrip::commandSearchRequested);
    auto* theme = new GlyphButton(Glyph::Theme, tr("Light or dark theme (Ctrl+T)"), this);
    theme->setObjectName(QStringLiteral("themeButton"));
    theme->setFixedSize(28, 28);
    line->addSpacing(kTightGap);
    line->addWidget(theme);
    connect(theme, &QToolButton::clicked, this, &RunStrip::themeToggled);
    setLeftWidth(280);
    showGlyphsOrTexts();
    connect(new QShortcut(Qt::CTRL | Qt::Key_K, this), &QShortcut::activated, this,
            &RunStrip::commandSearchRequested);
}

void RunStrip::setBasic(bool basic) {
    for (QWidget* widget : not_basic_) widget->setVisible(!basic);
    full_->setVisible(basic);
    showGlyphsOrTexts();
}

void RunStrip::setRuns(const std::vector<RunLabel>& runs) {
    while (chips_.size() > runs.size()) {
        delete chips_.back();
        chips_.pop_back();
    }
    while (chips_.size() < runs.size()) {
        auto* chip = new RunChip;
        chip->setContextMenuPolicy(Qt::CustomContextMenu);
        connect(chip, &QAbstractButton::clicked, this, [this, chip] {
            setSelected(chip->run().id);
            Q_EMIT runSelected(chip->run().id);
        });
        connect(chip, &QWidget::customContextMenuRequested, this, [this, chip](const QPoint& at) {
            Q_EMIT runMenuRequested(chip->run().id, chip->mapToGlobal(at));
        });
        runs_->addWidget(chip);
        chips_.push_back(chip);
    }
    for (std::size_t i = 0; i < runs.size(); ++i) chips_[i]->setRun(runs[i]);
    showGlyphsOrTexts();
    scroll_->updateGeometry();
}

void RunStrip::setLeftWidth(int width) {
    title_->setFixedWidth(width);
}

/// With glyphs, which a strip of this width has.
QSize RunStrip::minimumSizeHint() const {
    const int texts =
        search_->sizeHint().width() + compare_->sizeHint().width() - 2 * BarButton::kCompactWidth;
    return {layout()->minimumSize().width() - texts, kHeight};
}

void RunStrip::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    showGlyphsOrTexts();
}

/// Search, then "+ Compare", is a glyph where the chips would be narrow, and the chips have no outcomes where
/// that saves scrolling. Nothing of it depends on the outcomes themselves.
void RunStrip::showGlyphsOrTexts() {
    int wanted = 0, full = 0, least = 0;
    for (const RunChip* chip : chips_) {
        wanted += std::max(kWideChip, chip->minimumChipWidth(true)) + kRunStripGap;
        full += chip->minimumChipWidth(true) + kTightGap;
        least += chip->minimumChipWidth(false) + kTightGap;
    }
    const int space = width() - layout()->minimumSize().width() + scroll_->minimumSizeHint().width() +
                      search_->sizeHint().width() + compare_->sizeHint().width();
    const int glyph = BarButton::kCompactWidth, search = search_->fullWidth(),
              compare = compare_->fullWidth();
    search_->setCompact(wanted > space - search - compare);
    compare_->setCompact(wanted > space - glyph - compare);
    runs_->setSpacing(compare_->isCompact() ? kTightGap : kRunStripGap);
    const bool saves = full - kTightGap > space - 2 * glyph && least - kTightGap <= space - 2 * glyph;
    for (RunChip* chip : chips_) chip->setOutcomeShown(!saves);
}

void RunStrip::setSelected(const QString& id) {
    for (RunChip* chip : chips_) {
        const bool chosen = chip->run().id == id;
        if (chosen && !chip->isChecked()) scroll_->ensureWidgetVisible(chip, 8, 0);
        chip->setChecked(chosen);
    }
}

namespace {

/// Closes on Esc and when it loses the focus.
class NameField : public QLineEdit {
  public:
    using QLineEdit::QLineEdit;

  protected:
    bool event(QEvent* event) override {
        // Esc and Space are the window's elsewhere.
        if (event->type() == QEvent::ShortcutOverride) {
            event->accept();
            return true;
        }
        return QLineEdit::event(event);
    }
    void keyPressEvent(QKeyEvent* event) override {
        if (event->key() == Qt::Key_Escape)
            deleteLater();
        else
            QLineEdit::keyPressEvent(event);
    }
    void focusOutEvent(QFocusEvent* event) override {
        QLineEdit::focusOutEvent(event);
        if (event->reason() != Qt::PopupFocusReason && event->reason() != Qt::ActiveWindowFocusReason)
            deleteLater();
    }
};

}  // namespace

void RunStrip::editName(const QString& id) {
    for (RunChip* chip : chips_) {
        if (chip->run().id != id) continue;
        scroll_->ensureWidgetVisible(chip, 8, 0);
        auto* field = new NameField(chip->run().name, chip);
        field->setObjectName(QStringLiteral("runName"));
        field->setAccessibleName(tr("Name of the run; empty for the name after its recipe"));
        field->setGeometry(chip->rect());
        connect(field, &QLineEdit::returnPressed, this, [this, field, id] {
            const QString name = field->text();
            field->deleteLater();
            Q_EMIT runRenamed(id, name);
        });
        field->selectAll();
        field->show();
        field->setFocus();
    }
}

namespace {

void fill(QMenu* menu, const QStringList& names, const QStringList& titles) {
    menu->clear();
    for (qsizetype i = 0; i < names.size(); ++i) menu->addAction(titles.at(i))->setData(names.at(i));
}

}  // namespace

void RunStrip::setPresets(const QStringList& names, const QStringList& titles) {
    fill(presets_, names, titles);
}

void RunStrip::setStories(const QStringList& names, const QStringList& titles) {
    fill(stories_, names, titles);
}

}  // namespace normscope::widgets
