// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/outline.h"

#include "core/session/recorder.h"
#include "tests/session/sample_run.h"
#include "tests/support/test_main.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <filesystem>
#include <fstream>

using namespace normscope;

namespace {

const std::vector<std::string> kShown{"growth"};
constexpr int kSteps = 8'000;

/// Bytes that this process has read from files, as the system counts them.
std::size_t bytesRead() {
    std::ifstream counts("/proc/self/io");
    std::string word;
    std::size_t bytes = 0;
    counts >> word >> bytes;
    return word == "rchar:" ? bytes : throw std::runtime_error("/proc/self/io has another form");
}

QByteArray contents(const std::string& path) {
    QFile file(QString::fromStdString(path));
    if (!file.open(QIODevice::ReadOnly)) throw std::runtime_error(path);
    return file.readAll();
}

/// Changes the name of a data set in the file, so that the checksum of its group is wrong.
void damageName(const std::string& path, const QByteArray& name, qsizetype from) {
    QFile file(QString::fromStdString(path));
    if (!file.open(QIODevice::ReadWrite)) throw std::runtime_error(path);
    const qsizetype at = contents(path).indexOf(name, from);
    if (at < 0) throw std::runtime_error("there is no " + name.toStdString());
    file.seek(at);
    file.putChar('#');
}

}  // namespace

