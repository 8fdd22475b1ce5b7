// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/replacing_file.h"

#include "core/base/error.h"
#include "tests/session/sample_run.h"
#include "tests/support/test_main.h"

#include <sys/stat.h>

#include <QTemporaryDir>
#include <QtTest>
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

    void removesWhatKilledProcessesLeft() {
        QTemporaryDir folder;
        const fs::path target = folder.filePath("run.h5").toStdString();
        int dead = 0;
        sample::with_child([] { return 0; }, [&](int pid) { dead = pid; });
        put(target.string() + ".saving-" + std::to_string(dead), "half");
        put(target.string() + ".saving-1", "process 1 lives");
        put(target.string() + ".saving-notes", "not ours");
        { ReplacingFile place(target); }
        QVERIFY(!fs::exists(target.string() + ".saving-" + std::to_string(dead)));
        QVERIFY(fs::exists(target.string() + ".saving-1"));
        QVERIFY(fs::exists(target.string() + ".saving-notes"));
    }

    void saysWhyAPlaceCannotBeWritten() {
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
