// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/hdf5.h"

#include "core/base/error.h"
#include "core/session/growing_dataset.h"
#include "tests/session/sample_run.h"
#include "tests/support/test_main.h"

#include <malloc.h>

#include <QTemporaryDir>
#include <QtTest>
#include <memory>

using namespace normscope;
using namespace normscope::hdf5;

class TestHdf5 : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    std::string path(const char* name) { return folder_.filePath(name).toStdString(); }

  private Q_SLOTS:
    void arraysAndAttributesComeBack() {
        const std::vector<std::string> many(3000, std::string(40, 'x'));  // 120 kB in one attribute
        const std::string recipe(200'000, 'r');
        const std::vector<double> values{1, 2, 3, 4, 5, 6};
        const std::vector<float> narrow{0.5f, -0.25f};
        {
            Handle file = create_file(path("a.h5"));
            const Handle group = make_group(file, "zeta");
            write_attribute(group, "sites", many);
            write_attribute(group, "none", std::vector<std::string>{});
            write_attribute(group, "recipe", recipe);
            write_attribute(group, "empty", std::string());
            write_attribute(group, "seed", std::uint64_t{18446744073709551615ull});
            write_array(group, "values", {2, 3}, values.data());
            write_array(group, "narrow", {2}, narrow.data());
            write_array(group, "nothing", {0, 3}, values.data());
            write_array(group, "scalar", {}, values.data());
            write_text(group, "text", "Δt");
            close_file(std::move(file), path("a.h5"));
        }
        const auto opened = open_for_reading(path("a.h5"));
        QVERIFY(!opened.recording);
        const Handle group = open_group(opened.file, "zeta");
        QCOMPARE(read_texts_attribute(group, "sites"), many);
        QVERIFY(read_texts_attribute(group, "none").empty());
        QCOMPARE(read_text_attribute(group, "recipe"), recipe);
        QCOMPARE(read_text_attribute(group, "empty"), "");
        QCOMPARE(read_uint_attribute(group, "seed"), std::uint64_t{18446744073709551615ull});
        const auto array = read_array<double>(group, "values", 2);
        QCOMPARE(array.shape, (Shape{2, 3}));
        QCOMPARE(array.data, values);
        QCOMPARE(read_array<double>(group, "narrow", 1).data, (std::vector<double>{0.5, -0.25}));
        QCOMPARE(read_array<double>(group, "nothing", 2).shape, (Shape{0, 3}));
        QCOMPARE(read_array<double>(group, "scalar", 0).data, std::vector<double>{1});
        QCOMPARE(read_text(group, "text"), "Δt");
        // The order of creation, not of names.
        QCOMPARE(hdf5::children(group),
                 (std::vector<std::string>{"values", "narrow", "nothing", "scalar", "text"}));
    }

    void everyErrorNamesFileAndObject() {
        const double one = 1;
        {
            Handle file = create_file(path("b.h5"));
            const Handle group = make_group(file, "g");
            write_array(group, "x", {}, &one);
            close_file(std::move(file), path("b.h5"));
        }
        const auto opened = open_for_reading(path("b.h5"));
        const std::string file = path("b.h5");
        QCOMPARE(sample::input_error([&] { read_array<double>(opened.file, "g/y"); }),
                 file + ": /g/y: missing");
        QCOMPARE(sample::input_error([&] { read_array<double>(opened.file, "h/y"); }),
                 file + ": /h/y: missing");
        QCOMPARE(sample::input_error([&] { read_array<std::int32_t>(opened.file, "g/x"); }),
                 file + ": /g/x: holds float64, needs int32");
        QCOMPARE(sample::input_error([&] { read_array<float>(opened.file, "g/x"); }),
                 file + ": /g/x: holds float64, needs float32");
        QCOMPARE(sample::input_error([&] { read_array<double>(opened.file, "g/x", 2); }),
                 file + ": /g/x: has shape [], needs 2 axes");
        QCOMPARE(sample::input_error([&] { open_group(opened.file, "g/x"); }),
                 file + ": /g/x: is not a readable group");
        QCOMPARE(sample::input_error([&] { read_text_attribute(opened.file, "format"); }),
                 file + ": /format: missing");
    }

    void openErrorsNameTheCause() {
        const auto message = [&](const std::string& file) {
            return sample::input_error([&] { open_for_reading(file); });
        };
        QCOMPARE(message(path("none.h5")), path("none.h5") + ": No such file or directory");
        QCOMPARE(message(folder_.path().toStdString()),
                 folder_.path().toStdString() + ": is a directory, not a file");
        QCOMPARE(message("/dev/null"), "/dev/null: is not a regular file");
        QFile empty(folder_.filePath("empty.h5"));
        QVERIFY(empty.open(QIODevice::WriteOnly));
        QCOMPARE(message(path("empty.h5")), path("empty.h5") + ": is empty");
    }

    void textIsCutAtACharacter() {
        QCOMPARE(cut_text("abc", 3), "abc");
        QCOMPARE(cut_text("abcd", 3), "abc");
        QCOMPARE(cut_text("aΔ", 2), "a");
        QCOMPARE(cut_text("aΔ", 3), "aΔ");
        QCOMPARE(cut_text("→→", 5), "→");
        QCOMPARE(cut_text("𝜏x", 3), "");
    }

    void rowsThatWereNeverWrittenAreNotSound() {
        {
            Handle file = create_file(path("c.h5"));
            GrowingDataset grows(file, "x", Handle(H5Tcopy(H5T_NATIVE_DOUBLE)), {});
            for (double value = 0; value < 600; ++value) grows.append(&value);  // chunks of 512 rows
            grows.write();
            const hsize_t claimed = 5000;
            QVERIFY(H5Dset_extent(grows.dataset(), &claimed) >= 0);
        }
        const auto opened = open_for_reading(path("c.h5"));
        QCOMPARE(sound_rows(open_dataset(opened.file, "x")), std::size_t{1024});
        QCOMPARE(sample::input_error([&] { read_array<double>(opened.file, "x"); }),
                 path("c.h5") + ": /x: its values are not in the file");
    }

    void aChunkShorterThanItClaimsIsRejected() {
        {
            const Handle file = create_file(path("e.h5")), creation(H5Pcreate(H5P_DATASET_CREATE));
            const hsize_t dims[1] = {1000}, at[1] = {0};
            const Handle space(H5Screate_simple(1, dims, nullptr));
            H5Pset_chunk(creation, 1, dims);
            H5Pset_deflate(creation, 1);
            const Handle dataset(
                H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
            const std::vector<char> few(900);
            QVERIFY(H5Dwrite_chunk(dataset, H5P_DEFAULT, 1, at, few.size(), few.data()) >=
                    0);  // "deflate skipped"
        }
        const auto opened = open_for_reading(path("e.h5"));
        QCOMPARE(sample::input_error([&] { read_array<double>(opened.file, "x"); }),
                 path("e.h5") + ": /x: its values are not in the file");
    }

    void impossibleSizeTakesNoMemory() {
        {
            Handle file = create_file(path("d.h5"));
            const hsize_t dims[2] = {hsize_t{1} << 40, hsize_t{1} << 20};
            const Handle space(H5Screate_simple(2, dims, nullptr));
            const Handle creation(H5Pcreate(H5P_DATASET_CREATE));
            const hsize_t chunk[2] = {16, 16};
            H5Pset_chunk(creation, 2, chunk);
            H5Pset_deflate(creation, 1);
            const Handle dataset(
                H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
            QVERIFY(dataset.valid());
        }
        const auto opened = open_for_reading(path("d.h5"));
        const auto error = sample::input_error([&] { read_array<double>(opened.file, "x"); });
        QVERIFY2(error.ends_with("its values are not in the file") || error.ends_with("is impossibly large"),
                 error.c_str());
    }

    /// Lists are read while other threads allocate: how the memory of the process is filled is not changed.
    void listsDoNotChangeHowMemoryIsFilled() {
#ifdef __SANITIZE_ADDRESS__
        QSKIP("AddressSanitizer replaces malloc, and its own fill of new memory would be read here");
#endif
        const int code = sample::with_child(
            [&] {
                ::mallopt(M_PERTURB, 0x5a);  // freed memory is filled with it, new memory with its complement
                {
                    const hdf5::Handle file = hdf5::create_file(path("lists.h5"));
                    for (const char* name : {"b", "a"}) hdf5::make_group(file, name);
                    hdf5::write_attribute(file, "two", 2.0);
                    hdf5::write_attribute(file, "one", 1.0);
                    if (hdf5::children(file) != std::vector<std::string>{"b", "a"}) return 1;
                    if (hdf5::attribute_names(file) != std::vector<std::string>{"one", "two"}) return 2;
                }
                const std::unique_ptr<unsigned char[]> memory(new unsigned char[1 << 16]);
                const volatile unsigned char* byte = memory.get();
                return byte[1 << 15] == 0xa5 ? 0 : 3;
            },
            [](int) {});
        QCOMPARE(code, 0);
    }
};

NORMSCOPE_TEST(TestHdf5)
#include "hdf5_test.moc"
