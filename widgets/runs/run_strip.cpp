// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/run_strip.h"

#include "widgets/plots/glyph.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QShortcut>
#include <QWheelEvent>

namespace normscope::widgets {

namespace {

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
    line->setContentsMargins(8, 4, 8, 4);
    line->setSpacing(6);
    scroll_ = new ScrolledRow(this);
    auto* row = new QWidget;
    runs_ = new QHBoxLayout(row);
    runs_->setContentsMargins(0, 0, 0, 0);
    runs_->setSpacing(6);
    scroll_->setWidget(row);
    line->addWidget(scroll_);

    const auto button = [&](const QString& text, const QString& tip) {
        auto* made = new QPushButton(text, this);
        made->setFlat(true);
        made->setFocusPolicy(Qt::TabFocus);
        made->setToolTip(tip);
        line->addWidget(made);
        return made;
    };
    connect(button(tr("+ Compare"), tr("Add a run to the comparison")), &QPushButton::clicked, this,
            &RunStrip::compareRequested);
    line->addStretch(1);
    const auto menu = [&](const QString& text, const QString& tip, void (RunStrip::*chosen)(const QString&)) {
        auto* made = new QMenu(this);
        button(text, tip)->setMenu(made);
        connect(made, &QMenu::triggered, this, [this, chosen](QAction* action) {
            Q_EMIT(this->*chosen)(action->data().toString());
        });
        return made;
    };
    connect(button(tr("Runs"), tr("All recordings (Ctrl+Shift+O)")), &QPushButton::clicked, this,
            &RunStrip::recordingsRequested);
    stories_ = menu(tr("Stories"), tr("A comparison, explained step by step"), &RunStrip::storyChosen);
    presets_ = menu(tr("Presets"), tr("Replace the selected run by a preset"), &RunStrip::presetChosen);

    sweeps_ = new QMenu(this);
    button(tr("Sweep"), tr("Many runs over two keys, as a map"))->setMenu(sweeps_);

    auto* search = new GlyphButton(Glyph::Search, tr("Find anything (Ctrl+K)"), this);
    auto* theme = new GlyphButton(Glyph::Theme, tr("Light or dark theme"), this);
    for (GlyphButton* made : {search, theme}) {
        made->setFixedSize(30, 30);
        line->addWidget(made);
    }
    connect(search, &QToolButton::clicked, this, &RunStrip::commandSearchRequested);
    connect(theme, &QToolButton::clicked, this, &RunStrip::themeToggled);
    connect(new QShortcut(Qt::CTRL | Qt::Key_K, this), &QShortcut::activated, this,
            &RunStrip::commandSearchRequested);
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
    scroll_->updateGeometry();
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
