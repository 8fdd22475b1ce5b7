// SPDX-License-Identifier: GPL-3.0-or-later
// Every request that there is, its replies in every order: in time, late, twice, backwards, failed, in a
// drag, after an undo, after another session took the place of the one that asked. Nothing is lost, nothing
// lands in another session, and no request waits for ever.
#include "app/lab/healthy_reference.h"
#include "core/interchange/model_file.h"
#include "core/session/session.h"
#include "lab_bench.h"
#include "post.h"
#include "tests/app/remote/there.h"
#include "tests/support/test_main.h"

#include <QFile>
#include <QTemporaryDir>
#include <algorithm>
#include <random>

using namespace normscope;
using namespace normscope::app;
using normscope::test::Post;
using normscope::test::sound;
using normscope::test::There;

namespace {

constexpr int kSteps = 6;

/// Files that every order finds: written once.
struct Files {
    QTemporaryDir folder;
    QString trained = folder.filePath("trained.h5");    ///< two runs that have ended, with checkpoints
    QString stopped = folder.filePath("stopped.h5");    ///< one that was stopped, with a checkpoint
    QString diverged = folder.filePath("diverged.h5");  ///< one that failed, without remedies that take long
    QString later = folder.filePath("later.h5");        ///< of a version that this one does not know
    QString model = folder.filePath("model.safetensors");
    QStringList recordings;
    std::vector<SavedRun> kept;

    QString missing(const char* name) const { return folder.filePath(QLatin1String(name)); }
};

struct Bench {
    std::shared_ptr<Post> post = std::make_shared<Post>();
    QTemporaryDir folder;
    QString session = folder.filePath("session.h5");
    std::optional<There> there;  ///< the machine of the engine; nullopt: this process
    std::unique_ptr<Lab> lab;
    QStringList problems;

    /// Shows a copy of this session.
    Bench(const Files&, const QString& opened, bool elsewhere = false) {
        QFile::copy(opened, session);
        Lab::Options options{1, folder.filePath("recordings"), Post::of(post)};
        if (elsewhere) {
            there.emplace();
            options.backend = There::device();
        }
        options.outline_above = 0;  // so that the rest of a session is a request too
        lab = std::make_unique<Lab>(std::move(options));
        QObject::connect(lab.get(), &Lab::problem, lab.get(),
                         [this](const QString& line) { problems << line; });
        lab->view().setVisibleProbes({"growth"});
        open(session);
        if (elsewhere && !QTest::qWaitFor([&] { return lab->devices().chosen() != There::device(); }, 20000))
            throw std::runtime_error("it is not connected");
    }
    ~Bench() {
        post->hold = false;
        post->held.clear();
    }
    void open(const QString& path) const {
        lab->session().open(path);
        if (!QTest::qWaitFor(
                [&] { return lab->session().path() == path && notReadYet(lab->comparison()).isEmpty(); },
                20000))
            throw std::runtime_error("it does not open");
    }
    QString sweepFolder() const { return folder.filePath("sweep"); }
    /// Until nothing is sent for a while.
    void replies() const {
        for (int quiet = 0; quiet < 3;) {
            const std::size_t before = post->held.size();
            QTest::qWait(4);
            quiet = post->held.size() == before ? quiet + 1 : 0;
        }
    }
    /// Everything is delivered, and every request was answered. Empty, or what still waits.
    QString settled() const {
        post->hold = false;
        post->deliver();
        if (lab->knobs().dragging()) lab->knobs().commitKey("stack.residual_step", 1.0);
        const auto over = [&] {
            if (lab->comparison().anyTraining() && !lab->training().playing()) lab->training().play();
            if (lab->sweeps().running()) return false;
            return lab->waitingRequests().empty() && !lab->comparison().anyTraining() && lab->view().exact();
        };
        if (QTest::qWaitFor(over, 20000)) return {};
        QString waits = lab->comparison().anyTraining() ? QStringLiteral("a run trains") : QString();
        for (const std::string& name : lab->waitingRequests()) waits += u' ' + QString::fromStdString(name);
        return waits + (lab->view().exact() ? QString() : QStringLiteral(" not exact"));
    }
    QString unsound() const {
        for (const LabRun& run : lab->comparison().runs) {
            const QString name = QString::fromStdString(run.data->name);
            if (!sound(*run.data)) return name + " has a gap";
            if (run.data->outcome.state == RunState::Finished &&
                run.data->steps.rows() < static_cast<std::size_t>(run.live.train.steps))
                return name + " has lost rows";
        }
        return {};
    }
    std::map<std::string, std::size_t> rows() const {
        std::map<std::string, std::size_t> all;
        for (const LabRun& run : lab->comparison().runs) all[run.id] = run.data->steps.rows();
        return all;
    }
};

SweepSpec smallSweep() {
    SweepSpec spec;
    spec.recipe = recipe_json(load_recipe("pre-ln", {"stack.depth=2", "stack.d_model=16", "stack.heads=2",
                                                     "stack.context=16", "batch=2", "steps=6"}));
    spec.grid = {{"optimizer.lr", {"0.001", "0.01"}}};
    spec.seeds = {42};
    return spec;
}

struct Request {
    const char* name;
    QString Files::*shown;  ///< the session that asks
    std::function<void(Bench&, const Files&)> ask;
    bool replaces = false;  ///< its reply replaces the comparison

