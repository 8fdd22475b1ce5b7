// SPDX-License-Identifier: GPL-3.0-or-later
// A recording that cannot be written: the run continues, and the window shows it as not recorded.
#include "app/lab/lab.h"
#include "core/session/recording/recovery.h"
#include "core/sweep/sweep_folder.h"
#include "lab_bench.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace normscope;
using namespace normscope::app;

namespace {

struct Bench {
    QTemporaryDir place;
    std::unique_ptr<Lab> lab;
    QStringList problems;

    explicit Bench(int steps) {
        lab = std::make_unique<Lab>(Lab::Options{1, folder()});
        QObject::connect(lab.get(), &Lab::problem, lab.get(),
                         [this](const QString& text) { problems << text; });
        test::makeSmall(*lab, steps);
    }
    QString folder() const { return place.filePath(QStringLiteral("recordings")); }
    QStringList files() const { return QDir(folder()).entryList({QStringLiteral("*.h5")}, QDir::Files); }
    const LabRun& run(std::size_t i) const { return lab->comparison().runs[i]; }
    bool ended() const { return !lab->training().playing() && !lab->comparison().anyTraining(); }
    QString line(std::size_t i) const { return QString::fromStdString(run(i).not_recorded); }
};

}  // namespace

class RecordingLossTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aRemovedFolderEndsTheRecordingAndNotTheTraining() {
        Bench b(400);
        b.lab->training().play();
        QTRY_VERIFY(b.run(0).trained() && b.run(1).trained());
        b.lab->training().pause();
        QTRY_VERIFY(b.files().size() >= 4);  // each with its checkpoint: all is well
        QVERIFY(b.line(0).isEmpty());
        QVERIFY(QDir(b.folder()).removeRecursively());
        const auto rows = b.run(0).data->steps.rows();
        b.lab->training().play();
        QTRY_VERIFY(b.run(0).data->steps.rows() > rows);
        b.lab->training().pause();  // with a checkpoint
        QTRY_VERIFY(!b.line(0).isEmpty() && !b.line(1).isEmpty());
        QVERIFY2(b.line(0).startsWith(QLatin1String("not recorded: ")) && b.line(0).contains(b.folder()) &&
                     !b.line(0).contains(QLatin1Char('\n')),
                 qPrintable(b.line(0)));
        QCOMPARE(b.problems.size(), 2);  // reported once each, for any number of later checkpoints
        b.lab->training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        for (const std::size_t i : {0, 1}) {
            QCOMPARE(b.run(i).data->steps.rows(), std::size_t{400});
            QVERIFY(is_result(b.run(i).data->outcome.state));
            QVERIFY(!b.line(i).isEmpty());  // it stays
            QVERIFY(!b.run(i).checkpoints.empty());
        }
        b.lab->runs().undoStack()->undo();  // a knob's move back is not a recording
        QVERIFY(!b.line(0).isEmpty());
        QCOMPARE(b.problems.size(), 2);
    }

    void aFolderThatCannotBeMadeIsTheSame() {
        Bench b(6);
        QFile file(b.folder());  // in its place
        QVERIFY(file.open(QIODevice::WriteOnly));
        b.lab->training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended() && !b.line(0).isEmpty(), 20000);
        QVERIFY2(b.line(0).startsWith(QLatin1String("not recorded: ")), qPrintable(b.line(0)));
        QCOMPARE(b.run(0).data->steps.rows(), std::size_t{6});
    }

    /// The checkpoints in memory keep to their number, and the newest is there.
    void checkpointsInMemoryAreFew() {
        Bench b(60);
        b.lab->knobs().commitKey("checkpoint.every", 1);
        b.lab->training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
        const auto& known = b.run(0).checkpoints;
        QVERIFY2(known.size() >= 2 && known.size() <= 8, qPrintable(QString::number(known.size())));
        QCOMPARE(known.back().step, 60);
        for (std::size_t i = 1; i < known.size(); ++i) QVERIFY(known[i - 1].step < known[i].step);
        QVERIFY(b.line(0).isEmpty());
        // And the recordings are whole.
        for (const QString& file : b.files())
            if (!file.contains(QLatin1String(".ckpt.")))
                QTRY_COMPARE(recover(QDir(b.folder()).filePath(file).toStdString()).steps.rows(),
                             std::size_t{60});
    }
};

NORMSCOPE_TEST(RecordingLossTest)
#include "recording_loss_test.moc"
