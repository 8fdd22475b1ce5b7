// SPDX-License-Identifier: GPL-3.0-or-later
// No save replaces a file that is being written, or that changed since it was read.
#include "core/session/replaceable.h"

#include "core/session/named_arrays.h"
#include "core/session/recorder.h"
#include "core/session/replacing_file.h"
#include "core/session/session.h"
#include "tests/session/sample_run.h"
#include "tests/support/test_main.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <QScopeGuard>
#include <QTemporaryDir>
#include <QtTest>
#include <filesystem>
#include <fstream>

using namespace normscope;
using Reason = NotReplaceable::Reason;

class TestReplaceable : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    std::string path(const std::string& name) {
        return folder_.filePath(QString::fromStdString(name)).toStdString();
    }
    static void save(const std::string& file, int steps, const std::optional<FileIdentity>& as_read = {}) {
        save_session(file, std::vector{sample::run("a", steps)}, "", {}, as_read);
    }
    static std::size_t rows(const std::string& file) { return open_session(file).runs.front().steps.rows(); }
    /// The reason and line of the rejection; nullopt where there is none.
    static std::optional<std::pair<Reason, std::string>> rejected(const std::function<void()>& save) {
        try {
            save();
            return std::nullopt;
        } catch (const NotReplaceable& error) {
            return std::pair{error.reason(), std::string(error.what())};
        }
    }
    std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator(folder_.path().toStdString()),
                          std::filesystem::directory_iterator()));
    }

  private Q_SLOTS:
    void whatChangedSinceItWasReadIsKept() {
        const std::string file = path("changed.h5");
        save(file, 20);
        const FileIdentity read = identity_of(file);
        save(file, 250);
        const std::size_t before = files();
        const auto why = rejected([&] { save(file, 39, read); });
        QVERIFY(why);
        QVERIFY(why->first == Reason::Changed);
        QCOMPARE(why->second, file +
                                  ": was changed since it was read and is not replaced, allowed: another "
                                  "file, or this one opened again");
        QCOMPARE(rows(file), std::size_t{250});
        QCOMPARE(files(), before);
        save(file, 39, identity_of(file));
        QCOMPARE(rows(file), std::size_t{39});
        save(file, 40);  // on purpose
        QCOMPARE(rows(file), std::size_t{40});
    }

    void aSaveReturnsTheIdentityForTheNextOne() {
        const std::string file = path("again.h5");
        FileIdentity written = save_session(file, std::vector{sample::run("a", 20)}, "", {}, FileIdentity{});
        QVERIFY(written == identity_of(file));
        written = save_session(file, std::vector{sample::run("a", 21)}, "", {}, written);
        QVERIFY(written == identity_of(file));
        std::filesystem::remove(file);  // removed: nothing is lost
        save(file, 22, written);
        QCOMPARE(rows(file), std::size_t{22});
    }

    void whatAppearedIsKept() {
        const std::string file = path("appeared.h5");
        const FileIdentity nothing = identity_of(file);
        QVERIFY(!nothing.exists);
        save(file, 250);
        const auto why = rejected([&] { save(file, 39, nothing); });
        QVERIFY(why && why->first == Reason::Changed);
        QCOMPARE(rows(file), std::size_t{250});
    }

    void aChangeDuringTheSaveCounts() {
        const std::string file = path("during.h5");
        save(file, 20);
        ReplacingFile place(file, identity_of(file));
        std::ofstream(place.temporary()) << "ours";
        save(path("other.h5"), 250);
        std::filesystem::rename(path("other.h5"), file);
        const auto why = rejected([&] { place.commit(); });
        QVERIFY(why && why->first == Reason::Changed);
        QCOMPARE(rows(file), std::size_t{250});
    }

    void aLiveRecordingIsNotReplaced() {
        const std::string file = path("live.h5");
        const int code = sample::with_child(
            [&] {
                Recorder recorder(file, sample::schema("a"));
                for (std::int64_t s = 0; s < 250; ++s) recorder.append(sample::step(s));
                recorder.flush();
                std::ofstream(file + ".ready") << "1";
                ::pause();
                return 0;
            },
            [&](int pid) {
                const auto killed = qScopeGuard([&] { ::kill(pid, SIGKILL); });
                while (!std::filesystem::exists(file + ".ready")) ::usleep(200);
                // As it was read, and on purpose; other kinds of files too.
                const std::string line = file + ": is being written by process " + std::to_string(pid) +
                                         " and is not replaced, allowed: another file";
                for (const auto& why :
                     {rejected([&] { save(file, 39, identity_of(file)); }), rejected([&] { save(file, 39); }),
                      rejected([&] { write_named_arrays(file, {}); }),
                      rejected([&] { Recorder(file, sample::schema("b")); }),
                      rejected([&] { ReplacingFile place(file); })}) {
                    QVERIFY(why);
                    QVERIFY(why->first == Reason::BeingWritten);
                    QCOMPARE(why->second, line);
                }
                QCOMPARE(rows(file), std::size_t{250});
            });
        QCOMPARE(code, -SIGKILL);
        save(file, 39, identity_of(file));  // the writer is dead
        QCOMPARE(rows(file), std::size_t{39});
    }

    void norIsOneOfThisProcess() {
        const std::string file = path("own.h5");
        {
            Recorder recorder(file, sample::schema("a"));
            recorder.append(sample::step(0));
            const auto why = rejected([&] { save(file, 39); });
            QVERIFY(why && why->first == Reason::BeingWritten);
            QCOMPARE(why->second,
                     file + ": is being written by this program and is not replaced, allowed: another file");
            recorder.close();
            save(file, 39);
        }
        QCOMPARE(rows(file), std::size_t{39});
        Recorder again(file, sample::schema("a"));
        QVERIFY(rejected([&] { save(file, 39); }));
    }

    void aLockedFileIsNotReplaced() {
        const std::string file = path("locked.h5");
        save(file, 20);
        const int held = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
        QCOMPARE(::flock(held, LOCK_EX), 0);
        const auto why = rejected([&] { save(file, 39); });
        QVERIFY(why && why->first == Reason::BeingWritten);
        QCOMPARE(::flock(held, LOCK_SH), 0);  // a reader does not matter
        save(file, 39);
        ::close(held);
        QCOMPARE(rows(file), std::size_t{39});
    }
};

NORMSCOPE_TEST(TestReplaceable)
#include "replaceable_test.moc"
