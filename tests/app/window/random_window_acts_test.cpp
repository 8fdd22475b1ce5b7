// SPDX-License-Identifier: GPL-3.0-or-later
// Sequences of acts at the window, drawn from a table: keys, buttons, stories, remedies, sessions, a new
// start. After each act what random_acts checks holds, and the window shows one step everywhere; after each
// sequence the main button names what it does.
#include "app/window/appearance_controller.h"
#include "app/window/files/files_controller.h"
#include "app/window/runs/story_controller.h"
#include "app/window/state_controller.h"
#include "core/recipe/presets.h"
#include "program_font.h"
#include "remedies_bench.h"
#include "tests/app/lab/sound_lab.h"
#include "tests/support/test_main.h"
#include "widgets/presentation/presentation.h"
#include "widgets/runs/step_scrubber.h"
#include "widgets/runs/transport_bar.h"
#include "widgets/story/story_strip.h"

#include <QAbstractButton>
#include <QDialog>
#include <QPushButton>
#include <QSpinBox>
#include <random>

using namespace normscope;
using namespace normscope::app;
using normscope::test::box;
using normscope::test::WindowBench;

namespace {

constexpr int kWindowRows = 20, kWindowActs = 8, kWindowSteps = 8;

/// 500 sequences with NORMSCOPE_SEQUENCES=500; fewer by default, since each has a window on screen.
int sequences() {
    const int asked = qEnvironmentVariableIntValue("NORMSCOPE_SEQUENCES");
    return asked > 0 ? asked : 40;
}

struct WindowPlay {
    WindowBench& b;
    const test::Foreign& foreign;
    std::mt19937 random;
    std::map<std::string, std::size_t> rows;
    QString trace;

