// SPDX-License-Identifier: GPL-3.0-or-later
// Foreign files are walked by another process first. tests/session/crashing holds files that make libhdf5
// 1.10.8 crash, found by changing bytes of sound ones (tests/session/crashing/README.md).
#include "core/session/hdf5.h"
#include "core/session/named_arrays.h"
#include "core/session/outline.h"
#include "core/session/process/guard.h"
#include "core/session/session.h"
#include "tests/session/sample_run.h"
#include "tests/support/test_main.h"

#include <malloc.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QDir>
#include <QElapsedTimer>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace normscope;

class TestForeign : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    std::string path(const char* name) { return folder_.filePath(name).toStdString(); }

    static std::string opening(const std::string& file) {
        return sample::input_error([&] { open_session(file); });
    }
    /// A custom walker: a shell script that first appends each file to the list "walked".
    std::string script(const char* name, const std::string& commands) {
        std::ofstream(path(name)) << "#!/bin/sh\necho \"$1\" >> " << path("walked") << "\n"
                                  << commands << "\n";
        std::filesystem::permissions(path(name), std::filesystem::perms::owner_all);
        return path(name);
    }
    int timesWalked() {
        std::ifstream in(path("walked"));
        return static_cast<int>(std::count(std::istreambuf_iterator<char>(in), {}, '\n'));
    }
    std::string session(const char* name) {
        guard_foreign_files("");  // also forgets what is known: the file is then foreign
        save_session(path(name), std::vector{sample::run("a", 30)}, "{}");
        return path(name);
    }

  private Q_SLOTS:
    void init() { std::filesystem::remove(path("walked")); }
    void cleanup() { guard_foreign_files(""); }

    void aFileThatCrashesTheLibraryIsOneLine_data() {
        QTest::addColumn<QString>("file");
        const QDir corpus(QStringLiteral(NORMSCOPE_SOURCE_DIR "/tests/session/crashing"));
        const auto files = corpus.entryInfoList({QStringLiteral("*.h5")}, QDir::Files);
        QVERIFY(files.size() >= 3);
        for (const QFileInfo& file : files) QTest::newRow(qPrintable(file.fileName())) << file.filePath();
    }
    void aFileThatCrashesTheLibraryIsOneLine() {
        QFETCH(QString, file);
        guard_foreign_files(NORMSCOPE_WALK);
        const std::string error = opening(file.toStdString());
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        // A sanitizer ends the child with an exit code, not a signal, and its allocator lets one file pass.
        if (file.endsWith("attribute-name.h5") && error.ends_with("is not a Normscope session")) return;
        const char* crash = ": damaged so that it makes the HDF5 library crash";
#else
        const char* crash = ": damaged so that it makes the HDF5 library crash (";
#endif
        // The walker notices this damage before a name is compared with it, which would crash or not.
        if (file.endsWith("attribute-name.h5")) crash = ": its attributes are damaged";
        QVERIFY2(error.starts_with(file.toStdString() + crash), error.c_str());
        QVERIFY2(error.find(", allowed: ") != std::string::npos && error.find('\n') == std::string::npos,
                 error.c_str());
        QVERIFY2(error == opening(file.toStdString()), "what crashed once is not trusted the next time");
    }

    /// A list of members that cannot be read to its end: the library releases what it never filled. Whether
    /// that crashed depended on what the memory had held, so no walk could tell; children() gives it zeroed
    /// memory.
    void aDamagedListOfMembersIsOneLineWhateverTheMemoryHeld() {
        const std::string file = NORMSCOPE_SOURCE_DIR "/tests/session/crashing/members/member-table.h5";
        const int code = sample::with_child(
            [&] {
                for (const int filled_with : {0x00, 0x55, 0xaa, 0xff}) {
                    ::mallopt(M_PERTURB, filled_with);
                    const std::string error = opening(file);
                    if (error.find("its list of members is damaged") == std::string::npos) return 1;
                }
                return 0;
            },
            [](int) {});
        QCOMPARE(code, 0);
    }

    void aSoundFileOpensAsBeforeAndIsWalkedOnce() {
        const std::string file = session("sound.h5");
        guard_foreign_files(script("counting", "exec " NORMSCOPE_WALK " \"$1\""));
        const Session opened = open_session(file);
        QCOMPARE(sample::difference(opened.runs.at(0), sample::run("a", 30)), std::string());
        open_session(file);
        QCOMPARE(timesWalked(), 1);
        std::filesystem::copy_file(session("other.h5"), file,
                                   std::filesystem::copy_options::overwrite_existing);
        guard_foreign_files(path("counting"));
        open_session(file);
        std::ofstream(file, std::ios::app) << "x";  // changed: foreign again
        open_session(file);
        QCOMPARE(timesWalked(), 3);
    }

    /// The outlines of a large session are read while the walker walks: the same session, one walk.
    void outlinesFollowTheWalker() {
        const std::string file = path("runs.h5");
        const std::vector runs{sample::run("a", 3000), sample::run("b", 3000), sample::run("c", 30)};
        guard_foreign_files("");
        save_session(file, runs, "{}");
        const Session unguarded = open_outline(file, {"growth"}, 0);
        guard_foreign_files(script("parts", "exec " NORMSCOPE_WALK " \"$1\" \"$2\""));
        const Session guarded = open_outline(file, {"growth"}, 0);
        QCOMPARE(guarded.runs.size(), std::size_t{3});
        for (std::size_t i = 0; i < 3; ++i) {
            QCOMPARE(guarded.runs[i].unread != nullptr, unguarded.runs[i].unread != nullptr);
            QCOMPARE(guarded.runs[i].steps.rows(), unguarded.runs[i].steps.rows());
            QCOMPARE(sample::difference(whole(guarded.runs[i]), runs[i]), std::string());
        }
        const int walks = timesWalked();  // the outlines, and the file as a whole for what they lack
        open_outline(file, {"growth"}, 0);
        QCOMPARE(timesWalked(), walks);
    }

    /// A step begins when the walker has ended it, not before.
    void aReaderFollowsTheWalker() {
        const std::string file = session("steps.h5"), go = path("go");
        std::filesystem::remove(go);
        guard_foreign_files(script(
            "stepping", "printf .\nwhile [ ! -e " + go + " ]; do sleep 0.01; done\nprintf .\necho walked"));
        WalkAhead ahead(file, outline_part({"growth"}));
        ahead.next();
        std::atomic<bool> begun = false;
        std::thread reader([&] {
            ahead.next();
            begun = true;
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        const bool early = begun;
        std::ofstream(go) << "";
        reader.join();
        QVERIFY(!early);
        ahead.finish();
        WalkAhead(file, outline_part({"growth"})).finish();
        QCOMPARE(timesWalked(), 1);
        WalkAhead(file, outline_part({"theta"})).finish();  // another part
        QCOMPARE(timesWalked(), 2);
    }

    /// Each run is walked by one of the walkers.
    void walkersShareTheRuns() {
        const std::string part = outline_part({"growth", "theta"});
        const auto shared = outline_of(shared_part(part, {1, 3}));
        QVERIFY(shared && shared->share.index == 1 && shared->share.among == 3);
        QCOMPARE(shared->probes, (std::vector<std::string>{"growth", "theta"}));
        QCOMPARE(outline_of(part)->share.among, std::size_t{1});
        for (const char* wrong : {"3/3", "0/0", "1", "x"}) QVERIFY(!outline_of(part + wrong));
        guard_foreign_files("");
        const std::string file = path("shares.h5");
        save_session(file, std::vector{sample::run("a", 300), sample::run("b", 300), sample::run("c", 300)},
                     "{}");
        const auto steps = [&](const std::string& of) {
            QProcess walker;
            walker.start(NORMSCOPE_WALK, {QString::fromStdString(file), QString::fromStdString(of)});
            walker.waitForFinished();
            const QByteArray written = walker.readAll();
            return written.endsWith("walked\n") ? int(written.count('.')) + 1 : -1;
        };
        QCOMPARE(steps(part), 1 + 3);
        QCOMPARE(steps(shared_part(part, {0, 2})), 1 + 2);
        QCOMPARE(steps(shared_part(part, {1, 2})), 1 + 1);
        QCOMPARE(steps(shared_part(part, {3, 4})), 1);
    }

    void aCrashInOneShareRejectsTheFile_data() {
        QTest::addColumn<int>("share");
        for (int share = 0; share < int(outline_walkers); ++share)
            QTest::newRow(qPrintable(QString::number(share))) << share;
    }
    void aCrashInOneShareRejectsTheFile() {
        QFETCH(int, share);
        const std::string file = path("share.h5");
        guard_foreign_files("");
        save_session(file, std::vector{sample::run("a", 300), sample::run("b", 300), sample::run("c", 30)},
                     "{}");
        guard_foreign_files(
            script("one", "case \"$2\" in *" + std::to_string(share) + "/" + std::to_string(outline_walkers) +
                              ") printf ..; kill -SEGV $$;; *) printf ..; echo walked;; esac"));
        const std::string error = sample::input_error([&] { open_outline(file, {"growth"}, 0); });
        QVERIFY2(error.find("makes the HDF5 library crash") != std::string::npos, error.c_str());
    }

    /// Whatever the walker meets after the first runs were read, the session is not opened.
    void aWalkThatEndsInTheMiddleRejectsTheFile_data() {
        QTest::addColumn<QString>("commands");
        QTest::addColumn<QString>("line");
        QTest::newRow("crash") << "printf ..\nkill -SEGV $$"
                               << "makes the HDF5 library crash (";
        QTest::newRow("crash after the last step") << "printf .....\nkill -ABRT $$"
                                                   << "library crash (Aborted)";
        QTest::newRow("rejected") << "printf ..\necho 'rejected: no'"
                                  << ": no";
        QTest::newRow("half a line") << "printf ..\nprintf walked"
                                     << "makes the HDF5 library crash";
        QTest::newRow("fewer runs than are read") << "echo walked"
                                                  << "changed while it was checked";
        QTest::newRow("no end") << "printf ..\nexec sleep 100"
                                << "does not come to an end with it within 500 ms";
    }
    void aWalkThatEndsInTheMiddleRejectsTheFile() {
        QFETCH(QString, commands);
        QFETCH(QString, line);
        const std::string file = path("three.h5");
        guard_foreign_files("");
        save_session(file, std::vector{sample::run("a", 300), sample::run("b", 300), sample::run("c", 30)},
                     "{}");
        guard_foreign_files(script("ending", commands.toStdString()), std::chrono::milliseconds(500));
        for (int i = 0; i < 2; ++i) {  // it is not remembered as sound
            const std::string error = sample::input_error([&] { open_outline(file, {"growth"}, 0); });
            QVERIFY2(QString::fromStdString(error).contains(line), error.c_str());
            QVERIFY(error.find('\n') == std::string::npos);
        }
        QCOMPARE(timesWalked(), 2 * int(outline_walkers));
    }

    void whatThisProcessWroteIsNotWalked() {
        guard_foreign_files(script("counting", "echo walked"));
        save_session(path("own.h5"), std::vector{sample::run("a", 30)}, "{}");
        open_session(path("own.h5"));
        QCOMPARE(timesWalked(), 0);
    }

    void aWalkWithoutEndIsCutOff() {
        const std::string file = session("long.h5");
        guard_foreign_files(script("sleeping", "echo $$ > " + path("pid") + "; sleep 100"),
                            std::chrono::milliseconds(300));
        QElapsedTimer clock;
        clock.start();
        const std::string error = opening(file);
        QVERIFY2(error.starts_with(
                     file + ": the HDF5 library does not come to an end with it within 300 ms, allowed: "),
                 error.c_str());
        QVERIFY(clock.elapsed() < 20'000);
        int pid = 0;
        std::ifstream(path("pid")) >> pid;
        QVERIFY2(pid > 0 && ::kill(pid, 0) != 0, "the walker is still there");
    }

    void silenceAndRejectionsOfTheWalkerCount() {
        const std::string file = session("any.h5");
        guard_foreign_files(script("silent", "exit 0"));
        QVERIFY(
            opening(file).starts_with(file + ": damaged so that it makes the HDF5 library crash, allowed: "));
        guard_foreign_files(script("aborting", "kill -ABRT $$"));
        QVERIFY(opening(file).starts_with(file +
                                          ": damaged so that it makes the HDF5 library crash (Aborted), "));
        guard_foreign_files(path("no-such-walker"));
        std::string failure;
        try {
            open_session(file);
        } catch (const std::exception& error) {
            failure = error.what();
        }
        QCOMPARE(failure,
                 path("no-such-walker") + ": cannot be started to check a file: No such file or directory");
    }

    /// Values and groups in other files would be read without a walk.
    void partsInOtherFilesAreRejected() {
        const auto rejected_after = [&](const std::function<void(hid_t)>& change) {
            const std::string file = session("parts.h5");
            {
                const hdf5::Handle writable(H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
                change(writable);
            }
            guard_foreign_files(NORMSCOPE_WALK);
            return opening(file).substr(file.size());
        };
        QCOMPARE(rejected_after([](hid_t file) {
                     H5Lcreate_external("elsewhere.h5", "/runs", file, "runs/b", H5P_DEFAULT, H5P_DEFAULT);
                 }),
                 std::string(": \"b\" is a link to another file, allowed: links within the file"));
        const hsize_t one = 1;
        const hdf5::Handle space(H5Screate_simple(1, &one, nullptr));
        const auto with = [&](hid_t creation) {
            return rejected_after([&](hid_t file) {
                const hdf5::Handle dataset(H5Dcreate2(file, "runs/a/steps/far", H5T_NATIVE_DOUBLE, space,
                                                      H5P_DEFAULT, creation, H5P_DEFAULT));
                QVERIFY(dataset.valid());
            });
        };
        const std::string far =
            ": the values of \"far\" lie in another file, allowed: values in the file itself";
        const hdf5::Handle external(H5Pcreate(H5P_DATASET_CREATE)), assembled(H5Pcreate(H5P_DATASET_CREATE));
        H5Pset_external(external, "/etc/hostname", 0, 8);
        QCOMPARE(with(external), far);
        H5Pset_virtual(assembled, space, "elsewhere.h5", "/x", space);
        QCOMPARE(with(assembled), far);
    }

    void aCircleOfGroupsComesToAnEnd() {
        const std::string file = session("circle.h5");
        {
            const hdf5::Handle writable(H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
            H5Lcreate_hard(writable, "/", writable, "again", H5P_DEFAULT, H5P_DEFAULT);
            H5Lcreate_hard(writable, "/runs", writable, "runs/a/again", H5P_DEFAULT, H5P_DEFAULT);
        }
        guard_foreign_files(NORMSCOPE_WALK);
        QCOMPARE(opening(file), std::string("nothing thrown"));
    }

    void aPipeIsNoFile() {
        guard_foreign_files(NORMSCOPE_WALK);
        QCOMPARE(::mkfifo(path("pipe.h5").c_str(), 0600), 0);
        QCOMPARE(opening(path("pipe.h5")), path("pipe.h5") + ": is not a regular file");
    }

    /// A child that kept a recording open would keep its lock.
    void theWalkerInheritsNoOpenFile() {
        const std::string file = session("inherit.h5");
        const hdf5::OpenedFile open = hdf5::open_for_reading(file);
        guard_foreign_files(script("listing", "ls -l /proc/$$/fd > " + path("open") + "; echo walked"));
        open_session(file);
        std::ifstream in(path("open"));
        const std::string list{std::istreambuf_iterator<char>(in), {}};
        QVERIFY(!list.empty());
        QVERIFY2(list.find("inherit.h5") == std::string::npos, list.c_str());
    }

    void damageThatTheLibraryReportsIsLeftToTheReader() {
        const std::string file = session("part.h5");
        {
            const hdf5::Handle writable(H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
            H5Ldelete(writable, "runs/a/steps", H5P_DEFAULT);
        }
        guard_foreign_files(NORMSCOPE_WALK);
        QCOMPARE(opening(file), file + ": /runs/a/steps: missing");
    }

    /// Arrays of other programs (weights, tokens) pass the same guard.
    void arraysOfOtherProgramsAreWalkedToo() {
        const std::vector<double> values{1, 2, 3};
        write_named_arrays(path("weights.h5"), {stored("/params/w", {3}, values.data())});
        guard_foreign_files(script("counting", "exec " NORMSCOPE_WALK " \"$1\""));
        QCOMPARE(read_named_arrays(path("weights.h5"), "/params").size(), std::size_t{1});
        QCOMPARE(timesWalked(), 1);
    }
};

NORMSCOPE_TEST(TestForeign)
#include "foreign_test.moc"
