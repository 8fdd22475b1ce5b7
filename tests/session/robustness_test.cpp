// SPDX-License-Identifier: GPL-3.0-or-later
// Invalid files: truncated, foreign, of another version.
#include "core/base/error.h"
#include "core/session/describe.h"
#include "core/session/hdf5.h"
#include "core/session/recorder.h"
#include "core/session/session.h"
#include "core/session/validate.h"
#include "tests/session/sample_run.h"
#include "tests/support/test_main.h"

#include <signal.h>

#include <QTemporaryDir>
#include <QtTest>
#include <filesystem>
#include <fstream>
#include <random>

using namespace normscope;

/// Leaks inside HDF5 after a damaged file are not reported.
extern "C" const char* __lsan_default_suppressions() {
    return "leak:libhdf5";
}

class TestRobustness : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    std::string path(const char* name) { return folder_.filePath(name).toStdString(); }

    static std::string contents(const std::string& file) {
        std::ifstream in(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    static void put(const std::string& file, const std::string& bytes) {
        std::filesystem::remove(file);  // ext4 waits for the disk where a file is emptied and written again
        std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    static std::string opening(const std::string& file) {
        return sample::input_error([&] { open_session(file); });
    }
    void rootWith(const std::string& file, const std::string& format, std::int64_t version) {
        const hdf5::Handle root = hdf5::create_file(file);
        hdf5::write_attribute(root, "format", format);
        hdf5::write_attribute(root, "version", version);
    }

  private Q_SLOTS:
    void foreignFilesAreRejectedByName() {
        for (const auto& [name, bytes] : std::vector<std::pair<const char*, std::string>>{
                 {"empty.h5", ""},
                 {"text.h5", "To whom it may concern\n"},
                 {"image.h5", "\x89PNG\r\n\x1a\n" + std::string(500, '\0')},
                 {"signature.h5", "\x89HDF\r\n\x1a\n"},
                 {"almost.h5", "\x89HDF\r\n\x1a\n" + std::string(3000, '\xff')},
                 {"zeros.h5", std::string(3000, '\0')}}) {
            put(path(name), bytes);
            const std::string error = opening(path(name));
            QVERIFY2(error.starts_with(path(name) + ": ") && error.find('\n') == std::string::npos,
                     error.c_str());
            QCOMPARE(validate_session(path(name)), std::vector{error});
            QVERIFY(sample::input_error([&] { describe(path(name)); }).starts_with(path(name)));
        }
        { const hdf5::Handle other = hdf5::create_file(path("other.h5")); }
        QCOMPARE(opening(path("other.h5")), path("other.h5") + ": is not a Normscope session");
        rootWith(path("format.h5"), "another-session", 1);
        QCOMPARE(opening(path("format.h5")), path("format.h5") + ": is not a Normscope session");
        write_checkpoint(path("checkpoint.h5"), {});
        QCOMPARE(opening(path("checkpoint.h5")), path("checkpoint.h5") + ": is not a Normscope session");
    }

    void versionsAreChecked() {
        rootWith(path("v2.h5"), "normscope-session", 2);
        QCOMPARE(opening(path("v2.h5")),
                 path("v2.h5") + ": version 2 is newer than this program supports (1)");
        rootWith(path("v0.h5"), "normscope-session", 0);
        QVERIFY(opening(path("v0.h5")).find("version 0 is unknown") != std::string::npos);
    }

    void missingAndMistypedPartsAreNamed() {
        const auto broken_by = [&](const std::function<void(hid_t)>& damage) {
            save_session(path("part.h5"), std::vector{sample::run("a", 30)}, "");
            {
                const hdf5::Handle file(H5Fopen(path("part.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
                damage(file);
            }
            return opening(path("part.h5"));
        };
        const auto without = [](const char* object) {
            return [object](hid_t file) { H5Ldelete(file, object, H5P_DEFAULT); };
        };
        const std::string start = path("part.h5") + ": ";
        QCOMPARE(broken_by(without("runs")), start + "/runs: missing");
        for (const char* object : {"runs/a/steps", "runs/a/steps/step", "runs/a/probes", "runs/a/events",
                                   "runs/a/state", "runs/a/outcome", "runs/a/probes/growth/step"})
            QCOMPARE(broken_by(without(object)), start + "/" + object + ": missing");
        const std::string replaced = broken_by([&](hid_t file) {
            H5Ldelete(file, "runs/a/steps/loss", H5P_DEFAULT);
            const std::vector<double> shorter(29);
            hdf5::write_array(file, "runs/a/steps/loss", {29}, shorter.data());
        });
        QVERIFY2(replaced.find("/runs/a/steps/loss: has 29 rows") != std::string::npos, replaced.c_str());
        const std::string mistyped = broken_by([&](hid_t file) {
            H5Ldelete(file, "runs/a/steps/loss", H5P_DEFAULT);
            const std::vector<std::int32_t> integers(30);
            hdf5::write_array(file, "runs/a/steps/loss", {30}, integers.data());
        });
        QVERIFY2(mistyped.ends_with("/runs/a/steps/loss: holds int32, needs float64"), mistyped.c_str());
        const std::string word = broken_by([&](hid_t file) {
            H5Ldelete(file, "runs/a/state", H5P_DEFAULT);
            hdf5::write_texts(file, "runs/a/state", 16, {"melted"});
        });
        QVERIFY2(word.find("\"melted\" is unknown") != std::string::npos, word.c_str());
    }

    void aTruncatedSessionIsRejected() {
        save_session(path("whole.h5"), std::vector{sample::run("a", 12)}, "{}");
        const std::string whole = contents(path("whole.h5"));
        const std::string cut = path("cut.h5");
        for (std::size_t size = 0; size < whole.size();
             size += size < 4096 || size + 512 > whole.size() ? 1 : 13) {
            put(cut, whole.substr(0, size));
            const std::string error = opening(cut);
            QVERIFY2(error.starts_with(cut + ": "), qPrintable(QString::number(size) + ": " + error.c_str()));
        }
    }

    /// For any bytes an error or a session, never a crash; the metadata's checksums catch most.
    void flippedBytesNeverCrash() {
        const std::string flipped = path("flipped.h5");
        save_session(path("whole.h5"), std::vector{sample::run("a", 70)}, "{}");
        const std::string whole = contents(path("whole.h5"));
        std::mt19937 random(11);
        int rejected = 0;
        for (int trial = 0; trial < 600; ++trial) {
            std::string bytes = whole;
            for (int i = 0; i < 4; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
            put(flipped, bytes);
            rejected += opening(flipped) != "nothing thrown";
            validate_session(flipped);
        }
        QVERIFY(rejected > 300);
    }

    /// A recording may lose its end (power failure): the rest must be correct, or rejected.
    void aCutRecordingGivesAPrefixOrAnError() {
        const std::string whole_path = path("killed.h5"), cut = path("cut.h5");
        const int code = sample::with_child(
            [&] {
                Recorder recorder(whole_path, sample::schema("a"));
                for (int s = 0; s < 1200; ++s) {
                    recorder.append(sample::step(s));
                    if (s % 10 == 0) recorder.append(sample::growth(s));
                    if (s % 10 == 0 && s < 50) recorder.append(sample::theta(s));
                    if (s % 100 == 0) recorder.flush();
                }
                recorder.flush();
                ::raise(SIGKILL);
                return 0;
            },
            [](int) {});
        QCOMPARE(code, -SIGKILL);
        const std::string whole = contents(whole_path);
        int opened = 0, shorter = 0;
        for (std::size_t size = 0; size <= whole.size(); size += 1493) {
            put(cut, whole.substr(0, size));
            try {
                const Session session = open_session(cut);
                ++opened;
                const std::string broken = sample::broken_prefix(session.runs.at(0));
                QVERIFY2(broken.empty(), qPrintable(QString::number(size) + ": " + broken.c_str()));
                shorter += session.runs[0].steps.rows() < 1200;
            } catch (const InputError& error) {
                QVERIFY2(std::string(error.what()).starts_with(cut + ": "), error.what());
            }
        }
        qInfo("%zu bytes: %d cut files opened, %d of them with fewer rows", whole.size(), opened, shorter);
        QVERIFY(opened > 0);
        put(cut, whole);
        QCOMPARE(open_session(cut).runs.at(0).steps.rows(), std::size_t{1200});
    }
};

NORMSCOPE_TEST(TestRobustness)
#include "robustness_test.moc"
