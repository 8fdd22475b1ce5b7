// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/transport_bar.h"

#include "widgets/accessibility/accessible_role.h"
#include "widgets/common/text_size.h"
#include "widgets/figures/number_text.h"
#include "widgets/plots/glyph.h"
#include "widgets/plots/palette_theme.h"
#include "widgets/runs/bar_button.h"
#include "widgets/runs/device_button.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QPainter>
#include <QShortcut>
#include <QSignalBlocker>
#include <QSpinBox>
#include <algorithm>
#include <cmath>
#include <limits>

namespace normscope::widgets {

namespace {

constexpr int kTransportBarGlyph = 28, kTransportBarIndent = 8, kTransportBarGap = 12;

}  // namespace

/// A number without a frame until the mouse or the focus is on it.
class TransportBar::StepField : public QSpinBox {
  public:
    explicit StepField(QWidget* parent) : QSpinBox(parent) {
        setObjectName(QStringLiteral("stepField"));
        setFont(sized(font(), 20, QFont::DemiBold));
        setFrame(false);
        QPalette clear;  // the other colours are inherited
        clear.setColor(QPalette::Base, Qt::transparent);
        lineEdit()->setPalette(clear);
        setButtonSymbols(QAbstractSpinBox::NoButtons);
        setAlignment(Qt::AlignRight);
        setKeyboardTracking(false);
        setAttribute(Qt::WA_Hover);
        setAccessibleName(tr("Step shown"));
        setToolTip(tr("The step shown: type another one"));
    }
    /// Of the largest number.
    void setDigits(qint64 largest) {
        const QString digits(QString::number(largest).size(), QLatin1Char('0'));
        setFixedSize(QFontMetrics(font()).horizontalAdvance(digits) + 12, 26);
    }

  protected:
    void paintEvent(QPaintEvent*) override {
        if (!underMouse() && !hasFocus()) return;
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setBrush(palette().color(QPalette::Base));
        painter.setPen(QPen(hasFocus() ? palette().color(QPalette::Text) : palette().color(QPalette::Mid),
                            hasFocus() ? 2 : 1));
        painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 5, 5);
    }
};

TransportBar::TransportBar(QWidget* parent) : QWidget(parent) {
    setFixedHeight(kHeight);
    setAccessibleRole(this, QAccessible::Grouping);
    setAccessibleName(tr("Transport"));
    auto* line = new QHBoxLayout(this);
    line->setContentsMargins(0, 0, kTransportBarGap, 0);
    line->setSpacing(0);
    left_ = new QWidget(this);
    addTrainButtons();
    line->addWidget(left_);
    scrubber_ = new StepScrubber(this);
    line->addWidget(scrubber_, 1);
    addStep(line);
    line->addSpacing(kTransportBarGap);
    addActions(line);

    connect(first_, &QToolButton::clicked, this, [this] { scrubTo(0); });
    connect(back_, &QToolButton::clicked, this,
            [this] { scrubTo(scrubber_->measuredNeighbour(scrubber_->step(), -1)); });
    connect(play_, &QPushButton::clicked, this, &TransportBar::playOrPause);
    connect(forward_, &QToolButton::clicked, this, &TransportBar::stepForward);
    connect(last_, &QToolButton::clicked, this, [this] { scrubTo(scrubber_->recorded()); });
    connect(scrubber_, &StepScrubber::scrubbed, this, &TransportBar::scrubTo);
    connect(field_, &QSpinBox::valueChanged, this, [this](int step) { scrubTo(step); });
    connect(fork_, &QPushButton::clicked, this, &TransportBar::forkHere);
    connect(measure_, &QPushButton::clicked, this, &TransportBar::measureHere);
    connect(replace_, &QPushButton::clicked, this, &TransportBar::replaceRuns);
    auto* space = new QShortcut(Qt::Key_Space, this);
    space->setAutoRepeat(false);
    connect(space, &QShortcut::activated, this, &TransportBar::playOrPause);

    // Sized for large values, so that the scrubber keeps its length.
    setRates(9999999, 99.9, 99);
    setDeviceUse(QStringLiteral("cuda-emulated"), QStringLiteral("999.9 of 999.9 GiB free"));
    note_->setFixedSize(note_->fontMetrics().size(0, ratesText()).width() + 4,
                        2 * note_->fontMetrics().lineSpacing());
    setDeviceUse({}, {});
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    setRates(unknown, unknown, unknown);
    setLeftWidth(280);
    setPlaying(false);
    setRange(-1, 0);
    setMeasurable(false, tr("Nothing is recorded yet"));
    setForkable(false, tr("Nothing is recorded yet"));
    setReplaceable(false);
}