    int draw(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }
    Lab& lab() const { return b.lab(); }
    const std::vector<LabRun>& runs() const { return lab().comparison().runs; }
    void key(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) {
        closeQuestions();
        QWidget* focus = QApplication::focusWidget();
        QTest::keyClick(focus ? focus : b.window.get(), key, modifiers);
    }
    /// Runs that train in milliseconds; those of a session or a story are large.
    void small() {
        for (const LabRun& run : runs())
            if (!run.fixed() && run.recipe.stack.depth > 3) {
                for (const auto& [key, value] : {std::pair{"stack.depth", 2},
                                                 {"stack.d_model", 16},
                                                 {"stack.heads", 2},
                                                 {"stack.context", 16},
                                                 {"batch", 2},
                                                 {"steps", kWindowSteps}})
                    lab().knobs().commitKey(key, value);
                return;
            }
    }
    /// A question stays on screen until it is answered: here by Esc.
    void closeQuestions() {
        for (QWidget* window : QApplication::topLevelWidgets())
            if (auto* dialog = qobject_cast<QDialog*>(window); dialog && dialog->isVisible())
                dialog->reject();
    }
};

struct WindowAct {
    const char* name;
    void (*run)(WindowPlay&);
    bool replaces = false;  ///< the comparison, or the rows of its runs
};

void openFile(WindowPlay& p, const QString& path) {
    QSignalSpy opened(&p.lab().session(), &LabSession::opened);
    p.b.window->files()->openSession(path);
    if (p.draw(2) == 0) return;  // the next act comes before the reply
    if (QTest::qWaitFor([&] { return opened.count() > 0; }, 5000)) p.small();
}

const std::vector<WindowAct>& windowActs() {
    static const std::vector<WindowAct> all{
        {"Space", [](WindowPlay& p) { p.key(Qt::Key_Space); }, true},
        {"main button",
         [](WindowPlay& p) {
             auto* button = qobject_cast<QAbstractButton*>(p.b.window->views().transport->mainButton());
             if (button->isEnabled()) button->click();
         },
         true},
        {"one step", [](WindowPlay& p) { p.key(Qt::Key_Period); }, true},
        {"stop", [](WindowPlay& p) { p.key(Qt::Key_Period, Qt::ControlModifier); }},
        {"scrub",
         [](WindowPlay& p) { Q_EMIT p.b.window->views().transport->scrubbed(p.draw(kWindowSteps + 3)); }},
        {"fork", [](WindowPlay& p) { p.key(Qt::Key_K); }},
        {"measure", [](WindowPlay& p) { p.key(Qt::Key_M); }},
        {"reference",
         [](WindowPlay& p) {
             if (p.runs().size() < 6) p.key(Qt::Key_B);
         }},
        {"next run", [](WindowPlay& p) { p.key(Qt::Key_R, Qt::ControlModifier); }},
        {"remove", [](WindowPlay& p) { p.key(Qt::Key_Backspace, Qt::ControlModifier); }},
        {"hot knob",
         [](WindowPlay& p) { p.lab().knobs().commitKey("stack.residual_step", p.draw(2) ? 1.0 : 0.3); }},
        {"depth", [](WindowPlay& p) { p.lab().knobs().commitKey("stack.depth", 1 + p.draw(2)); }},
        {"new runs",
         [](WindowPlay& p) {
             if (p.runs().size() < 6) p.key(Qt::Key_Return, Qt::ControlModifier);
         }},
        {"replace", [](WindowPlay& p) { p.key(Qt::Key_Return, Qt::ControlModifier | Qt::ShiftModifier); },
         true},
        {"undo", [](WindowPlay& p) { p.key(Qt::Key_Z, Qt::ControlModifier); }, true},
        {"redo", [](WindowPlay& p) { p.key(Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier); }, true},
        {"remedy",
         [](WindowPlay& p) {
             if (p.runs().size() < 6 && box(p.b)->isVisible() && !box(p.b)->buttons().empty())
                 Q_EMIT box(p.b)->tryRequested(
                     p.lab().remedies().trials() ? p.lab().remedies().trials()->run : std::string(), {0});
         }},
        {"why", [](WindowPlay& p) { p.key(Qt::Key_W); }},
        {"maximise", [](WindowPlay& p) { p.key(Qt::Key_F); }},
        {"presentation", [](WindowPlay& p) { p.key(Qt::Key_F11); }},
        {"escape", [](WindowPlay& p) { p.key(Qt::Key_Escape); }},
        {"theme", [](WindowPlay& p) { p.b.window->appearance()->setDark(p.draw(2) == 0); }},
        {"story",
         [](WindowPlay& p) {
             const auto& all_stories = stories();
             p.b.window->stories()->tell(QString::fromLatin1(
                 all_stories[static_cast<std::size_t>(p.draw(static_cast<int>(all_stories.size())))].name));
             p.small();
         },
         true},
        {"next page", [](WindowPlay& p) { p.key(Qt::Key_PageDown); }},
        {"previous page", [](WindowPlay& p) { p.key(Qt::Key_PageUp); }},
        {"save", [](WindowPlay& p) { p.b.window->files()->saveSession(p.b.folder.filePath("own.h5")); }},
        {"save into another's", [](WindowPlay& p) { p.b.window->files()->saveSession(p.foreign.live); }},
        {"new",
         [](WindowPlay& p) {
             p.lab().session().startOver();
             p.small();
         },
         true},
        {"open", [](WindowPlay& p) { openFile(p, p.foreign.session); }, true},
        {"open stopped", [](WindowPlay& p) { openFile(p, p.foreign.stopped); }, true},
        {"open live", [](WindowPlay& p) { openFile(p, p.foreign.live); }, true},
        {"quit and start",
         [](WindowPlay& p) {
             p.b.window->close();  // asks nothing: the next start restores everything
             p.b.window.reset();
             p.b.open();
             QSignalSpy restored(&p.lab().session(), &LabSession::restored);
             p.b.window->state()->start(false);
             if (QTest::qWaitFor([&] { return restored.count() > 0; }, 10000)) p.small();
         },
         true},
    };
    return all;
}

/// What the window shows otherwise than the laboratory; empty: nothing.
QString shownWrong(const WindowPlay& p) {
    const auto& views = p.b.window->views();
    const qint64 last = p.lab().comparison().lastStep();
    const qint64 step = p.lab().comparison().exploring() ? 0 : std::min(p.lab().view().step(), last);
    if (views.transport->scrubber()->step() != step)
        return QString("the scrubber is at %1, the laboratory at %2")
            .arg(views.transport->scrubber()->step())
            .arg(step);
    if (views.story->story() && views.story->at() >= views.story->story()->steps.size())
        return "the story has no such page";
    return {};
}

/// The main button's words are those of its act.
QString buttonWrong(const WindowPlay& p) {
    using Act = TrainingControl::Act;
    const Act act = p.lab().training().nextAct();
    const QString text = qobject_cast<QAbstractButton*>(p.b.window->views().transport->mainButton())->text();
    const std::map<Act, QString> begins{
        {Act::Pause, "Pause"},     {Act::Continue, "Resume"},        {Act::Train, "Train"},
        {Act::StartNew, "Start "}, {Act::StartAgain, "Start again"}, {Act::ResumeEnded, "Resume"},
        {Act::Follow, "Live"},     {Act::None, "All ended"}};
    const auto found = begins.find(act);
    const bool right = found == begins.end() ? text.endsWith(" more steps") : text.startsWith(found->second);
    return right ? QString() : QString("the main button is '%1'").arg(text);
}

}  // namespace

