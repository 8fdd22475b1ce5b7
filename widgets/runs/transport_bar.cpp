// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/transport_bar.h"

#include "widgets/plots/glyph.h"
#include "widgets/plots/number_text.h"
#include "widgets/runs/device_button.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QShortcut>
#include <QSignalBlocker>
#include <QSpinBox>
#include <cmath>
#include <limits>

namespace normscope::widgets {

TransportBar::TransportBar(QWidget* parent) : QWidget(parent) {
    setFixedHeight(kHeight);
    setAccessibleName(tr("Transport"));
    auto* line = new QHBoxLayout(this);
    line->setContentsMargins(8, 4, 8, 4);
    line->setSpacing(4);
    const auto button = [&](Glyph glyph, const QString& name, int size) {
        auto* made = new GlyphButton(glyph, name, this);
        made->setFixedSize(size, size);
        line->addWidget(made);
        return made;
    };
    first_ = button(Glyph::First, tr("First step"), 30);
    back_ = button(Glyph::Back, tr("Previous measured step (Shift+← on the time line: one step)"), 30);
    play_ = button(Glyph::Play, tr("Train (Space)"), 40);
    play_->setObjectName(QStringLiteral("playButton"));
    forward_ = button(Glyph::Forward, tr("Next measured step; at the end, train one step"), 30);
    last_ = button(Glyph::Last, tr("Newest step"), 30);
    scrubber_ = new StepScrubber(this);
    line->addWidget(scrubber_, 1);

    line->addWidget(new QLabel(tr("Step"), this));
    field_ = new QSpinBox(this);
    field_->setButtonSymbols(QAbstractSpinBox::NoButtons);
    field_->setAlignment(Qt::AlignRight);
    field_->setKeyboardTracking(false);
    field_->setFixedWidth(72);
    field_->setAccessibleName(tr("Step shown"));
    line->addWidget(field_);
    planned_ = new QLabel(this);
    line->addWidget(planned_);
    rates_ = new QLabel(this);
    rates_->setObjectName(QStringLiteral("rates"));
    rates_->setAccessibleName(tr("Speed"));
    QFont small = rates_->font();
    small.setPixelSize(11);
    rates_->setFont(small);
    line->addSpacing(8);
    line->addWidget(rates_);
    device_ = new DeviceButton(this);
    line->addWidget(device_);
    measure_ = new QPushButton(tr("Measure"), this);
    measure_->setObjectName(QStringLiteral("measureHere"));
    measure_->setAccessibleName(tr("Measure at this step"));
    measure_->setFocusPolicy(Qt::TabFocus);
    measure_->setFixedWidth(measure_->sizeHint().width());
    line->addWidget(measure_);
    new_run_ = new QPushButton(tr("Start as new run"), this);
    new_run_->setObjectName(QStringLiteral("startNewRun"));
    new_run_->setVisible(false);
    line->addWidget(new_run_);

    connect(first_, &QToolButton::clicked, this, [this] { scrubTo(0); });
    connect(back_, &QToolButton::clicked, this,
            [this] { scrubTo(scrubber_->measuredNeighbour(scrubber_->step(), -1)); });
    connect(play_, &QToolButton::clicked, this, &TransportBar::playOrPause);
    connect(forward_, &QToolButton::clicked, this, &TransportBar::stepForward);
    connect(last_, &QToolButton::clicked, this, [this] { scrubTo(scrubber_->recorded()); });
    connect(scrubber_, &StepScrubber::scrubbed, this, &TransportBar::scrubTo);
    connect(field_, &QSpinBox::valueChanged, this, [this](int step) { scrubTo(step); });
    connect(measure_, &QPushButton::clicked, this, &TransportBar::measureHere);
    connect(new_run_, &QPushButton::clicked, this, &TransportBar::startNewRun);
    auto* space = new QShortcut(Qt::Key_Space, this);
    space->setAutoRepeat(false);
    connect(space, &QShortcut::activated, this, &TransportBar::playOrPause);

    // Sized for large values, so that the scrubber keeps its length.
    setRates(9999999, 99999, 9999);
    setDeviceUse(QStringLiteral("cuda-emulated"), QStringLiteral("999.9 of 999.9 GiB free"));
    rates_->setFixedWidth(rates_->fontMetrics().size(0, ratesText()).width() + 4);
    setDeviceUse({}, {});
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    setRates(unknown, unknown, unknown);
    setRange(-1, 0);
    setMeasurable(false, tr("Nothing is recorded yet"));
}

void TransportBar::setRange(qint64 recorded, qint64 planned) {
    scrubber_->setRange(recorded, planned);
    const QSignalBlocker quiet(field_);
    field_->setRange(0, static_cast<int>(std::clamp<qint64>(recorded, 0, std::numeric_limits<int>::max())));
    planned_->setText(tr("of %1").arg(planned));
    showButtons();
}

void TransportBar::setStep(qint64 step) {
    scrubber_->setStep(step);
    const QSignalBlocker quiet(field_);
    // While playing, a frame arrives every few milliseconds and must not overwrite a half-typed number.
    const bool typing = field_->hasFocus() && field_->cleanText() != QString::number(field_->value());
    if (!typing) field_->setValue(static_cast<int>(step));
    showButtons();
}

void TransportBar::setMarks(std::vector<StepMark> marks) {
    scrubber_->setMarks(std::move(marks));
}

void TransportBar::setLanes(std::vector<StepLane> lanes) {
    scrubber_->setLanes(std::move(lanes));
}

void TransportBar::setMeasurable(bool measurable, const QString& why_not) {
    measure_->setEnabled(measurable || !status_.isEmpty());
    measure_->setToolTip(
        measurable ? tr("Measure at this step (M): replays the run from its nearest checkpoint") : why_not);
}

void TransportBar::setMeasuring(const QString& status) {
    status_ = status;
    measure_->setText(status.isEmpty() ? tr("Measure") : tr("Cancel"));
    if (!status.isEmpty()) measure_->setEnabled(true);
    showRates();
}

void TransportBar::setPlaying(bool playing) {
    playing_ = playing;
    play_->setGlyph(playing ? Glyph::Pause : Glyph::Play,
                    playing ? tr("Pause (Space)") : tr("Train (Space)"));
    showButtons();
}

void TransportBar::setRates(double tokens_per_s, double step_ms, double probe_percent) {
    if (!std::isfinite(tokens_per_s) && !std::isfinite(step_ms) && !std::isfinite(probe_percent)) {
        rates_text_.clear();
        return showRates();
    }
    const auto number = [](double value, auto text) {
        return std::isfinite(value) ? text(value) : QStringLiteral("–");
    };
    const QString tokens =
        number(tokens_per_s, [](double v) { return QLocale().toString(std::round(v), 'f', 0); });
    const bool seconds = std::isfinite(step_ms) && step_ms >= 1000;
    const QString step =
        (seconds ? tr("%1 s/step") : tr("%1 ms/step"))
            .arg(number(seconds ? step_ms / 1000 : step_ms, [](double v) { return numberText(v, 3); }));
    const QString percent =
        number(probe_percent, [](double v) { return QString::number(v, 'f', v < 9.95 ? 1 : 0); });
    rates_text_ = tr("%1 tokens/s\n%2 · probes %3 %").arg(tokens, step, percent);
    showRates();
}

void TransportBar::setDeviceUse(const QString& device, const QString& memory) {
    device_text_ = device;
    memory_text_ = memory;
    showRates();
}

QString TransportBar::ratesText() const {
    QString text = rates_text_;
    if (!device_text_.isEmpty()) text.prepend(device_text_ + QStringLiteral(" · "));
    if (!memory_text_.isEmpty()) text += u'\n' + memory_text_;
    return text;
}

void TransportBar::showRates() {
    QStringList lines = (status_.isEmpty() ? ratesText() : status_).split(u'\n');
    for (QString& line : lines)
        line = rates_->fontMetrics().elidedText(line, Qt::ElideRight, rates_->maximumWidth());
    rates_->setText(lines.join(u'\n'));
    rates_->setAccessibleDescription(status_.isEmpty() ? ratesText() : status_);
}

void TransportBar::setPreviewPending(bool pending) {
    new_run_->setVisible(pending);
}

void TransportBar::playOrPause() {
    if (playing_)
        Q_EMIT pause();
    else
        Q_EMIT play();
}

void TransportBar::stepForward() {
    if (scrubber_->step() < scrubber_->recorded())
        scrubTo(scrubber_->measuredNeighbour(scrubber_->step(), 1));
    else
        Q_EMIT singleStep();
}

void TransportBar::scrubTo(qint64 step) {
    setStep(step);
    Q_EMIT scrubbed(step);
}

void TransportBar::showButtons() {
    const qint64 step = scrubber_->step(), recorded = scrubber_->recorded();
    first_->setEnabled(step > 0);
    back_->setEnabled(step > 0);
    last_->setEnabled(step < recorded);
    // While playing, steps advance automatically.
    forward_->setEnabled(!playing_ || step < recorded);
}

}  // namespace normscope::widgets