void TransportBar::addTrainButtons() {
    auto* line = new QHBoxLayout(left_);
    line->setContentsMargins(kTransportBarIndent, 0, kTransportBarIndent, 0);
    line->setSpacing(0);
    const auto button = [&](Glyph glyph, const QString& name) {
        auto* made = new GlyphButton(glyph, name, left_);
        made->setFixedSize(kTransportBarGlyph, kTransportBarGlyph);
        line->addWidget(made);
        return made;
    };
    first_ = button(Glyph::First, tr("First step"));
    back_ = button(Glyph::Back, tr("Previous measured step (Shift+← on the time line: one step)"));
    line->addSpacing(kTransportBarIndent / 2);
    play_ = new BarButton(tr("Train"), BarButton::Look::Solid, left_);
    play_->setObjectName(QStringLiteral("playButton"));
    play_->setNote(tr("Space"));
    play_->setFixedSize(140, 34);
    line->addWidget(play_);
    line->addSpacing(kTransportBarIndent / 2);
    forward_ = button(Glyph::Forward, tr("Next measured step; at the end, train one step"));
    last_ = button(Glyph::Last, tr("Newest step"));
    line->addStretch(1);
}

/// "Step 8 of 200" with the device, and two lines for the note.
void TransportBar::addStep(QBoxLayout* line) {
    const auto label = [this](int px) {
        auto* made = new QLabel(this);
        made->setFont(sized(made->font(), px));
        made->setForegroundRole(QPalette::PlaceholderText);
        made->setTextFormat(Qt::PlainText);
        return made;
    };
    auto* column = new QVBoxLayout;
    column->setContentsMargins(0, 2, 0, 0);
    column->setSpacing(0);
    auto* row = new QHBoxLayout;
    row->setSpacing(3);
    QLabel* step = label(12);
    step->setText(tr("Step"));
    row->addWidget(step);
    field_ = new StepField(this);
    row->addWidget(field_);
    planned_ = label(12);
    row->addWidget(planned_);
    row->addStretch(1);
    device_ = new DeviceButton(this);
    row->addWidget(device_);
    column->addLayout(row);
    note_ = label(11);
    note_->setObjectName(QStringLiteral("rates"));
    note_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    column->addWidget(note_);
    line->addLayout(column);
}

/// Fork, or replace, above measure: of one width.
void TransportBar::addActions(QBoxLayout* line) {
    auto* column = new QVBoxLayout;
    column->setContentsMargins(0, 2, 0, 2);
    column->setSpacing(2);
    column->addStretch(1);
    const auto button = [&](const QString& text, const QString& key, const char* name) {
        auto* made = new BarButton(text, BarButton::Look::Outlined, this);
        made->setNote(key);
        made->setObjectName(QLatin1String(name));
        column->addWidget(made);
        return made;
    };
    fork_ = button(tr("Fork here"), tr("K"), "forkHere");
    replace_ = button(tr("Replace run"), {}, "replaceRuns");
    replace_->setToolTip(
        tr("Trains the changed stack in place of the trained one; undo restores it "
           "(Ctrl+Shift+Return)"));
    measure_ = button(tr("Measure"), tr("M"), "measureHere");
    column->addStretch(1);
    int width = 0;
    for (const BarButton* made : {fork_, replace_, measure_}) width = std::max(width, made->fullWidth());
    for (BarButton* made : {fork_, replace_, measure_}) made->setFixedSize(width, 25);
    measure_->setAccessibleName(tr("Measure at this step"));
    fork_->setAccessibleName(tr("Fork at this step"));
    line->addLayout(column);
}

QWidget* TransportBar::mainButton() const {
    return play_;
}

QWidget* TransportBar::rates() const {
    return note_;
}

void TransportBar::setLeftWidth(int width) {
    left_->setFixedWidth(width);
}

void TransportBar::setRange(qint64 recorded, qint64 planned) {
    scrubber_->setRange(recorded, planned);
    const QSignalBlocker quiet(field_);
    const int most = static_cast<int>(std::clamp<qint64>(recorded, 0, std::numeric_limits<int>::max()));
    if (field_->maximum() != most) field_->setMaximum(most);  // Qt paints it again even for the same one
    const qint64 steps = std::max(recorded, planned) + 1;
    planned_->setText(tr("of %1").arg(steps));
    field_->setDigits(steps);
    showButtons();
    showNote();
}

void TransportBar::setStep(qint64 step) {
    scrubber_->setStep(step);
    const QSignalBlocker quiet(field_);
    // While playing, a frame arrives every few milliseconds and must not overwrite a half-typed number.
    const bool typing = field_->hasFocus() && field_->cleanText() != QString::number(field_->value());
    const bool shown = field_->value() == step && field_->cleanText() == QString::number(step);
    if (!typing && !shown) field_->setValue(static_cast<int>(step));
    showButtons();
    showNote();
}

