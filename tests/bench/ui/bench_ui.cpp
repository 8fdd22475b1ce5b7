// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/ui/bench_ui.h"

#include "app/lab/lab.h"
#include "app/lab/remote/place.h"
#include "app/window/appearance_controller.h"
#include "app/window/files/files_controller.h"
#include "app/window/main_window.h"
#include "core/backend/cpu/host/available_cores.h"
#include "tests/bench/ui/mouse_sender.h"
#include "tests/bench/ui/redraw_bench.h"
#include "tests/bench/ui/watchdog.h"
#include "widgets/knobs/choice_knob.h"
#include "widgets/knobs/knob.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/knobs/knob_slider.h"
#include "widgets/panels/panel_grid.h"

#include <QComboBox>
#include <QEventLoop>
#include <QMetaEnum>
#include <QScrollArea>
#include <QSettings>
#include <QTemporaryDir>
#include <QTimer>
#include <algorithm>
#include <cmath>
#include <optional>
#include <thread>

namespace normscope::app::bench {

namespace {

using namespace std::chrono_literals;

constexpr auto kInterval = std::chrono::nanoseconds(1'000'000'000 / 60);
constexpr int kPatience = 60'000;  // ms
constexpr int kPixels = 2;         // of a move
constexpr double kMargin = 6;      // of a slider: an error of it moves the range of the drag by as much
constexpr QSize kSize{1440, 900};
constexpr int kCurves = 48, kPoints = 1000, kRedraws = 60;

struct KnobOrder {
    const char* key;
    double from, to;  ///< the drag; unused by a choice
    double limit_ms;
};
// About the default stack: depth 12, width 64.
constexpr KnobOrder kKnobs[] = {{"stack.residual_step", 0.1, 1.5, 16},
                                {"stack.temperature", 0.25, 4, 16},
                                {"stack.depth", 6, 24, 33},
                                {"stack.d_model", 32, 128, 33},
                                {"stack.scheme", 0, 0, 33}};

/// Runs the event loop until that holds; std::runtime_error after a minute.
void waitFor(const char* what, const std::function<bool()>& holds) {
    QEventLoop loop;
    QTimer poll;
    int left = kPatience / 2;
    QObject::connect(&poll, &QTimer::timeout, &loop, [&] {
        if (holds() || --left == 0) loop.quit();
    });
    poll.start(2);
    loop.exec();
    if (left == 0) throw std::runtime_error(std::string("--bench-ui: waited a minute for ") + what);
}

void wait(std::chrono::milliseconds time) {
    QEventLoop loop;
    QTimer::singleShot(time, &loop, &QEventLoop::quit);
    loop.exec();
}

/// 0, 1, …, most, …, 1, 0, 1, …
int zigzag(int i, int most) {
    const int at = i % (2 * most);
    return at <= most ? at : 2 * most - at;
}

class InterfaceBench {
  public:
    InterfaceBench(MeasuredApplication& application, const BenchOrder& order)
        : application_(application), order_(order) {
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, folder_.path());
        window_ = std::make_unique<MainWindow>(folder_.filePath(QStringLiteral("recordings")), order.threads,
                                               order.backend);
        recorder_ = std::make_unique<DragRecorder>(*window_);
    }

    BenchResult run() {
        window_->appearance()->setDark(false);
        window_->resize(kSize);
        window_->show();
        window_->activateWindow();
        // A box takes the wheel only with the focus.
        waitFor("the focus", [this] { return window_->isActiveWindow(); });
        waitFor("the engine", [this] {
            return !is_remote(order_.backend.toStdString()) ||
                   lab().devices().chosen().find(' ') != std::string::npos;
        });
        waitFor("the first measurement", [this] { return lab().view().exact(); });
        result_.platform = QGuiApplication::platformName().toStdString();
        result_.size = window_->size();
        result_.seconds = order_.seconds;
        result_.cores = available_cores();
        result_.threads = lab().devices().engineThreads();
        result_.runs = static_cast<int>(lab().comparison().runs.size());
        for (const widgets::PanelCell* cell : window_->views().grid->visibleCells())
            result_.panels.push_back(cell->panel());
        check();
        result_.redraw = redrawTimes(kCurves, kPoints, kRedraws);
        if (!order_.session.isEmpty()) {
            open();
            return std::move(result_);
        }
        for (const KnobOrder& knob : kKnobs) {
            result_.knobs.push_back(
                {knob.key, title(knob.key), knob.from, knob.to, knob.limit_ms, drag(knob, order_.seconds)});
        }
        train();
        return std::move(result_);
    }

  private:
    Lab& lab() { return *window_->lab(); }
    widgets::KnobRow* row(const char* key) { return window_->views().knobs->row(QLatin1String(key)); }
    std::string title(const char* key) { return row(key)->label().toStdString(); }

    /// The widget that takes the mouse, scrolled into view.
    QWidget* target(const char* key) {
        QWidget* at = row(key);
        for (QWidget* up = at->parentWidget(); up; up = up->parentWidget())
            if (auto* scroll = qobject_cast<QScrollArea*>(up)) scroll->ensureWidgetVisible(at);
        if (auto* knob = qobject_cast<widgets::Knob*>(at)) return knob->slider();
        return qobject_cast<widgets::ChoiceKnob*>(at)->box();
    }

    /// A drag to and fro between two values, from where the thumb is; a choice: a notch a move.
    std::vector<MouseMove> moves(const KnobOrder& order, QWidget* on, int count) {
        std::vector<MouseMove> moves;
        if (auto* box = qobject_cast<QComboBox*>(on)) {
            const QPointF at = on->mapTo(window_.get(), on->rect().center());
            const int most = box->count() - 1, first = box->currentIndex();
            for (int i = 0; i < count; ++i)  // a notch away from the user is the previous entry
                moves.push_back({at, zigzag(first + i, most) < zigzag(first + i + 1, most) ? -1 : 1});
            return moves;
        }
        auto* slider = static_cast<widgets::KnobSlider*>(on);
        const auto x = [&](double value) {
            const double position = widgets::positionOf(slider->scale(), value);
            return static_cast<int>(std::lround(kMargin + position * (slider->width() - 2 * kMargin)));
        };
        const int low = x(order.from), high = x(order.to);
        const int most = (high - low) / kPixels,
                  first = (static_cast<int>(slider->thumb().x()) - low) / kPixels;
        const QPointF origin = slider->mapTo(window_.get(), QPoint());
        for (int i = 1; i <= count; ++i)
            moves.push_back({origin + QPointF(low + kPixels * zigzag(first + i, most), slider->thumb().y())});
        return moves;
    }

    DragTimes drag(const KnobOrder& order, double seconds) {
        QWidget* on = target(order.key);
        waitFor("a measurement", [this] { return lab().view().exact(); });
        wait(500ms);  // the bars and the findings are updated a few times a second
        const int count = std::max(2, static_cast<int>(std::lround(60 * seconds)));
        const std::vector<MouseMove> path = moves(order, on, count);
        auto* slider = qobject_cast<widgets::KnobSlider*>(on);
        const QPointF thumb = slider ? slider->mapTo(window_.get(), slider->thumb().toPoint()) : QPointF();
        if (slider)
            sendButton(*window_, thumb, true);
        else
            on->setFocus();
        recorder_->begin(count);
        application_.listen(recorder_.get());
        MouseSender mouse(*window_, path, kInterval);
        waitFor("the moves", [&] { return mouse.finished(); });
        waitFor("the last image", [&] { return lab().view().exact() && recorder_->settled(); });
        application_.listen(nullptr);
        if (slider) sendButton(*window_, path.back().at, false);
        // The next knob starts at the default stack.
        while (lab().runs().undoStack()->canUndo()) lab().runs().undoStack()->undo();
        return recorder_->end([&](int i) { return mouse.postedAt(i); });
    }

    void check() {
        result_.check.stall_ms = order_.stall_ms;
        Watchdog watchdog;
        QTimer::singleShot(1000ms, &watchdog, [this] {
            std::this_thread::sleep_for(std::chrono::milliseconds(order_.stall_ms));
        });
        const DragTimes times = drag(kKnobs[0], 1.5);
        result_.check.watchdog_ms = percentile(watchdog.stop(), 1);
        result_.check.move_ms = percentile(times.latency, 1);
    }

    /// From the command to the first paint of the session.
    void open() {
        struct Paints final : EventListener {
            Time last{};
            void moveBegins(int, Time) override {}
            void moveEnds(int, Time) override {}
            void windowPainted(Time, const std::vector<Painted>&, Time end) override { last = end; }
        } paints;
        application_.listen(&paints);
        std::optional<Time> applied;
        QObject::connect(&lab().session(), &LabSession::opened, window_.get(),
                         [&] { applied = Clock::now(); });
        std::string problem;
        QObject::connect(&lab(), &Lab::problem, window_.get(),
                         [&](const QString& line) { problem = line.toStdString(); });
        const Time begin = Clock::now();
        window_->files()->openSession(order_.session);
        waitFor("the session's paint",
                [&] { return !problem.empty() || (applied && paints.last > *applied); });
        application_.listen(nullptr);
        if (!problem.empty()) throw std::runtime_error(problem);
        result_.open_ms = milliseconds(paints.last - begin);
        for (const LabRun& run : lab().comparison().runs)
            result_.opened_values += (run.data->unread ? run.data->unread->rows : run.data->steps.rows()) *
                                     run.data->steps.columns.size();
        result_.runs = static_cast<int>(lab().comparison().runs.size());
    }

    void train() {
        lab().knobs().commitKey("steps", 10000);
        waitFor("the first measurement", [this] { return lab().view().exact(); });
        lab().training().play();
        waitFor("the first steps", [this] {
            return std::all_of(lab().comparison().runs.begin(), lab().comparison().runs.end(),
                               [](const LabRun& run) { return run.trained(); });
        });
        const auto steps = [this] {
            long long sum = 0;
            for (const LabRun& run : lab().comparison().runs) sum += run.lastStep() + 1;
            return sum;
        };
        struct Slow final : EventListener {
            std::map<std::string, SlowEvent> events;
            void moveBegins(int, Time) override {}
            void moveEnds(int, Time) override {}
            void windowPainted(Time, const std::vector<Painted>&, Time) override {}
            void slowEvent(const QMetaObject* of, int type, double ms) override {
                const char* word = QMetaEnum::fromType<QEvent::Type>().valueToKey(type);
                SlowEvent& event = events[std::string(of->className()) + ", " +
                                          (word ? word : std::to_string(type).c_str())];
                ++event.count;
                event.total_ms += ms;
                event.longest_ms = std::max(event.longest_ms, ms);
            }
        } slow;
        const long long before = steps();
        application_.listen(&slow);
        Watchdog watchdog;
        QTimer resize;
        QObject::connect(&resize, &QTimer::timeout, window_.get(), [this] {
            const int less = 8 * zigzag(result_.resizes++, 30);
            window_->resize(kSize - QSize(less, less / 2));
        });
        resize.start(33);
        wait(std::chrono::milliseconds(static_cast<int>(1000 * order_.seconds)));
        waitFor("a further step", [&] { return steps() > before; });  // where the cores are busy
        resize.stop();
        result_.stalls = watchdog.stop();
        application_.listen(nullptr);
        result_.slow = std::move(slow.events);
        result_.steps = steps() - before;
        result_.all_trained = std::all_of(lab().comparison().runs.begin(), lab().comparison().runs.end(),
                                          [](const LabRun& run) { return run.isTraining(); });
        lab().training().stop();
    }

    MeasuredApplication& application_;
    const BenchOrder order_;
    QTemporaryDir folder_;
    std::unique_ptr<MainWindow> window_;
    std::unique_ptr<DragRecorder> recorder_;
    BenchResult result_;
};

}  // namespace

BenchResult benchInterface(MeasuredApplication& application, const BenchOrder& order) {
    return InterfaceBench(application, order).run();
}

}  // namespace normscope::app::bench
