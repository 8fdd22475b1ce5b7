// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/replacing_file.h"

#include "core/base/error.h"
#include "tests/session/sample_run.h"
#include "tests/support/test_main.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QScopeGuard>
#include <QTemporaryDir>
#include <QtTest>
#include <chrono>
#include <filesystem>
#include <fstream>

using namespace normscope;
namespace fs = std::filesystem;

class TestReplacingFile : public QObject {
    Q_OBJECT
    static void put(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }
    static std::string get(const fs::path& path) {
        std::string text;
        std::getline(std::ifstream(path), text);
        return text;
    }
    static std::size_t files(const fs::path& folder) {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
    }

  private Q_SLOTS:
    void replacesOnlyOnCommit() {
        QTemporaryDir folder;
        const fs::path target = folder.filePath("run.h5").toStdString();
        put(target, "old");
        {
            ReplacingFile place(target);
            put(place.temporary(), "half");
            QCOMPARE(without_temporary_ending(place.temporary()), target.string());
        }
        QCOMPARE(get(target), "old");
        QCOMPARE(files(target.parent_path()), std::size_t{1});
        ReplacingFile place(target);
        put(place.temporary(), "new");
        place.commit();
        QCOMPARE(get(target), "new");
        QCOMPARE(files(target.parent_path()), std::size_t{1});
    }

    void keepsPermissionsAndFollowsLinks() {
        QTemporaryDir folder, other;
        const fs::path link = folder.filePath("link.h5").toStdString(),
                       real = other.filePath("real.h5").toStdString();
        put(real, "old");
        fs::permissions(real, fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
        fs::create_symlink(real, link);
        ReplacingFile place(link);
        put(place.temporary(), "new");
        place.commit();
        QVERIFY(fs::is_symlink(link));
        QCOMPARE(get(real), "new");
        QCOMPARE(fs::status(real).permissions(),
                 fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
    }

    void aLinkToNothingGetsItsFile() {
        QTemporaryDir folder;
        const fs::path link = folder.filePath("link.h5").toStdString(),
                       real = folder.filePath("real.h5").toStdString();
        fs::create_symlink("real.h5", link);
        ReplacingFile place(link);
        put(place.temporary(), "new");
        place.commit();
        QVERIFY(fs::is_symlink(link));
        QCOMPARE(get(real), "new");
    }

    /// Only those of dead processes of this host: those of another host may be in progress.
    void removesWhatKilledProcessesLeft() {
        QTemporaryDir folder;
        const fs::path target = folder.filePath("run.h5").toStdString();
        const auto temporary = [&] {
            for (const auto& entry : fs::directory_iterator(target.parent_path()))
                if (entry.path() != target) return entry.path();
            return fs::path();
        };
        int ends[2];
        QCOMPARE(::pipe(ends), 0);
        fs::path left;
        const int code = sample::with_child(
            [&] {
                ReplacingFile place(target);
                put(place.temporary(), "half");
                [[maybe_unused]] const auto ready = ::write(ends[1], "1", 1);
                ::pause();
                return 0;
            },
            [&](int pid) {
                const auto killed = qScopeGuard([&] { ::kill(pid, SIGKILL); });
                char ready;
                QCOMPARE(::read(ends[0], &ready, 1), ssize_t{1});
                left = temporary();
                remove_leftovers(target);
                QVERIFY2(fs::exists(left), "its process lives");
            });
        QCOMPARE(code, -SIGKILL);
        QCOMPARE(without_temporary_ending(left), target.string());
        // The same process number on another host, in another boot of this one, and what is not ours.
        const std::string name = left.string(), start = target.string() + ".saving-";
        const std::string host = name.substr(start.size(), 8), boot = name.substr(start.size() + 9, 8),
                          process = name.substr(start.size() + 17);
        const std::string other = host == "00000000" ? "00000001" : "00000000";
        const std::vector<std::string> kept{
            start + other + "-" + boot + process,
            start + host + "-" + (boot == other ? "ffffffff" : other) + process, start + "4194303",
            start + "notes"};
        for (const std::string& file : kept) put(file, "not ours");
        { ReplacingFile place(target); }
        QVERIFY(!fs::exists(left));
        for (const std::string& file : kept) QVERIFY2(fs::exists(file), file.c_str());
        // Of an earlier boot, and not written to since.
        fs::last_write_time(kept[1], fs::file_time_type::clock::now() - std::chrono::hours(24 * 3650));
        remove_leftovers(target);
        QVERIFY(!fs::exists(kept[1]) && fs::exists(kept[0]));
    }

    void twoOfOneProcessDoNotShareATemporary() {
        QTemporaryDir folder;
        const fs::path target = folder.filePath("run.h5").toStdString();
        ReplacingFile first(target), second(target);
        put(first.temporary(), "first");
        put(second.temporary(), "second");
        first.commit();
        QCOMPARE(get(target), "first");
        second.commit();
        QCOMPARE(get(target), "second");
    }

    void statesWhyAPlaceCannotBeWritten() {
        QTemporaryDir folder;
        const std::string missing = folder.filePath("no/run.h5").toStdString();
        const auto message = [](const std::string& path) {
            try {
                ReplacingFile place(path);
            } catch (const SystemError& error) {
                return std::string(error.what());
            }
            return std::string("nothing thrown");
        };
        QCOMPARE(message(missing), missing + ": cannot write: No such file or directory");
        const std::string directory = folder.path().toStdString();
        QCOMPARE(message(directory), directory + ": cannot write: is a directory");
    }
};

NORMSCOPE_TEST(TestReplacingFile)
#include "replacing_file_test.moc"