    /// Only to another machine.
    bool ofTheOther() const { return QByteArray(name).contains(" there"); }
    bool isSweep() const { return QByteArray(name).startsWith("sweep"); }
    bool ofTheEngine() const {
        if (ofTheOther()) return true;
        const QString first = QString::fromLatin1(name).section(u',', 0, 0);
        return QStringList{"explore", "train", "new run", "fork", "resume", "more steps", "measure", "draft"}
            .contains(first);
    }
};

/// Every request of the laboratory to its engine and its files, and the same one failing.
const std::vector<Request>& requests() {
    const auto gone = [](Bench& b) { QFile::remove(b.session); };
    static const std::vector<Request> all{
        {"explore", &Files::trained,
         [](Bench& b, const Files&) {
             // Small: where the comparison is another one than was asked of, it stays and is trained to its
             // end.
             b.lab->runs().add(load_recipe("pre-ln", {"stack.depth=2", "stack.d_model=16", "stack.heads=2",
                                                      "stack.context=16", "batch=2", "steps=6"}));
             b.lab->runs().remove(2);
             b.lab->knobs().commitKey("stack.depth", 3);
         }},
        {"explore, rejected", &Files::trained,
         [](Bench& b, const Files&) { b.lab->knobs().commitKey("stack.heads", 3); }},
        {"train", &Files::trained,
         [](Bench& b, const Files&) {
             b.lab->runs().addSeeds(1);
             b.lab->training().play();
         }},
        {"train, one rejected", &Files::trained,
         [](Bench& b, const Files&) {
             Recipe recipe = b.lab->comparison().runs[0].recipe;
             b.lab->runs().addSeeds(1);
             recipe.stack.heads = 3;
             b.lab->runs().add(recipe);
             b.lab->training().play();
         }},
        {"new run", &Files::trained,
         [](Bench& b, const Files&) {
             b.lab->knobs().commitKey("stack.depth", 3);
             b.lab->training().replaceRuns();
         }},
        {"fork", &Files::trained, [](Bench& b, const Files&) { b.lab->forks().forkSelected(); }},
        {"fork, replayed", &Files::trained,
         [](Bench& b, const Files&) {
             b.lab->view().setStep(3);
             b.lab->forks().forkSelected();
         }},
        {"fork, unreadable", &Files::trained,
         [gone](Bench& b, const Files&) {
             gone(b);
             b.lab->forks().forkSelected();
         }},
        {"resume", &Files::stopped, [](Bench& b, const Files&) { b.lab->training().play(); }},
        {"more steps", &Files::trained, [](Bench& b, const Files&) { b.lab->training().play(); }},
        {"more steps, unreadable", &Files::trained,
         [gone](Bench& b, const Files&) {
             gone(b);
             b.lab->training().play();
         }},
        {"more steps, rejected", &Files::trained,
         [](Bench& b, const Files&) { b.lab->training().trainFurther("no-such-device"); }},
        {"resume, unreadable", &Files::stopped,
         [gone](Bench& b, const Files&) {
             gone(b);
             b.lab->training().play();
         }},
        {"resume, rejected", &Files::stopped,
         [](Bench& b, const Files&) {
             b.lab->training().resumeRuns({b.lab->comparison().runs[0].id}, "no-such-device");
         }},
        {"measure", &Files::trained,
         [](Bench& b, const Files&) {
             b.lab->view().setVisibleProbes({"growth", "gradients"});
             b.lab->view().setStep(3);
             b.lab->measurement().measureHere();
         }},
        {"measure, unreadable", &Files::trained,
         [gone](Bench& b, const Files&) {
             gone(b);
             b.lab->view().setVisibleProbes({"growth", "gradients"});
             b.lab->view().setStep(3);
             b.lab->measurement().measureHere();
         }},
        {"draft", &Files::trained,
         [](Bench& b, const Files& f) {  // the drafts of a failed run begin when it is shown
             b.post->hold = false;
             b.open(f.diverged);
             b.post->hold = true;
         }},
        {"add from there", &Files::trained,
         [](Bench& b, const Files& f) {
             b.lab->recordings().addFrom(QString::fromStdString(There::device()) + u' ' + f.recordings[0]);
         }},
        {"add from there, missing", &Files::trained,
         [](Bench& b, const Files& f) {
             b.lab->recordings().addFrom(QString::fromStdString(There::device()) + u' ' +
                                         f.missing("none.h5"));
         }},
        {"sweep there", &Files::trained,
         [](Bench& b, const Files&) {
             b.lab->sweeps().start(smallSweep(), b.sweepFolder(), There::device(), 1);
         }},
        {"sweep there, rejected", &Files::trained,
         [](Bench& b, const Files&) {
             SweepSpec wrong = smallSweep();
             wrong.grid[0] = {"stack.heads", {"3"}};
             b.lab->sweeps().start(wrong, b.sweepFolder(), There::device(), 1);
         }},
        {"save", &Files::trained,
         [](Bench& b, const Files&) { b.lab->session().save(b.folder.filePath("saved.h5"), "{}"); }},
        {"save, failed", &Files::trained,
         [](Bench& b, const Files& f) { b.lab->session().save(f.missing("none/saved.h5"), "{}"); }},
        {"open", &Files::trained, [](Bench& b, const Files& f) { b.lab->session().open(f.stopped); }, true},
        {"open, missing", &Files::trained,
         [](Bench& b, const Files& f) { b.lab->session().open(f.missing("none.h5")); }},
        {"open, of a later version", &Files::trained,
         [](Bench& b, const Files& f) { b.lab->session().open(f.later); }},
        {"reopen", &Files::trained, [](Bench& b, const Files& f) { b.lab->session().reopen(f.recordings); },
         true},
        {"reopen, missing", &Files::trained,
         [](Bench& b, const Files& f) { b.lab->session().reopen({f.missing("none.h5")}); }},
        {"add recordings", &Files::trained,
         [](Bench& b, const Files& f) { b.lab->recordings().add(f.recordings); }},
        {"add recordings, missing", &Files::trained,
         [](Bench& b, const Files& f) { b.lab->recordings().add({f.missing("none.h5")}); }},
        {"import", &Files::trained, [](Bench& b, const Files& f) { b.lab->runs().importModel(f.model); }},
        {"import, missing", &Files::trained,
         [](Bench& b, const Files& f) { b.lab->runs().importModel(f.missing("none.safetensors")); }},
        {"healthy runs, missing", &Files::trained,
         [](Bench& b, const Files& f) { b.lab->healthy().read(f.missing("none")); }},
        {"healthy runs, too few", &Files::trained,
         [](Bench& b, const Files& f) { b.lab->healthy().read(f.recordings[0]); }},
        {"restore", &Files::trained,
         [](Bench& b, const Files& f) { b.lab->session().restore(f.kept, f.missing("none.h5")); }, true},
        {"keep window", &Files::trained,
         [](Bench& b, const Files&) {
             SavedComparison kept =
                 b.lab->session().savedComparison(b.folder.filePath("companion.h5"), false);
             b.lab->session().saveWindow({b.folder.filePath("state.json"), "{}", std::move(kept.companion)});
         }},
        {"lists", &Files::trained,
         [](Bench& b, const Files& f) {
             b.lab->recordings().list();
             b.lab->recordings().readCurve(f.recordings[0]);
             b.lab->recordings().findInterrupted();
             b.lab->devices().find();
         }},
        {"trash", &Files::trained,
         [](Bench& b, const Files& f) {
             const QString copy = b.folder.filePath("copy.h5");
             QFile::copy(f.recordings[0], copy);
             b.lab->recordings().trash(copy);
             b.lab->recordings().trash(f.missing("none.h5"));
         }},
    };
    return all;
}

/// What happens between a request and its replies.
struct Order {
    const char* name;
    std::function<void(Bench&, const Files&, const Request&)> happens;
    bool leaves = false;  ///< another session takes the place of the one that asked
};

const std::vector<Order>& orders() {
    static const std::vector<Order> all{
        {"in time",
         [](Bench& b, const Files&, const Request&) {
             b.post->hold = false;
             b.post->deliver();
         }},
        {"late",
         [](Bench& b, const Files&, const Request&) {
             b.replies();
             b.post->deliver();
         }},
        {"twice",
         [](Bench& b, const Files&, const Request&) {
             b.replies();
             const auto again = b.post->held;
             b.post->deliver();
             b.replies();
             for (const auto& reply : again) reply();
         }},
        {"backwards",
         [](Bench& b, const Files&, const Request&) {
             b.replies();
             b.post->deliver(true);
         }},
        {"asked twice",
         [](Bench& b, const Files& f, const Request& request) {
             request.ask(b, f);
             b.replies();
             b.post->deliver(true);
         }},
        {"in a drag",
         [](Bench& b, const Files&, const Request&) {
             b.lab->knobs().beginDrag();
             b.lab->knobs().dragKey("stack.temperature", 1.5);
             b.replies();
             b.post->deliver();
             if (b.lab->knobs().dragging()) b.lab->knobs().dragKey("stack.temperature", 2.0);
             if (b.lab->knobs().dragging()) b.lab->knobs().commitKey("stack.temperature", 1.0);
         }},
        {"after an undo",
         [](Bench& b, const Files&, const Request&) {
             b.lab->runs().undoStack()->undo();
             b.replies();
             b.post->deliver();
             b.lab->runs().undoStack()->redo();
         }},
        {"after New",
         [](Bench& b, const Files&, const Request&) {
             b.replies();
             b.lab->view().setVisibleProbes(
                 {});  // nothing of the default stack is measured, which would take long
             b.lab->session().startOver();
             b.post->deliver();
         },
         true},
        {"after Close",
         [](Bench& b, const Files& f, const Request&) {
             b.replies();
             const auto late = std::exchange(b.post->held, {});
             b.post->hold = false;
             b.open(f.stopped);
             for (const auto& reply : late) reply();
         },
         true},
    };
    return all;
}

/// The same, where the engine is on another machine.
const std::vector<Order>& ordersElsewhere() {
    static const std::vector<Order> all = [] {
        std::vector<Order> list;
        for (const Order& order : orders())
            if (QByteArray(order.name) == "twice" || order.leaves) list.push_back(order);
        list.push_back({"while the connection is cut", [](Bench& b, const Files&, const Request&) {
                            b.there->cut();
                            QTest::qWait(20);
                            b.there->restore();
                            b.replies();
                            b.post->deliver();
                        }});
        list.push_back({"when the engine is gone", [](Bench& b, const Files&, const Request&) {
                            There::kill();
                            b.replies();
                            b.post->deliver();
                        }});
        return list;
    }();
    return all;
}

}  // namespace

