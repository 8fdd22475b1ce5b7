// SPDX-License-Identifier: GPL-3.0-or-later
// The header of a safetensors file is accepted only if it is consistent.
#include "core/interchange/safetensors.h"

#include "core/base/error.h"
#include "core/interchange/file_bytes.h"
#include "core/interchange/float_bytes.h"
#include "core/session/named_arrays.h"
#include "tests/interchange/sample_models.h"
#include "tests/support/test_main.h"

#include <QFileInfo>
#include <QTemporaryDir>
#include <QtTest>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

using namespace normscope;

namespace {

template <class T>
sample::Bytes bytes_of(const std::vector<T>& values) {
    sample::Bytes bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

StoredTensor read_one(const char* dtype, const sample::Bytes& data, std::size_t count) {
    const std::string header = std::string(R"({"x":{"dtype":")") + dtype + R"(","shape":[)" +
                               std::to_string(count) + R"(],"data_offsets":[0,)" +
                               std::to_string(data.size()) + "]}}";
    const sample::Bytes file = sample::safetensors(header, data);
    const Safetensors parsed = parse_safetensors(file, "m");
    return float_tensor(parsed.tensors().at(0), "m");
}

}  // namespace

class SafetensorsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void everyFloatTypeIsExact() {
        const std::vector<float> narrow{1.5f, -0.0f, 3e38f};
        QCOMPARE(as_float64(read_one("F32", bytes_of(narrow), 3)), (std::vector<double>{1.5, -0.0, 3e38f}));
        const std::vector<double> wide{1e-300, -2};
        const StoredTensor kept = read_one("F64", bytes_of(wide), 2);
        QCOMPARE(kept.type, StoredType::Float64);
        QCOMPARE(as_float64(kept), wide);
        QCOMPARE(
            as_float64(read_one("BF16", bytes_of(std::vector<std::uint16_t>{0x3fc0, 0xc000, 0x0001}), 3)),
            (std::vector<double>{1.5, -2, std::ldexp(1.0, -133)}));
    }

    void everyHalfNumberIsIeee() {
        for (int bits = 0; bits < 1 << 16; ++bits) {
            const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
            const float got = float_from_half(static_cast<std::uint16_t>(bits));
            QCOMPARE(std::signbit(got), bits >> 15 != 0);
            if (exponent == 31) {
                QVERIFY(mantissa != 0 ? std::isnan(got) : std::isinf(got));
            } else {
                const double want =
                    exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
                QCOMPARE(static_cast<double>(std::abs(got)), want);
            }
        }
    }

    void writtenFilesComeBack() {
        QTemporaryDir folder;
        const std::string path = folder.filePath("m.safetensors").toStdString();
        const std::vector<double> numbers{1, 2, 3, 4, 5, 6};
        const float one = 0.1f;
        const std::vector<StoredTensor> tensors{stored("b", {2, 3}, numbers.data()), stored("a", {}, &one)};
        write_safetensors(path, tensors, {{"k", "a \"text\"\n"}});
        const FileBytes file(path);
        std::uint64_t length = 0;
        std::memcpy(&length, file.bytes().data(), sizeof length);
        QCOMPARE(length % 8, std::uint64_t{0});
        const Safetensors parsed = parse_safetensors(file.bytes(), path);
        QCOMPARE(parsed.metadata.at("k"), "a \"text\"\n");
        QCOMPARE(parsed.tensors().size(), std::size_t{2});
        for (const StoredTensor& tensor : tensors)
            QCOMPARE(float_tensor(*parsed.find(tensor.name), path), tensor);
        QVERIFY(!parsed.find("c"));
    }

    /// Another program may truncate the file while its weights are decoded.
    void aFileThatIsShortenedIsReadAsItWas() {
        QTemporaryDir folder;
        const std::string path = folder.filePath("m.safetensors").toStdString();
        const std::vector<double> numbers(100'000, 0.5);
        const StoredTensor tensor = stored("w", {100'000}, numbers.data());
        write_safetensors(path, {tensor}, {});
        const FileBytes file(path);
        const Safetensors parsed = parse_safetensors(file.bytes(), path);
        std::filesystem::resize_file(path, 0);
        QCOMPARE(float_tensor(*parsed.find("w"), path), tensor);
    }

    void emptyTensorsMayShareAPlace() {
        const sample::Bytes file = sample::safetensors(
            R"({"a":{"dtype":"F32","shape":[0,3],"data_offsets":[4,4]},"b":{"dtype":"F32","shape":[],)"
            R"("data_offsets":[0,4]}})",
            sample::Bytes(4));
        QCOMPARE(parse_safetensors(file, "m").tensors().size(), std::size_t{2});
    }

    /// As the reference reader of the format does.
    void whatIsNextToTheTensorsIsAccepted() {
        const sample::Bytes file = sample::safetensors(
            R"({"__metadata__":null,"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"note":"y"},)"
            R"("s":{"dtype":"F8_E8M0","shape":[2],"data_offsets":[4,6]},)"
            R"("p":{"dtype":"F4","shape":[2,2],"data_offsets":[6,8]}})",
            sample::Bytes(8));
        const Safetensors parsed = parse_safetensors(file, "m");
        QCOMPARE(parsed.tensors().size(), std::size_t{3});
        QVERIFY(parsed.metadata.empty());
        try {
            float_tensor(*parsed.find("s"), "m");
            QFAIL("was accepted");
        } catch (const InputError& error) {
            QVERIFY2(QString(error.what()).contains("dequantise"), error.what());
        }
    }

    void onlyWhatIsAskedForIsRead() {
        QTemporaryDir folder;
        const std::string path = folder.filePath("m.safetensors").toStdString();
        const std::vector<double> numbers(1000, 0.5);
        const StoredTensor tensor = stored("w", {1000}, numbers.data());
        write_safetensors(path, {tensor}, {});
        const Safetensors parsed = parse_safetensors(file_source(path), path);
        QCOMPARE(float_tensor(*parsed.find("w"), path), tensor);
        std::filesystem::resize_file(path, 1000);
        QVERIFY_EXCEPTION_THROWN(float_tensor(*parsed.find("w"), path), InputError);
        QVERIFY_EXCEPTION_THROWN(file_source("/nowhere/m.safetensors"), InputError);
        QVERIFY_EXCEPTION_THROWN(file_source("/"), InputError);
    }

    void inconsistentHeadersAreRejected_data() {
        QTest::addColumn<QString>("header");
        QTest::addColumn<int>("bytes");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* name, const std::string& header, int bytes, const char* message) {
            QTest::newRow(name) << QString::fromStdString(header) << bytes << message;
        };
        const char* x = R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
        row("not JSON", "{\"x\":", 0, "not valid JSON");
        row("a list", "[]", 0, "is no object");
        row("a number too large for JSON", R"({"x":1e999})", 0, "out of range");
        row("nested", (std::string(200, '[') + std::string(200, ']')).c_str(), 0, "nested deeper");
        row("unknown dtype", R"({"x":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}})", 4, "unknown dtype");
        row("no dtype", R"({"x":{"shape":[1],"data_offsets":[0,4]}})", 4, "has no dtype");
        row("dtype is a number", R"({"x":{"dtype":4,"shape":[1],"data_offsets":[0,4]}})", 4, "unknown dtype");
        row("no pair", R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4, "no pair");
        row("half a byte", R"({"x":{"dtype":"F4","shape":[1],"data_offsets":[0,1]}})", 1, "end at a byte");
        row("zeros after the header", std::string("{}\0\0", 4), 0, "padded with zero bytes");
        row("name twice",
            R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"x":{"dtype":"F32","shape":[1],)"
            R"("data_offsets":[4,8]}})",
            8, "\"x\" appears twice");
        row("key twice", R"({"x":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4,
            "appears twice");
        row("out of range", x, 3, "inside the 3 bytes");
        row("end before begin", R"({"x":{"dtype":"F32","shape":[0],"data_offsets":[4,0]}})", 4,
            "is at bytes");
        row("negative", R"({"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4,
            "not a whole number");
        row("fraction", R"({"x":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4,
            "not a whole number");
        row("size", R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4,
            "has 4 bytes, allowed: 8");
        row("overflow", R"({"x":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0,
            "2^64");
        row("overlap",
            R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"y":{"dtype":"F32","shape":[1],)"
            R"("data_offsets":[0,4]}})",
            4, "\"x\", allowed: one name");
        row("part of another",
            R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"y":{"dtype":"F32","shape":[1],)"
            R"("data_offsets":[4,8]}})",
            8, "overlaps");
        row("hole",
            R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"y":{"dtype":"F32","shape":[1],)"
            R"("data_offsets":[8,12]}})",
            12, "leaves a hole");
        row("bytes at the end", x, 8, "4 bytes after the last tensor");
        row("metadata", R"({"__metadata__":{"a":1}})", 0, "is no text");
    }
    void inconsistentHeadersAreRejected() {
        QFETCH(QString, header);
        QFETCH(int, bytes);
        QFETCH(QString, message);
        const sample::Bytes file =
            sample::safetensors(header.toStdString(), sample::Bytes(static_cast<std::size_t>(bytes)));
        try {
            parse_safetensors(file, "m.safetensors");
            QFAIL("was accepted");
        } catch (const InputError& error) {
            const QString line = error.what();
            QVERIFY2(line.startsWith("m.safetensors") && line.contains(message) && !line.contains('\n'),
                     error.what());
        }
    }

    void headerLengthIsHeldAgainstTheFile() {
        for (const std::uint64_t length :
             {std::uint64_t{3}, std::uint64_t{200'000'000}, ~std::uint64_t{0}, ~std::uint64_t{0} - 7}) {
            sample::Bytes file = sample::safetensors("{}", {});
            std::memcpy(file.data(), &length, sizeof length);
            QVERIFY_EXCEPTION_THROWN(parse_safetensors(file, "m"), InputError);
        }
        QVERIFY_EXCEPTION_THROWN(parse_safetensors(sample::Bytes{}, "m"), InputError);
        QVERIFY_EXCEPTION_THROWN(FileBytes("/nowhere/m.safetensors"), InputError);
        QVERIFY_EXCEPTION_THROWN(FileBytes("/"), InputError);
    }

    /// A file of the system states more bytes than can be read, as one that is shortened meanwhile does.
    void aFileThatBecomesShorterIsRejected() {
        const std::string file = "/sys/devices/system/cpu/online";
        if (!QFileInfo::exists(QString::fromStdString(file))) QSKIP("no /sys here");
        try {
            const FileBytes bytes(file);
            QFAIL("read to its end");
        } catch (const InputError& error) {
            QVERIFY2(std::string(error.what()).find("was shortened to") != std::string::npos, error.what());
        }
    }

    void wholeNumbersAreNoWeights() {
        QVERIFY_EXCEPTION_THROWN(read_one("I64", sample::Bytes(8), 1), InputError);
    }
};

NORMSCOPE_TEST(SafetensorsTest)
#include "safetensors_test.moc"
