// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/knobs/knob_panel.h"

#include "widgets/accessibility/accessible_role.h"
#include "widgets/figures/knobs/key_text.h"
#include "widgets/knobs/choice_knob.h"
#include "widgets/knobs/diff_list.h"
#include "widgets/knobs/fold_title.h"
#include "widgets/knobs/knob.h"
#include "widgets/knobs/knob_slider.h"
#include "widgets/knobs/notice_strip.h"
#include "widgets/knobs/path_knob.h"
#include "widgets/plots/colour_map.h"
#include "widgets/plots/glyph.h"

#include <QCoreApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>

namespace normscope::widgets {
namespace {

constexpr int kKnobPanelHeaderHeight = 32, kPanelTitleSize = 14, kScopeSize = 11, kScopeGap = 10;

QString knobText(const char* text) {
    return QCoreApplication::translate("KnobTable", text);
}

/// A hairline with space above and below.
class Hairline : public QWidget {
  public:
    Hairline() { setFixedHeight(10); }

  protected:
    void paintEvent(QPaintEvent*) override {
        QPainter(this).fillRect(
            QRect(0, height() / 2, width(), 1),
            blend(palette().color(QPalette::Window), palette().color(QPalette::WindowText), 0.12));
    }
};

/// As wide as the padding of the column, in which it lies.
class PaddingScrollBar : public QScrollBar {
  public:
    static constexpr int kWidth = 12;
    using QScrollBar::QScrollBar;
    QSize sizeHint() const override { return {kWidth, QScrollBar::sizeHint().height()}; }
};

QString summaryOf(KnobSection section, const Recipe& r) {
    const auto word = [&](KeyRef key) { return choiceTitle(key, keyText(key->get(r))); };
    switch (section) {
        case KnobSection::Block:
            return KnobPanel::tr("%1 tokens · %2 heads").arg(r.stack.context).arg(r.stack.heads);
        case KnobSection::Residual:
            return word("stack.norm.kind");
        case KnobSection::Init:
            return word("stack.init.rule");
        case KnobSection::Gpas:
            return word("stack.gpas.enabled").toLower();
        case KnobSection::Training:
            return word("optimizer.kind") + QStringLiteral(" · ") + word("schedule.lr").toLower();
        case KnobSection::Data:
            return word("data.source") + QStringLiteral(" · ") + word("precision");
        default:
            return {};
    }
}

bool isBasicKey(const std::string& key) {
    for (const char* basic : {"stack.scheme", "stack.depth", "stack.residual_step", "optimizer.lr"})
        if (key == basic) return true;
    return false;
}

/// A number or a word of a row in the type of its key.
FieldValue inTypeOf(KeyRef key, const FieldValue& value) {
    if (const auto* number = std::get_if<double>(&value)) return keyValue(key, *number);
    if (key->type.kind == FieldType::Kind::Flag) return value == FieldValue(std::string("true"));
    return value;
}

}  // namespace

KnobPanel::KnobPanel(QWidget* parent) : QWidget(parent) {
    link_ = new GlyphButton(Glyph::Linked, QString(), this);
    link_->setObjectName(QStringLiteral("linkButton"));
    link_->setCheckable(true);
    setLinked(true);
    connect(link_, &QToolButton::clicked, this, [this](bool linked) {
        setLinked(linked);
        Q_EMIT linkToggled(linked);
    });
    link_->setFixedSize(28, 24);
    auto* title = new QLabel(tr("Knobs"), this);
    QFont type = font();
    type.setPixelSize(kPanelTitleSize);
    type.setWeight(QFont::DemiBold);
    title->setFont(type);
    scope_label_ = new QLabel(this);
    scope_label_->setForegroundRole(QPalette::PlaceholderText);
    scope_label_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    type.setPixelSize(kScopeSize);
    type.setWeight(QFont::Normal);
    scope_label_->setFont(type);
    auto* header = new QWidget(this);
    header->setFixedHeight(kKnobPanelHeaderHeight);
    auto* heading = new QHBoxLayout(header);
    heading->setContentsMargins(0, 0, PaddingScrollBar::kWidth, 0);
    heading->setSpacing(kScopeGap);
    heading->addWidget(title);
    heading->addWidget(scope_label_, 1);
    heading->addWidget(link_);

    auto* column = new QWidget;
    auto* lines = new QVBoxLayout(column);
    lines->setContentsMargins(0, 0, 0, 0);
    lines->setSpacing(0);
    // Below the scroll area: warnings stay visible and move no knob.
    notices_ = new NoticeStrip(this);
    differences_ = new DiffList(column);
    for (const KnobSpec& spec : knobTable()) {
        rows_.push_back(makeRow(spec));
        if (spec.section == KnobSection::InSight) lines->addWidget(rows_.back().widget);
    }
    hairline_ = new Hairline;
    lines->addWidget(hairline_);
    for (int section = 1; section < kKnobSections; ++section) makeFold(KnobSection(section), lines);
    lines->addWidget(differences_);
    lines->addStretch(1);

    scroll_ = new QScrollArea(this);
    scroll_->setWidget(column);
    scroll_->setWidgetResizable(true);
    scroll_->setFrameShape(QFrame::NoFrame);
    scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll_->setFocusPolicy(Qt::NoFocus);
    scroll_->setVerticalScrollBar(new PaddingScrollBar(Qt::Vertical));
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->setSpacing(0);
    outer->addWidget(header);
    outer->addWidget(scroll_, 1);
    outer->addWidget(notices_);
    setAccessibleRole(this, QAccessible::Grouping);
    setAccessibleName(tr("Knobs"));
    setRecipe({}, {});
}

/// The column leaves the scroll bar its place: whether it is shown moves no knob.
void KnobPanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    scroll_->widget()->setMaximumWidth(width() - PaddingScrollBar::kWidth);
    layout()->activate();
    showScope();
}