class RandomWindowActsTest : public QObject {
    Q_OBJECT
    std::unique_ptr<test::Foreign> foreign_;

  private Q_SLOTS:
    void initTestCase() {
        test::useProgramFont();
        foreign_ = std::make_unique<test::Foreign>();
        foreign_->make(kWindowSteps);
    }
    void cleanupTestCase() { foreign_.reset(); }

    void sequencesAtTheWindow_data() {
        QTest::addColumn<int>("row");
        for (int row = 0; row < kWindowRows; ++row) QTest::addRow("%d", row) << row;
    }
    void sequencesAtTheWindow() {
        QFETCH(int, row);
        WindowBench b;
        b.window->state()->start(true);  // its state is kept for the next start
        for (int i = row; i < sequences(); i += kWindowRows) {
            WindowPlay p{b, *foreign_, std::mt19937(static_cast<unsigned>(i)), {}, {}};
            p.lab().session().startOver();
            p.small();
            const auto fails = [&](const QString& failure) {
                return qPrintable(QString("sequence %1:%2: %3").arg(i).arg(p.trace, failure));
            };
            for (int n = 0; n < kWindowActs; ++n) {
                const WindowAct& act =
                    windowActs()[static_cast<std::size_t>(p.draw(static_cast<int>(windowActs().size())))];
                p.trace += QStringLiteral(" · ") + QLatin1String(act.name);
                if (act.replaces) p.rows.clear();
                act.run(p);
                if (act.replaces) p.rows.clear();
                QTest::qWait(p.draw(8));
                const QString failure = test::wrong(p.lab(), p.rows, *foreign_);
                QVERIFY2(failure.isEmpty(), fails(failure));
                if (act.replaces) p.rows.clear();
            }
            p.closeQuestions();
            const QString waits = test::unsettled(p.lab());
            QVERIFY2(waits.isEmpty(), fails(waits));
            p.rows.clear();
            const QString failure = test::wrong(p.lab(), p.rows, *foreign_);
            QVERIFY2(failure.isEmpty(), fails("at the end " + failure));
            QString shown;  // the bars follow a few times a second, and a followed run grows
            const auto right = [&] { return (shown = shownWrong(p) + buttonWrong(p)).isEmpty(); };
            QVERIFY2(QTest::qWaitFor(right, 5000), fails(shown));
        }
        QCOMPARE(foreign_->writer.state(), QProcess::Running);
    }
};

NORMSCOPE_WIDGET_TEST(RandomWindowActsTest)
#include "random_window_acts_test.moc"