class RequestOrdersTest : public QObject {
    Q_OBJECT
    std::unique_ptr<Files> files_;
    QTemporaryDir home_;

  private Q_SLOTS:
    void initTestCase() {
        QVERIFY(home_.isValid());
        qputenv("XDG_DATA_HOME", home_.path().toLocal8Bit());  // of the trash
        files_ = std::make_unique<Files>();
        Files& f = *files_;
        test::LabBench b(kSteps);
        const auto write = [&](const QString& path) {
            QSignalSpy saved(&b.lab->session(), &LabSession::saved);
            b.lab->session().save(path, "{}");
            QTRY_COMPARE(saved.count(), 1);
        };
        b.lab->training().play();
        QTRY_VERIFY(b.ended() && !b.lab->comparison().runs[1].checkpoints.empty());
        QTRY_VERIFY(!b.lab->comparison().runs[0].recording.empty() &&
                    !b.lab->comparison().runs[1].recording.empty());
        write(f.trained);
        for (const LabRun& run : b.lab->comparison().runs) {
            const QString kept = f.folder.filePath(QString::fromStdString(run.id) + ".h5");
            QVERIFY(QFile::copy(QString::fromStdString(run.recording), kept));
            f.recordings << kept;
            SavedRun restored;
            restored.id = run.id;
            restored.name = run.data->name;
            restored.recipe = run.recipe;
            restored.recording = kept.toStdString();
            f.kept.push_back(restored);
        }
        f.kept.push_back(f.kept[0]);
        f.kept.back().id = "lost";
        f.kept.back().recording = f.missing("none.h5").toStdString();

        std::vector<RunData> runs{b.run(0)};
        std::string text = runs[0].recipe.text();
        runs[0].recipe = RunRecipe::read(text.insert(text.find('{') + 1, "\"later\":1,"));
        save_session(f.later.toStdString(), runs, "{}");
        Recipe recipe = b.lab->comparison().runs[0].recipe;
        complete_and_validate(recipe);
        export_model(f.model.toStdString(), recipe,
                     Experiment(recipe, "source", "source").checkpoint().params);

        runs = {b.run(1)};
        runs[0].id = "diverged";
        runs[0].outcome = {RunState::Diverged, kSteps - 1, "loss is not finite", -1};
        save_session(f.diverged.toStdString(), runs, "{}");

        b.makeSmall(400);
        b.lab->session().startOver();
        b.makeSmall(400);
        b.lab->runs().remove(1);
        b.lab->training().play();
        QTRY_VERIFY(b.run(0).steps.rows() > 3);
        b.lab->training().stop();
        QTRY_VERIFY(b.ended() && !b.lab->comparison().runs[0].checkpoints.empty());
        write(f.stopped);
    }
    void cleanupTestCase() { files_.reset(); }