void TransportBar::setMarks(std::vector<StepMark> marks) {
    scrubber_->setMarks(std::move(marks));
}

void TransportBar::setLanes(std::vector<StepLane> lanes) {
    scrubber_->setLanes(std::move(lanes));
    showNote();
}

void TransportBar::setMeasurable(bool measurable, const QString& why_not) {
    measure_->setEnabled(measurable || !measuring_.isEmpty());
    measure_->setToolTip(
        measurable ? tr("Measure at this step (M): replays the run from its nearest checkpoint") : why_not);
}

void TransportBar::setForkable(bool forkable, const QString& why_not) {
    if (!forking_.isEmpty()) return;  // the button cancels it
    fork_->setEnabled(forkable);
    fork_->setToolTip(forkable ? tr("A new run that begins with the state of this step (K)") : why_not);
}

void TransportBar::setMeasuring(const QString& status) {
    measuring_ = status;
    measure_->setLabel(status.isEmpty() ? tr("Measure") : tr("Cancel"));
    measure_->setAccessibleName(status.isEmpty() ? tr("Measure at this step") : tr("Cancel the measurement"));
    if (!status.isEmpty()) measure_->setEnabled(true);
    showNote();
}

void TransportBar::setForking(const QString& status) {
    forking_ = status;
    fork_->setLabel(status.isEmpty() ? tr("Fork here") : tr("Cancel fork"));
    fork_->setAccessibleName(status.isEmpty() ? tr("Fork at this step") : tr("Cancel the fork"));
    if (!status.isEmpty()) {
        fork_->setEnabled(true);
        fork_->setToolTip(tr("Ends the replay, without a new run (K)"));
    }
    showNote();
}

void TransportBar::setPlaying(bool playing, const QString& act, const QString& why_not) {
    playing_ = playing;
    play_->setGlyph(playing ? Glyph::Pause : Glyph::Play);
    play_->setLabel(playing ? tr("Pause") : act.isEmpty() ? tr("Train") : act);
    play_->setEnabled(playing || why_not.isEmpty());
    play_->setToolTip(why_not.isEmpty() ? tr("%1 (Space)").arg(play_->text()) : why_not);
    showButtons();
}

void TransportBar::setRates(double tokens_per_s, double step_ms, double probe_percent) {
    if (!std::isfinite(tokens_per_s) && !std::isfinite(step_ms) && !std::isfinite(probe_percent)) {
        rates_text_.clear();
        return showNote();
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
    // From twice a step on, as so many steps.
    const bool times = std::isfinite(probe_percent) && probe_percent >= 200;
    const QString probes = times ? tr("probes %1 times a step").arg(numberText(probe_percent / 100, 2))
                                 : tr("probes %1 %").arg(number(probe_percent, [](double v) {
                                       return QString::number(v, 'f', v < 9.95 ? 1 : 0);
                                   }));
    rates_text_ = tr("%1 tokens/s · %2\n%3").arg(tokens, step, probes);
    showNote();
}

void TransportBar::setDeviceUse(const QString& device, const QString& memory) {
    device_text_ = device;
    memory_text_ = memory;
    showNote();
}

QString TransportBar::ratesText() const {
    QString text = rates_text_;
    if (text.isEmpty()) return {};
    if (!device_text_.isEmpty()) text.prepend(device_text_ + QStringLiteral(" · "));
    if (!memory_text_.isEmpty()) text += QStringLiteral(" · ") + memory_text_;
    return text;
}

void TransportBar::showNote() {
    const QString& status = forking_.isEmpty() ? measuring_ : forking_;
    const bool rates = status.isEmpty() && !rates_text_.isEmpty();
    const QString text = !status.isEmpty()           ? status
                         : rates                     ? ratesText()
                         : scrubber_->recorded() < 0 ? tr("initial weights, nothing trained yet")
                                                     : scrubber_->measuredText();
    QStringList lines = text.split(u'\n');
    for (QString& line : lines)
        line = note_->fontMetrics().elidedText(line, Qt::ElideRight, note_->maximumWidth());
    note_->setText(lines.join(u'\n'));
    note_->setAccessibleName(rates ? tr("Speed") : tr("Measured"));
    note_->setAccessibleDescription(text);
}

void TransportBar::setReplaceable(bool replaceable) {
    fork_->setVisible(!replaceable);
    replace_->setVisible(replaceable);
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

void TransportBar::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(0, 0, width(), 1, themeOf(palette()).grid);
    painter.fillRect(left_->width() - 1, 0, 1, height(), themeOf(palette()).grid);
}

}  // namespace normscope::widgets