void KnobPanel::setScope(const QString& scope, const QString& brief) {
    scope_ = scope;
    brief_scope_ = brief;
    showScope();
}

void KnobPanel::showScope() {
    const bool fits = scope_label_->fontMetrics().horizontalAdvance(scope_) <= scope_label_->width();
    scope_label_->setText(fits ? scope_ : brief_scope_);
    scope_label_->setToolTip(fits ? QString() : scope_);
}

void KnobPanel::makeFold(KnobSection section, QVBoxLayout* column) {
    Fold& fold = folds_[static_cast<std::size_t>(section)];
    fold.title = new FoldTitle;
    fold.body = new QWidget;
    auto* lines = new QVBoxLayout(fold.body);
    lines->setContentsMargins(0, 0, 0, 4);
    lines->setSpacing(0);
    for (const Row& row : rows_)
        if (row.spec->section == section) lines->addWidget(row.widget);
    column->addWidget(fold.title);
    column->addWidget(fold.body);
    connect(fold.title, &QToolButton::toggled, this,
            [this, section](bool shown) { setSectionShown(section, shown); });
    setSectionShown(section, false);
}

KnobPanel::Row KnobPanel::makeRow(const KnobSpec& spec) {
    const KeyRef key = spec.key;
    const bool text = key->type.kind == FieldType::Kind::Text;
    const Row row = key->type.is_number() ? makeNumber(spec) : text ? makePath(spec) : makeChoice(spec);
    row.widget->setObjectName(QString::fromStdString(key->name));
    const bool restarts = key->role.effect == normscope::Role::Effect::Restarts;
    row.widget->setRestarts(restarts);
    row.widget->setToolTip(knobText(key->help) +
                           (restarts ? u'\n' + tr("A change starts a new run.") : QString()));
    connect(row.widget, &KnobRow::runValueCommitted, this,
            [this, key](int run, const FieldValue& from, const FieldValue& to) {
                Q_EMIT runKeyCommitted(run, key, inTypeOf(key, from), inTypeOf(key, to));
            });
    connect(row.widget, &KnobRow::resetRequested, this,
            [this, key] { Q_EMIT keyCommitted(key, key->get(shown_), key->get(defaults_)); });
    return row;
}

KnobPanel::Row KnobPanel::makeNumber(const KnobSpec& spec) {
    const KeyRef key = spec.key;
    auto* knob = new Knob(knobText(spec.label), knobText(spec.name), knobScale(spec, shown_));
    connect(knob, &Knob::dragStarted, this, [this, key] { Q_EMIT keyDragStarted(key); });
    connect(knob, &Knob::valueChanging, this,
            [this, key](double value) { Q_EMIT keyChanging(key, keyValue(key, value)); });
    connect(knob, &Knob::valueCommitted, this, [this, key](double old_value, double new_value) {
        Q_EMIT keyCommitted(key, keyValue(key, old_value), keyValue(key, new_value));
    });
    knob->slider()->setToolTip(
        knobText(key->help) + u'\n' +
        tr("Shift+drag marks a range for a sweep. Shift while dragging: no snapping."));
    connect(knob, &Knob::rangeMarked, this,
            [this, key](double low, double high) { Q_EMIT rangeMarked(key, low, high); });
    const auto show = [this, knob, &spec](const FieldValue& value, const FieldValue& default_value) {
        knob->setScale(knobScale(spec, shown_));
        knob->setValue(number_of(value).value_or(0));
        knob->setDefaultValue(number_of(default_value).value_or(0));
    };
    return {&spec, knob, show};
}

KnobPanel::Row KnobPanel::makeChoice(const KnobSpec& spec) {
    const KeyRef key = spec.key;
    QStringList words, titles, tips;
    for (const char* word : key->type.words) words << QString::fromUtf8(word);
    if (key->type.kind == FieldType::Kind::Flag) words = {"false", "true"};
    for (const QString& word : words) {
        titles << choiceTitle(key, word);
        tips << choiceTip(key, word);
    }
    auto* knob = new ChoiceKnob(knobText(spec.label), knobText(spec.name), words, titles);
    knob->setWordTips(tips);
    connect(knob, &ChoiceKnob::valueCommitted, this, [this, key](const QString& from, const QString& to) {
        Q_EMIT keyCommitted(key, inTypeOf(key, from.toStdString()), inTypeOf(key, to.toStdString()));
    });
    const auto show = [knob](const FieldValue& value, const FieldValue& default_value) {
        knob->setValue(keyText(value));
        knob->setDefaultValue(keyText(default_value));
    };
    return {&spec, knob, show};
}