    void everyReplyInEveryOrder_data() {
        QTest::addColumn<int>("request");
        QTest::addColumn<int>("order");
        int count = 0;
        for (std::size_t r = 0; r < requests().size(); ++r)
            for (std::size_t o = 0; o < orders().size() && !requests()[r].ofTheOther(); ++o, ++count)
                QTest::addRow("%s, %s", requests()[r].name, orders()[o].name) << int(r) << int(o);
        QVERIFY(count >= 200);
    }
    void everyReplyInEveryOrder() {
        QFETCH(int, request);
        QFETCH(int, order);
        const Request& asks = requests()[std::size_t(request)];
        const Order& happens = orders()[std::size_t(order)];
        Bench b(*files_, *files_.*asks.shown);
        run(b, asks, happens);
    }

    /// Those of the engine, which is on another machine.
    void everyReplyFromElsewhere_data() {
        QTest::addColumn<int>("request");
        QTest::addColumn<int>("order");
        int count = 0;
        for (std::size_t r = 0; r < requests().size(); ++r)
            for (std::size_t o = 0; o < ordersElsewhere().size() && requests()[r].ofTheEngine(); ++o, ++count)
                QTest::addRow("%s, %s", requests()[r].name, ordersElsewhere()[o].name) << int(r) << int(o);
        QVERIFY(count >= 80);
    }
    void everyReplyFromElsewhere() {
        QFETCH(int, request);
        QFETCH(int, order);
        const Request& asks = requests()[std::size_t(request)];
        Bench b(*files_, *files_.*asks.shown, true);
        run(b, asks, ordersElsewhere()[std::size_t(order)]);
    }