class TestOutline : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    std::string path(const char* name) { return folder_.filePath(name).toStdString(); }
    std::vector<RunData> runs_{sample::run("a", kSteps), sample::run("b", kSteps), sample::run("c", 0)};

    std::vector<RunData> outlinesOf(const std::string& file) { return open_outline(file, kShown, 0).runs; }

  private Q_SLOTS:
    void initTestCase() {
        for (RunData& run : runs_) run.events.resize(std::min<std::size_t>(run.events.size(), 9));
        save_session(path("all.h5"), runs_, "{}");
    }

    void theRestIsNotRead() {
        const std::size_t size = std::filesystem::file_size(path("all.h5"));
        std::size_t before = bytesRead();
        const Session session = open_outline(path("all.h5"), kShown, 0);
        const std::size_t outline = bytesRead() - before;
        before = bytesRead();
        open_session(path("all.h5"));
        const std::size_t all = bytesRead() - before;
        QVERIFY2(all > size / 2, qPrintable(QString("%1 of %2").arg(all).arg(size)));
        QVERIFY2(outline > 0 && outline < all / 10, qPrintable(QString("%1 of %2").arg(outline).arg(all)));
        QCOMPARE(session.view_json, "{}");
    }

    void anOutlineHasTheEndAndAnOverview() {
        const std::vector<RunData> outlines = outlinesOf(path("all.h5"));
        QCOMPARE(outlines.size(), std::size_t{3});
        for (int i : {0, 1}) {
            const RunData &outline = outlines[std::size_t(i)], &run = runs_[std::size_t(i)];
            QVERIFY(outline.unread);
            QCOMPARE(outline.unread->rows, run.steps.rows());
            QCOMPARE(outline.steps.rows(), outline_rows);
            QCOMPARE(outline.steps.names, run.steps.names);
            for (std::size_t c = 0; c < run.steps.columns.size(); ++c)
                for (std::size_t row = 0; row < outline_rows; ++row) {
                    const double all = run.steps.columns[c][kSteps - outline_rows + row];
                    const double part = outline.steps.columns[c][row];
                    QVERIFY(part == all || (std::isnan(part) && std::isnan(all)));
                }
            QCOMPARE(outline.steps.step.back(), run.steps.step.back());
            QCOMPARE(outline.probes.size(), std::size_t{1});
            const auto& samples = outline.probes.at("growth");
            QCOMPARE(samples.size(), std::size_t{1});
            QCOMPARE(samples[0].step, run.probes.at("growth").back().step);
            QCOMPARE(samples[0].find("rms")->data, run.probes.at("growth").back().find("rms")->data);
            QCOMPARE(outline.events.size(), run.events.size());
            QCOMPARE(outline.outcome.text, run.outcome.text);
            // Every step is in a block of the overview, so that no spike is lost.
            const StepOverview& overview = *outline.unread->overview;
            QCOMPARE(overview.factor, 64);
            const auto& losses = *run.steps.find("loss");
            for (std::size_t row = 0; row < losses.size(); ++row)
                QVERIFY(overview.low[0][row / 64] <= losses[row] &&
                        losses[row] <= overview.high[0][row / 64]);
        }
        // An untrained run is small.
        QCOMPARE(sample::difference(outlines[2], runs_[2]), "");
        QVERIFY(!outlines[2].unread);
    }

    void theWholeRunIsThatOfTheFile() {
        const std::vector<RunData> outlines = outlinesOf(path("all.h5"));
        for (std::size_t i = 0; i < outlines.size(); ++i) {
            const RunData run = whole(outlines[i]);
            QVERIFY(!run.unread);
            QCOMPARE(sample::difference(run, runs_[i]), "");
        }
    }

    void savingAnOutlineLosesNothing() {
        std::filesystem::copy_file(path("all.h5"), path("over.h5"));
        std::vector<RunData> outlines = outlinesOf(path("over.h5"));
        save_session(path("other.h5"), outlines, "");
        save_session(path("over.h5"), outlines, "");  // in the place of the file that they are read from
        for (const char* name : {"other.h5", "over.h5"}) {
            const Session saved = open_session(path(name));
            for (std::size_t i = 0; i < runs_.size(); ++i)
                QCOMPARE(sample::difference(saved.runs[i], runs_[i]), "");
        }
        // The outlines belong to the file that was opened, also after it was replaced and deleted.
        save_session(path("over.h5"), std::vector{sample::run("a", 3)}, "");
        QCOMPARE(sample::difference(whole(outlines[0]), runs_[0]), "");
        std::filesystem::remove(path("over.h5"));
        QCOMPARE(sample::difference(whole(outlines[1]), runs_[1]), "");
    }

    void whatWasChangedInTheWindowStays() {
        RunData outline = outlinesOf(path("all.h5"))[0];
        outline.id = "z";
        outline.name = "renamed";
        const std::int64_t newest = runs_[0].probes.at("growth").back().step;
        QVERIFY(insert_sample(outline, sample::growth(newest + 1)));
        const RunData run = whole(outline);
        QCOMPARE(run.id, "z");
        QCOMPARE(run.name, "renamed");
        QCOMPARE(run.probes.at("growth").size(), runs_[0].probes.at("growth").size() + 1);
        QCOMPARE(run.probes.at("growth").back().step, newest + 1);
    }

    void aShortRunHasItsWholeTable() {
        save_session(path("short.h5"), std::vector{sample::run("a", 40)}, "");
        const RunData outline = outlinesOf(path("short.h5"))[0];
        QVERIFY(outline.unread && !outline.unread->overview);
        QCOMPARE(outline.steps.step,
                 runs_[0].steps.step.empty() ? outline.steps.step : sample::run("a", 40).steps.step);
        QCOMPARE(sample::difference(whole(outline), sample::run("a", 40)), "");
    }

    void aSmallFileAndARecordingAreReadWhole() {
        for (const RunData& run : open_outline(path("all.h5"), kShown, std::size_t{1} << 30).runs)
            QVERIFY(!run.unread);
        {
            Recorder recorder(path("live.h5"), sample::schema("a"));
            for (int s = 0; s < 100; ++s) recorder.append(sample::step(s));
            recorder.flush();
            const std::vector<RunData> live = outlinesOf(path("live.h5"));
            QVERIFY(!live.at(0).unread);
            QCOMPARE(live[0].steps.rows(), std::size_t{100});
            recorder.close();
        }
        QVERIFY(!outlinesOf(path("live.h5")).at(0).unread);
    }

    void damageInTheUnreadPartIsReportedWhenItIsRead() {
        std::filesystem::copy_file(path("all.h5"), path("damaged.h5"));
        const qsizetype second = contents(path("damaged.h5")).indexOf("below_099") + 1;
        damageName(path("damaged.h5"), "below_099", second);  // of run b
        const std::vector<RunData> outlines = outlinesOf(path("damaged.h5"));
        QCOMPARE(sample::difference(whole(outlines[0]), runs_[0]), "");
        const std::string line = sample::input_error([&] { whole(outlines[1]); });
        QVERIFY2(line.starts_with(path("damaged.h5") + ": /runs/b/probes/theta"), line.c_str());
        QVERIFY2(line.find('\n') == std::string::npos, line.c_str());
        // So a session of it is not saved without it.
        QCOMPARE(sample::input_error([&] { save_session(path("lost.h5"), outlines, ""); }), line);
        QVERIFY(!std::filesystem::exists(path("lost.h5")));
    }

    void aFileThatIsWrittenToIsNotTakenForTheOneThatWasOpened() {
        std::filesystem::copy_file(path("all.h5"), path("written.h5"));
        const std::vector<RunData> outlines = outlinesOf(path("written.h5"));
        std::filesystem::resize_file(path("written.h5"), 100'000);
        QCOMPARE(sample::input_error([&] { whole(outlines[0]); }),
                 path("written.h5") + ": was written to since it was opened; what was not read yet is lost");
    }
};

NORMSCOPE_TEST(TestOutline)
#include "outline_test.moc"
