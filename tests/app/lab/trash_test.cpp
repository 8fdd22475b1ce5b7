// SPDX-License-Identifier: GPL-3.0-or-later
// The folder of recordings: nothing leaves it without being asked, and what was moved to the trash comes
// back.
#include "app/lab/files/trash.h"

#include "app/lab/files/io_worker.h"
#include "core/base/error.h"
#include "core/session/checkpoint.h"
#include "core/session/recorder.h"
#include "core/session/session.h"
#include "tests/session/sample_run.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>

using namespace normscope;
using namespace normscope::app;

class TrashTest : public QObject {
    Q_OBJECT
    QTemporaryDir folder_, home_;
    QString path(const char* name) const { return folder_.filePath(name); }
    static void record(const QString& path) {
        Recorder recorder(path.toStdString(), sample::schema("a"));
        for (std::int64_t s = 0; s < 30; ++s) recorder.append(sample::step(s));
        recorder.set_state({RunState::Finished, 30, "", -1});
        recorder.close();
    }
    static QStringList filesIn(const QString& folder) {
        return QDir(folder).entryList(QDir::Files | QDir::Hidden, QDir::Name);
    }
    /// The list of the trash into which this file was moved.
    static QString listOf(const TrashedFile& file) {
        QDir trash = QFileInfo(file.first).dir();
        trash.cdUp();
        return trash.filePath("info");
    }

  private Q_SLOTS:
    // The trash of a home folder of its own: that of the system may not be there.
    void initTestCase() {
        QVERIFY(home_.isValid());
        qputenv("XDG_DATA_HOME", home_.path().toLocal8Bit());
    }
    void init() {
        for (const QString& file : filesIn(folder_.path())) QFile::remove(folder_.filePath(file));
    }

    void startUpRemovesNothing() {
        for (const char* name : {"a.h5", "b.h5", "c.h5"}) {
            record(path(name));
            std::filesystem::resize_file(path(name).toStdString(), std::uintmax_t{3} << 30);  // sparse
            QFile file(path(name));
            QVERIFY(file.open(QFile::ReadWrite));
            QVERIFY(file.setFileTime(QDateTime::currentDateTime().addDays(-400),
                                     QFileDevice::FileModificationTime));
        }
        CheckpointPair(path("a.h5").toStdString()).save(Checkpoint{});
        const QStringList before = filesIn(folder_.path());
        IoWorker io(folder_.path());
        QSignalSpy found(&io, &IoWorker::interruptedFound);
        io.findInterrupted();
        QCOMPARE(found.size(), 1);
        QCOMPARE(filesIn(folder_.path()), before);
    }

    void aRowHasTheBytesOfItsCheckpointsToo() {
        record(path("a.h5"));
        record(path("b.h5"));
        CheckpointPair pair(path("a.h5").toStdString());
        pair.save(Checkpoint{});
        pair.save_start(Checkpoint{});
        IoWorker io(folder_.path());
        QSignalSpy listed(&io, &IoWorker::recordingsListed);
        const auto bytesOf = [&](const char* name) -> qint64 {
            listed.clear();
            io.listRecordings();
            while (listed.isEmpty() || !listed.back()[1].toBool()) listed.wait();
            for (const RecordingRow& row : listed.back()[0].value<QList<RecordingRow>>())
                if (row.path == path(name)) return row.totalBytes();
            return -1;
        };
        const auto size = [&](const char* name) { return QFileInfo(path(name)).size(); };
        QCOMPARE(bytesOf("a.h5"), size("a.h5") + size("a.ckpt.a.h5") + size("a.ckpt.start.h5"));
        QCOMPARE(bytesOf("b.h5"), size("b.h5"));
        pair.save(Checkpoint{});  // the recording itself is unchanged
        QCOMPARE(bytesOf("a.h5"),
                 size("a.h5") + size("a.ckpt.a.h5") + size("a.ckpt.b.h5") + size("a.ckpt.start.h5"));
    }

    void undoLeavesNothingInTheTrash() {
        record(path("a.h5"));
        CheckpointPair pair(path("a.h5").toStdString());
        pair.save(Checkpoint{});
        pair.save_start(Checkpoint{});
        const QStringList before = filesIn(folder_.path());
        IoWorker io(folder_.path());
        QSignalSpy trashed(&io, &IoWorker::recordingTrashed), problem(&io, &IoWorker::problem);
        io.trashRecording(path("a.h5"));
        QVERIFY2(problem.isEmpty(), qPrintable(problem.value(0).value(0).toString()));
        QCOMPARE(filesIn(folder_.path()), QStringList());
        const auto files = trashed[0][1].value<QList<TrashedFile>>();
        QCOMPARE(files.size(), 3);
        for (const TrashedFile& file : files)
            QVERIFY(QFile::exists(listOf(file) + "/" + QFileInfo(file.first).fileName() + ".trashinfo"));
        io.untrash(files);
        QVERIFY(problem.isEmpty());
        QCOMPARE(filesIn(folder_.path()), before);
        for (const TrashedFile& file : files) {
            QVERIFY(!QFile::exists(file.first));
            QVERIFY(!QFile::exists(listOf(file) + "/" + QFileInfo(file.first).fileName() + ".trashinfo"));
        }
        QCOMPARE(open_session(path("a.h5").toStdString()).runs[0].steps.rows(), std::size_t{30});
    }

    void undoReplacesNoFile() {
        record(path("a.h5"));
        const auto files = moveToTrash({path("a.h5")});
        QFile other(path("a.h5"));
        QVERIFY(other.open(QFile::WriteOnly) && other.write("new") == 3);
        other.close();
        QCOMPARE(sample::input_error([&] {
                     try {
                         restoreFromTrash(files);
                     } catch (const SystemError& error) {
                         throw InputError(error.what());
                     }
                 }),
                 (path("a.h5") + ": it cannot be moved back from the trash").toStdString());
        QVERIFY(QFile::exists(files[0].first));
        QCOMPARE(QFileInfo(path("a.h5")).size(), 3);
        QVERIFY(QFile::remove(path("a.h5")));
        restoreFromTrash(files);
    }

    void allFilesOrNone() {
        record(path("a.h5"));
        try {
            moveToTrash({path("a.h5"), path("missing.h5")});
            QFAIL("nothing thrown");
        } catch (const SystemError& error) {
            QCOMPARE(error.what(), qPrintable(path("missing.h5") + ": it cannot be moved to the trash"));
        }
        QCOMPARE(filesIn(folder_.path()), QStringList{"a.h5"});
    }

    void whatIsBeingWrittenStays() {
        Recorder recorder(path("live.h5").toStdString(), sample::schema("a"));
        recorder.append(sample::step(0));
        IoWorker io(folder_.path());
        QSignalSpy trashed(&io, &IoWorker::recordingTrashed), problem(&io, &IoWorker::problem);
        io.trashRecording(path("live.h5"));
        QVERIFY(trashed.isEmpty());
        QCOMPARE(problem.size(), 1);
        QVERIFY(problem[0][0].toString().startsWith(path("live.h5") + ": is being written by "));
        QCOMPARE(filesIn(folder_.path()), QStringList{"live.h5"});
    }

    void aPersonsFileNextToItStays() {
        record(path("a.h5"));
        record(path("a.ckpt.a.h5"));
        QCOMPARE(filesOfRecording(path("a.h5")), QStringList{path("a.h5")});
    }
};

NORMSCOPE_TEST(TrashTest)
#include "trash_test.moc"