KnobPanel::Row KnobPanel::makePath(const KnobSpec& spec) {
    const KeyRef key = spec.key;
    auto* knob = new PathKnob(knobText(spec.label), knobText(spec.name));
    connect(knob, &PathKnob::valueCommitted, this, [this, key](const QString& from, const QString& to) {
        Q_EMIT keyCommitted(key, from.toStdString(), to.toStdString());
    });
    const auto show = [this, knob](const FieldValue& value, const FieldValue& default_value) {
        knob->setValue(keyText(value));
        knob->setDefaultValue(keyText(default_value));
        knob->setChoosesFolder(is_of_images(shown_.train.data.source));
    };
    return {&spec, knob, show};
}

void KnobPanel::setRecipe(const Recipe& shown, const Recipe& defaults) {
    shown_ = shown;
    defaults_ = defaults;
    for (Row& row : rows_) {
        row.show(row.spec->key->get(shown), row.spec->key->get(defaults));
        // Greyed out rather than hidden: another run or scheme moves no knob.
        if (row.spec->applies) row.widget->setEnabled(row.spec->applies(shown));
    }
    differences_->setRecipe(shown);
    showFoldTitles();
}

void KnobPanel::setCompared(const std::vector<ComparedRun>& runs) {
    for (Row& row : rows_)
        row.widget->setComparison(compareKey(runs, row.spec->key, row.widget->holdsFields()));
    showFoldTitles();
}

void KnobPanel::setAvailable(const QString& key, const QStringList& words, const QString& why) {
    if (auto* knob = qobject_cast<ChoiceKnob*>(row(key))) knob->setAvailable(words, why);
}

void KnobPanel::setLinked(bool linked) {
    link_->setChecked(linked);
    link_->setGlyph(
        linked ? Glyph::Linked : Glyph::Unlinked,
        linked ? tr("Linked: the knobs act on all runs") : tr("Unlinked: the knobs act on the chosen run"));
}

bool KnobPanel::isLinked() const {
    return link_->isChecked();
}

void KnobPanel::setSectionShown(KnobSection section, bool shown) {
    const Fold& fold = folds_[static_cast<std::size_t>(section)];
    if (!fold.title) return;  // always visible
    const QSignalBlocker quiet(fold.title);
    fold.title->setChecked(shown);
    fold.body->setVisible(shown && !basic_);
}

void KnobPanel::setAllShown(bool shown) {
    for (int section = 1; section < kKnobSections; ++section) setSectionShown(KnobSection(section), shown);
}

void KnobPanel::setBasic(bool basic) {
    basic_ = basic;
    for (const Row& row : rows_)
        if (row.spec->section == KnobSection::InSight)
            row.widget->setVisible(!basic || isBasicKey(row.spec->key->name));
    hairline_->setVisible(!basic);
    for (const Fold& fold : folds_) {
        if (!fold.title) continue;
        fold.title->setVisible(!basic);
        fold.body->setVisible(!basic && fold.title->isChecked());
    }
    differences_->setVisible(!basic);
}

void KnobPanel::reveal(const QString& key) {
    if (basic_ && !isBasicKey(key.toStdString())) Q_EMIT fullRequested();
    for (const Row& row : rows_) {
        if (row.widget->objectName() != key) continue;
        setSectionShown(row.spec->section, true);
        // The fold has its size only after its layout ran, the column and the scroll area after that.
        row.widget->parentWidget()->layout()->activate();
        QWidget* column = scroll_->widget();
        column->layout()->activate();
        QCoreApplication::sendPostedEvents(column, QEvent::LayoutRequest);
        column->resize(column->width(), std::max(column->height(), column->sizeHint().height()));
        column->layout()->activate();
        row.widget->editor()->setFocus(Qt::ShortcutFocusReason);
        scroll_->ensureWidgetVisible(row.widget);
    }
}

KnobRow* KnobPanel::row(const QString& key) const {
    const auto it = std::find_if(rows_.begin(), rows_.end(),
                                 [&](const Row& row) { return row.widget->objectName() == key; });
    return it == rows_.end() ? nullptr : it->widget;
}

void KnobPanel::showFoldTitles() {
    for (int section = 1; section < kKnobSections; ++section) {
        int changed = 0;
        bool differs = false;
        for (const Row& row : rows_) {
            if (static_cast<int>(row.spec->section) != section || !row.widget->isEnabledTo(this)) continue;
            changed += row.widget->isChanged();
            differs |= row.widget->comparison().differs;
        }
        // Changed or differing keys are counted in the title of a closed fold.
        QString title = sectionTitle(KnobSection(section));
        if (changed > 0) title += tr(" (%n changed)", nullptr, changed);
        if (differs) title += QStringLiteral("  ≠");
        FoldTitle* header = folds_[static_cast<std::size_t>(section)].title;
        header->setText(title);
        header->setSummary(summaryOf(KnobSection(section), shown_));
    }
}

}  // namespace normscope::widgets