  private:
    /// The sweep has all of its rows; where the engine was gone, those that it has are kept by a sweep here.
    static void complete(Bench& b) {
        SweepRunner& sweeps = b.lab->sweeps();
        const auto rows = [&] { return read_sweep(b.sweepFolder().toStdString()).rows; };
        const std::vector<SweepRow> before = rows();
        if (before.size() < 2) {
            sweeps.start(smallSweep(), b.sweepFolder(), "cpu", 1);
            QTRY_VERIFY_WITH_TIMEOUT(!sweeps.running(), 20000);
        }
        const std::vector<SweepRow> after = rows();
        QCOMPARE(after.size(), std::size_t{2});
        for (const SweepRow& row : before) QVERIFY(std::count(after.begin(), after.end(), row) == 1);
        QVERIFY(sweeps.sweep());
        QCOMPARE(sweeps.sweep()->results.rows.size(), after.size());
    }
    void run(Bench& b, const Request& asks, const Order& happens) {
        const Files& f = *files_;
        QCOMPARE(b.settled(), QString());
        const auto before = b.rows();
        b.post->hold = true;
        asks.ask(b, f);
        happens.happens(b, f, asks);
        QCOMPARE(b.settled(), QString());
        QCOMPARE(b.unsound(), QString());
        if (asks.isSweep() && !QByteArray(asks.name).contains("rejected")) complete(b);
        if (!happens.leaves) {
            // The runs that asked have what they had, or more; or others replaced them, as it was asked for.
            if (!asks.replaces)
                for (const auto& [id, rows] : before)
                    if (b.rows().count(id)) QVERIFY2(b.rows().at(id) >= rows, id.c_str());
            QVERIFY(!b.rows().empty());
        } else if (QByteArray(happens.name) == "after New") {
            QCOMPARE(b.lab->session().path(), QString());
            QVERIFY(!b.lab->session().unsaved());
            QCOMPARE(b.lab->comparison().runs.size(), std::size_t{2});
            for (const LabRun& run : b.lab->comparison().runs) {
                QVERIFY(!run.trained() && run.checkpoints.empty() && run.data->events.empty());
                QVERIFY(run.recording.empty() && run.session.empty());
            }
            b.lab->runs().undoStack()->undo();  // the session that was left is as it was
            for (const auto& [id, rows] : before)
                if (b.rows().count(id)) QVERIFY2(b.rows().at(id) >= rows, id.c_str());
            QCOMPARE(b.unsound(), QString());
        } else {
            QCOMPARE(b.lab->session().path(), f.stopped);
            QVERIFY(!b.lab->session().unsaved());
            QCOMPARE(b.lab->comparison().runs.size(), std::size_t{1});
            const LabRun& run = b.lab->comparison().runs[0];
            QCOMPARE(run.session, f.stopped.toStdString());
            QVERIFY(run.recording.empty());
            QCOMPARE(run.data->steps.rows(), open_session(f.stopped.toStdString()).runs[0].steps.rows());
            QCOMPARE(run.data->outcome.state, RunState::Interrupted);
        }
    }

