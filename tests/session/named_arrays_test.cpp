// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/named_arrays.h"

#include "core/base/error.h"
#include "core/session/describe.h"
#include "core/session/hdf5.h"
#include "tests/session/sample_run.h"
#include "tests/support/test_main.h"

#include <QTemporaryDir>
#include <QtTest>

using namespace normscope;

class TestNamedArrays : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    std::string path(const char* name) { return folder_.filePath(name).toStdString(); }

  private Q_SLOTS:
    void arraysComeBack() {
        const std::vector<std::int32_t> tokens{1, 2, 3, 4, 5, 6};
        const std::vector<float> narrow{0.5f, 1.5f};
        const std::vector<double> wide{-1, 1e300};
        const double loss = 3.25;
        write_named_arrays(
            path("w.h5"),
            {stored("/params/zz", {2}, narrow.data()), stored("/params/aa", {1, 2}, wide.data()),
             stored("/tokens", {2, 3}, tokens.data()), stored("/loss", {}, &loss)});
        const auto params = read_named_arrays(path("w.h5"), "/params");
        QCOMPARE(params.size(), std::size_t{2});
        QCOMPARE(params[0].name, "zz");
        QCOMPARE(params[0].type, StoredType::Float32);
        QCOMPARE(as_float64(params[0]), (std::vector<double>{0.5, 1.5}));
        QCOMPARE(params[1].shape, (std::vector<std::size_t>{1, 2}));
        QCOMPARE(as_float64(params[1]), wide);
        const auto read = read_file_array<std::int32_t>(path("w.h5"), "/tokens", 2);
        QCOMPARE(read.shape, (std::vector<std::size_t>{2, 3}));
        QCOMPARE(read.data, tokens);
        QCOMPARE(read_file_array<double>(path("w.h5"), "/loss", 0).data, std::vector<double>{3.25});
        QVERIFY(has_object(path("w.h5"), "/params/zz") && !has_object(path("w.h5"), "/params/none"));
        QVERIFY(!has_object(path("w.h5"), "/none/zz"));
        QCOMPARE(
            describe(path("w.h5")),
            (std::vector<std::string>{"HDF5 file", "/params/zz  float32 [2]", "/params/aa  float64 [1, 2]",
                                      "/tokens  int32 [2, 3]", "/loss  float64 []"}));
    }

    void errorsStateWhatIsNeeded() {
        const std::string file = path("w.h5");
        const auto tokens = [&](const char* object, int rank) {
            return sample::input_error([&] { read_file_array<std::int32_t>(file, object, rank); });
        };
        QCOMPARE(tokens("/targets", 2), file + ": /targets: missing");
        QCOMPARE(tokens("/tokens", 1), file + ": /tokens: has shape [2, 3], needs 1 axes");
        QCOMPARE(tokens("/loss", 0), file + ": /loss: holds float64, needs int32");
        QCOMPARE(tokens("/params", 2), file + ": /params: is not a readable data set (not a dataset)");
        QCOMPARE(sample::input_error([&] { read_named_arrays(file, "/weights"); }),
                 file + ": /weights: missing");
        QCOMPARE(sample::input_error([&] {
                     as_float64({"tokens", {1}, StoredType::Int32, std::vector<std::byte>(4)});
                 }),
                 "tokens: holds int32, needs float32 or float64");
    }

    void probesAreLaidOutAsInASession() {
        write_named_arrays(path("p.h5"), {}, {sample::growth(5), sample::null_space(5), sample::growth(6)});
        const auto rms = read_file_array<double>(path("p.h5"), "/probes/growth/rms", 2);
        QCOMPARE(rms.shape, (std::vector<std::size_t>{2, 7}));
        QCOMPARE(rms.data[7], 6.0);
        const auto opened = hdf5::open_for_reading(path("p.h5"));
        const hdf5::Handle group = hdf5::open_group(opened.file, "probes/null_space");
        QCOMPARE(hdf5::read_texts_attribute(group, "sites").at(1), "final_norm");
    }
};

NORMSCOPE_TEST(TestNamedArrays)
#include "named_arrays_test.moc"
