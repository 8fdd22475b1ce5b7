// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/presentation/presentation_foot.h"

#include "widgets/figures/knobs/key_text.h"
#include "widgets/knobs/knob_slider.h"
#include "widgets/plots/glyph.h"
#include "widgets/presentation/presentation.h"
#include "widgets/runs/step_scrubber.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <algorithm>

namespace normscope::widgets {

namespace {

constexpr const char* kKeys[] = {"stack.residual_step", "stack.temperature", "stack.depth", "optimizer.lr"};
constexpr int kValueWidth = 116, kTrainHeight = 60, kTrainLeft = 64, kTrainRight = 16;

QFont largeType(const QWidget* of, bool bold) {
    QFont type = of->font();
    type.setPixelSize(Presentation::kText);
    type.setBold(bold);
    return type;
}

const KnobSpec* specOf(KeyRef key) {
    for (const KnobSpec& spec : knobTable())
        if (spec.key == key) return &spec;
    return nullptr;
}

}  // namespace

TrainButton::TrainButton(QWidget* parent) : QPushButton(parent) {
    setObjectName(QStringLiteral("presentationTrain"));
    setFont(largeType(this, true));
    // One width for all of its acts: the time line next to it does not move.
    int widest = 0;
    for (const QString& act : {tr("300 more steps"), tr("Start 2 new runs"), tr("Resume 6 runs")})
        widest = std::max(widest, fontMetrics().horizontalAdvance(act));
    setFixedSize(kTrainLeft + widest + kTrainRight, kTrainHeight);
    setFocusPolicy(Qt::TabFocus);
    setPlaying(false);
}

void TrainButton::setPlaying(bool playing, const QString& act) {
    playing_ = playing;
    setText(playing ? tr("Pause") : act.isEmpty() ? tr("Train") : act);
    setToolTip(tr("%1 (Space)").arg(text()));
    update();
}

bool TrainButton::event(QEvent* event) {
    return keepsSpace(this, event) || QPushButton::event(event);
}

void TrainButton::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QColor text = palette().color(QPalette::HighlightedText);
    painter.setPen(Qt::NoPen);
    painter.setBrush(isDown() ? palette().color(QPalette::PlaceholderText)
                              : palette().color(QPalette::Highlight));
    painter.drawRoundedRect(rect(), 6, 6);
    const QRectF glyph(28, (height() - 22) / 2.0, 22, 22);
    paintGlyph(painter, glyph, playing_ ? Glyph::Pause : Glyph::Play, text);
    painter.setPen(text);
    painter.setFont(font());
    const QRect place(kTrainLeft, 0, width() - kTrainLeft - 6, height());
    painter.drawText(place, Qt::AlignVCenter | Qt::AlignLeft,
                     fontMetrics().elidedText(this->text(), Qt::ElideRight, place.width()));
    if (!hasFocus()) return;
    painter.setPen(QPen(text, 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(rect()).adjusted(3, 3, -3, -3), 4, 4);
}

PresentationFoot::PresentationFoot(QWidget* parent)
    : QWidget(parent), train_(new TrainButton(this)), scrubber_(new StepScrubber(this)) {
    setObjectName(QStringLiteral("presentationFoot"));
    connect(train_, &QPushButton::clicked, this, &PresentationFoot::playToggled);
    scrubber_->setObjectName(QStringLiteral("presentationScrubber"));
    scrubber_->setTextSize(Presentation::kText);
    connect(scrubber_, &StepScrubber::scrubbed, this, &PresentationFoot::scrubbed);

    auto* time = new QHBoxLayout;
    time->setSpacing(28);
    time->addWidget(train_);
    time->addWidget(scrubber_, 1);
    auto* strip = new QHBoxLayout;
    strip->setSpacing(14);
    for (const char* key : kKeys) {
        const KnobSpec* spec = specOf(key);
        if (!knobs_.empty()) strip->addSpacing(26);
        auto* label = new QLabel(QString::fromUtf8(spec->label), this);
        label->setFont(largeType(label, true));
        auto* slider = new KnobSlider(this);
        slider->setObjectName(QLatin1String(key));
        slider->setAccessibleName(QString::fromUtf8(spec->name));
        slider->setTextSize(Presentation::kText);
        slider->installEventFilter(this);
        label->setBuddy(slider);
        auto* value = new QLabel(this);
        value->setFont(largeType(value, false));
        value->setFixedWidth(kValueWidth);
        value->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
        value->setContentsMargins(6, 2, 8, 2);
        value->setAutoFillBackground(true);
        value->setBackgroundRole(QPalette::Button);
        strip->addWidget(label, 0, Qt::AlignTop);
        strip->addWidget(slider, 1, Qt::AlignTop);
        strip->addWidget(value, 0, Qt::AlignTop);
        knobs_.push_back({spec, slider, value});
        const KeyRef id = spec->key;
        const auto show = [value, slider] { value->setText(valueText(slider->scale(), slider->value())); };
        connect(slider, &KnobSlider::dragStarted, this, &PresentationFoot::dragStarted);
        connect(slider, &KnobSlider::valueChanging, this, [this, id, show](double now) {
            show();
            Q_EMIT keyChanging(id, keyValue(id, now));
        });
        connect(slider, &KnobSlider::valueCommitted, this, [this, id, show](double, double now) {
            show();
            Q_EMIT keyCommitted(id, keyValue(id, now));
        });
    }
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(Presentation::kMargin, 4, Presentation::kMargin, 4);
    column->setSpacing(4);
    column->addLayout(time);
    column->addLayout(strip);
}

KnobSlider* PresentationFoot::slider(const QString& key) const {
    for (const Knob& knob : knobs_)
        if (knob.slider->objectName() == key) return knob.slider;
    return nullptr;
}

void PresentationFoot::setRecipe(const Recipe& shown) {
    for (const Knob& knob : knobs_) {
        knob.slider->setScale(knobScale(*knob.spec, shown));
        if (knob.slider->isDragging()) continue;
        knob.slider->setValue(number_of(knob.spec->key->get(shown)).value_or(0));
        knob.value->setText(valueText(knob.slider->scale(), knob.slider->value()));
    }
}

void PresentationFoot::setTarget(const QString& key, std::optional<double> value) {
    for (const Knob& knob : knobs_)
        knob.slider->setTarget(knob.slider->objectName() == key ? value : std::nullopt);
}

/// ← and → move the slider that has the focus, and the step shown elsewhere.
bool PresentationFoot::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Left || key == Qt::Key_Right) {
            event->accept();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace normscope::widgets