  private Q_SLOTS:
    /// Requests, edits and replies in random orders.
    void randomInterleavings_data() {
        QTest::addColumn<int>("seed");
        for (int seed = 1; seed <= 40; ++seed) QTest::addRow("seed %d", seed) << seed;
    }
    void randomInterleavings() {
        QFETCH(int, seed);
        std::mt19937 random(static_cast<unsigned>(seed));
        const auto pick = [&](std::size_t of) {
            return std::uniform_int_distribution<std::size_t>(0, of - 1)(random);
        };
        const Files& f = *files_;
        Bench b(f, seed % 3 ? f.trained : f.stopped);
        b.post->hold = true;
        QStringList done;
        for (int i = 0; i < 14; ++i) {
            auto& held = b.post->held;
            switch (pick(9)) {
                case 0:
                case 1:
                case 2: {
                    const Request& request = requests()[pick(requests().size())];
                    done << request.name;
                    if (!request.ofTheOther() && notReadYet(b.lab->comparison()).isEmpty() &&
                        b.lab->comparison().runs.size() < 8)
                        request.ask(b, f);
                    break;
                }
                case 3:
                case 4:
                    QTest::qWait(3);
                    done << QStringLiteral("replies");
                    for (std::size_t n = held.size(); n > 0 && !held.empty(); --n) {
                        const std::size_t at = pick(held.size());
                        const auto reply = held[at];
                        if (pick(4)) held.erase(held.begin() + std::ptrdiff_t(at));  // else it comes again
                        reply();
                    }
                    break;
                case 5:
                    done << QStringLiteral("drag");
                    b.lab->knobs().dragKey("stack.temperature", 1.0 + 0.1 * static_cast<double>(pick(9)));
                    if (pick(2)) b.lab->knobs().commitKey("stack.temperature", 1.0);
                    break;
                case 6:
                    done << QStringLiteral("undo");
                    pick(3) ? b.lab->runs().undoStack()->undo() : b.lab->runs().undoStack()->redo();
                    break;
                case 7:
                    done << QStringLiteral("play");
                    pick(2) ? b.lab->training().togglePlay() : b.lab->training().singleStep();
                    break;
                case 8:
                    if (pick(3)) break;
                    done << QStringLiteral("new");
                    b.lab->session().startOver();
                    for (const auto& [key, value] : {std::pair{"stack.depth", 2},
                                                     {"stack.d_model", 16},
                                                     {"stack.heads", 2},
                                                     {"stack.context", 16},
                                                     {"batch", 2},
                                                     {"steps", kSteps}})
                        b.lab->knobs().commitKey(key, value);
                    break;
            }
        }
        const QByteArray steps = done.join(", ").toUtf8();
        QVERIFY2(b.settled().isEmpty(), (b.settled().toUtf8() + " after " + steps).constData());
        QVERIFY2(b.unsound().isEmpty(), (b.unsound().toUtf8() + " after " + steps).constData());
    }
};

NORMSCOPE_TEST(RequestOrdersTest)
#include "request_orders_test.moc"
