// SPDX-License-Identifier: GPL-3.0-or-later
// Images as training data: the generated shapes, CIFAR-10's files, and how both become patches.

#include "core/train/data/image_corpus.h"

#include "core/base/error.h"
#include "core/train/data/cifar10_images.h"
#include "core/train/data/shape_images.h"
#include "tests/support/test_main.h"

#include <sys/stat.h>

#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

using namespace normscope;

namespace {

StackSpec image_stack(int size, int patch, int channels = 3) {
    StackSpec stack;
    stack.input = StackInput::Patches;
    stack.image = {size, channels, patch};
    complete(stack, 10);
    return stack;
}

/// A file of `records` whose bytes follow from their place, of the class i mod 10.
void write_batch(const QString& path, int records, int first_byte = 0) {
    std::ofstream file(path.toStdString(), std::ios::binary);
    for (int i = 0; i < records; ++i) {
        file.put(static_cast<char>(i % 10));
        for (std::size_t p = 1; p < Cifar10Images::kRecord; ++p)
            file.put(static_cast<char>((first_byte + i + static_cast<int>(p) * 7) % 256));
    }
}

std::string rejection(const DataSpec& data, const StackSpec& stack) {
    try {
        make_corpus(data, stack);
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

/// The share of held-out shapes that softmax regression on the pixels classifies right, after `steps` steps
/// of 32 images with the best of the step sizes.
double accuracy_of_regression(double rate, int steps) {
    constexpr int kSize = 16, kClasses = ShapeImages::kClasses;
    const StackSpec stack = image_stack(kSize, kSize);
    const auto corpus = make_corpus({DataSource::Images, "", 0.1}, stack);
    const auto pixels = static_cast<std::size_t>(stack.image.patch_width());
    std::vector<double> weights(kClasses * pixels, 0.0), bias(kClasses, 0.0);
    // With one patch a sequence is the class token and the whole image.
    const auto image_of = [&](const Batch& batch, int b) {
        return batch.patches.data() + (2 * static_cast<std::size_t>(b) + 1) * pixels;
    };
    const auto scores = [&](const float* image) {
        std::vector<double> of(kClasses);
        for (std::size_t c = 0; c < kClasses; ++c) {
            of[c] = bias[c];
            for (std::size_t i = 0; i < pixels; ++i) of[c] += weights[c * pixels + i] * image[i];
        }
        return of;
    };
    for (int step = 0; step < steps; ++step) {
        const Batch batch = corpus->train_batch(1, step, 0, 32, 2);
        for (int b = 0; b < 32; ++b) {
            const float* image = image_of(batch, b);
            std::vector<double> p = scores(image);
            const double most = *std::max_element(p.begin(), p.end());
            double total = 0;
            for (double& value : p) total += value = std::exp(value - most);
            for (std::size_t c = 0; c < kClasses; ++c) {
                const bool right = batch.targets[2 * static_cast<std::size_t>(b)] == static_cast<int>(c);
                const double slope = rate / 32 * (p[c] / total - right);
                bias[c] -= slope;
                for (std::size_t i = 0; i < pixels; ++i) weights[c * pixels + i] -= slope * image[i];
            }
        }
    }
    constexpr int kHeldOut = 1000;
    const Batch held_out = corpus->held_out_batch(1, 0, kHeldOut, 2);
    int right = 0;
    for (int b = 0; b < kHeldOut; ++b) {
        const std::vector<double> of = scores(image_of(held_out, b));
        right += std::max_element(of.begin(), of.end()) - of.begin() ==
                 held_out.targets[2 * static_cast<std::size_t>(b)];
    }
    return static_cast<double>(right) / kHeldOut;
}

}  // namespace

class ImageCorpusTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// Pixel (channel, y, x) of an image is where conv2d's flattened kernel reads it.
    void patchesAreCutRowByRow() {
        const ImageSpec shape{4, 2, 2};
        std::vector<float> pixels(2 * 4 * 4);
        for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i);
        Batch batch{1, 5, {}, {}};
        append_image(shape, pixels, 7, batch);
        QCOMPARE(batch.tokens, (std::vector<std::int32_t>{0, 1, 1, 1, 1}));
        QCOMPARE(batch.targets, (std::vector<std::int32_t>{7, -1, -1, -1, -1}));
        const std::vector<float> expected{0,  0,  0,  0,  0,  0,  0,  0,  0,  1,  4,  5, 16, 17,
                                          20, 21, 2,  3,  6,  7,  18, 19, 22, 23, 8,  9, 12, 13,
                                          24, 25, 28, 29, 10, 11, 14, 15, 26, 27, 30, 31};
        QCOMPARE(batch.patches, expected);
        QCOMPARE(batch.counted(), std::int64_t{1});
        const Batch part = batch.part(0, 1, 2);
        QCOMPARE(part.patches, std::vector<float>(expected.begin(), expected.begin() + 16));
        QCOMPARE(part.targets, (std::vector<std::int32_t>{7, -1}));
    }

    void shapesAreDeterministicAndVaried() {
        const StackSpec stack = image_stack(16, 4);
        const auto corpus = make_corpus({DataSource::Images, "", 0.1}, stack);
        QCOMPARE(stack.context, 17);
        QVERIFY(!stack.causal);
        QCOMPARE(corpus->unigram_entropy(), std::log(10.0));
        const Batch batch = corpus->train_batch(42, 7, 0, 64, 17);
        const auto again = make_corpus({DataSource::Images, "", 0.1}, stack)->train_batch(42, 7, 0, 64, 17);
        QCOMPARE(batch.patches, again.patches);
        QVERIFY(batch.patches != corpus->held_out_batch(42, 7, 64, 17).patches);
        QVERIFY_EXCEPTION_THROWN(corpus->train_batch(42, 7, 0, 1, 18), InputError);
        // Two micro-batches of 32 hold the images of one of 64.
        std::vector<float> joined = corpus->train_batch(42, 7, 0, 32, 17).patches;
        const std::vector<float> second = corpus->train_batch(42, 7, 1, 32, 17).patches;
        joined.insert(joined.end(), second.begin(), second.end());
        QCOMPARE(joined, batch.patches);
        std::set<std::int32_t> classes;
        for (const std::int32_t id : batch.targets)
            if (id >= 0) classes.insert(id);
        QCOMPARE(classes.size(), std::size_t{10});
        for (const float value : batch.patches) QVERIFY(std::abs(value) < 2);
    }

    /// Of ten classes: chance is 10 %.
    void noLinearModelSeparatesTheShapes() {
        for (const double rate : {0.01, 0.1}) {
            const double accuracy = accuracy_of_regression(rate, 1000);
            qInfo("softmax regression on the pixels, rate %g: %.1f %% of 1,000 held-out shapes", rate,
                  100 * accuracy);
            QVERIFY(accuracy < 0.3);
        }
    }

    void cifarReadsTheBatchesThatAreThere() {
        QTemporaryDir folder;
        write_batch(folder.filePath("data_batch_2.bin"), 20);
        write_batch(folder.filePath("data_batch_5.bin"), 10, 100);
        const ImageSpec shape{32, 3, 4};
        const Cifar10Images without_test(folder.path().toStdString(), 0.2, shape);
        QCOMPARE(without_test.train_images(), std::size_t{24});
        QCOMPARE(without_test.held_out_images(), std::size_t{6});
        write_batch(folder.filePath("test_batch.bin"), 7, 50);
        const Cifar10Images with_test(folder.path().toStdString(), 0.2, shape);
        QCOMPARE(with_test.train_images(), std::size_t{30});
        QCOMPARE(with_test.held_out_images(), std::size_t{7});
        QVERIFY(std::abs(with_test.unigram_entropy() - std::log(10.0)) < 1e-12);

        // Over all training images each channel has mean 0 and standard deviation 1; draws are of them.
        const Batch batch = with_test.train_batch(1, 0, 0, 400, 65);
        double sum = 0, squares = 0;
        for (const float value : batch.patches) {
            sum += value;
            squares += double{value} * value;
        }
        const double count = 400.0 * 64 * 48;
        QVERIFY2(std::abs(sum / count) < 0.02, qPrintable(QString::number(sum / count)));
        QVERIFY2(std::abs(squares / count - 1) < 0.05, qPrintable(QString::number(squares / count)));
    }

    void badInput_data() {
        QTest::addColumn<QString>("what");
        QTest::addColumn<QString>("expected");
        QTest::newRow("no folder") << "missing"
                                   << "is not a folder";
        QTest::newRow("empty folder") << "empty"
                                      << "has no data_batch_1.bin … data_batch_5.bin";
        QTest::newRow("short file") << "short"
                                    << "which are not whole records of CIFAR-10";
        QTest::newRow("empty file") << "nothing"
                                    << "has 0 bytes";
        QTest::newRow("no file") << "fifo"
                                 << "is no regular file";
        QTest::newRow("foreign file") << "foreign"
                                      << "image 1: class 200";
        QTest::newRow("one image") << "one"
                                   << "data.held_out: leaves no image";
        QTest::newRow("other size") << "size"
                                    << "stack.image: 16 pixels and 3 channels";
        QTest::newRow("text for patches") << "text"
                                          << "data.source: markov has no images";
        QTest::newRow("images for tokens") << "tokens"
                                           << "data.source: images has images, which stack.input";
        QTest::newRow("too small") << "small"
                                   << "stack.image.size: 8 is too small";
    }
    void badInput() {
        QFETCH(QString, what);
        QFETCH(QString, expected);
        QTemporaryDir folder;
        DataSpec data{DataSource::Cifar10, folder.path().toStdString(), 0.1};
        StackSpec stack = image_stack(32, 4);
        const QString file = folder.filePath("data_batch_1.bin");
        if (what == "missing") data.path += "/none";
        if (what == "short") write_batch(file, 2), QFile::resize(file, 4000);
        if (what == "nothing") QVERIFY(QFile(file).open(QIODevice::WriteOnly));
        if (what == "foreign") {
            write_batch(file, 2);
            std::fstream bytes(file.toStdString(), std::ios::in | std::ios::out | std::ios::binary);
            bytes.seekp(static_cast<std::streamoff>(Cifar10Images::kRecord));
            bytes.put(static_cast<char>(200));
        }
        if (what == "fifo") QCOMPARE(mkfifo(QFile::encodeName(file).constData(), 0600), 0);
        if (what == "one") write_batch(file, 1);
        if (what == "size") stack = image_stack(16, 4);
        if (what == "text") data.source = DataSource::Markov;
        if (what == "tokens") {
            data.source = DataSource::Images;
            stack.input = StackInput::Tokens;
        }
        if (what == "small") {
            data.source = DataSource::Images;
            stack = image_stack(8, 4);
        }
        const QString line = QString::fromStdString(rejection(data, stack));
        QVERIFY2(line.contains(expected), qPrintable(line));
    }

    void thePatchMustDivideTheImage() {
        StackSpec stack = image_stack(32, 5);
        try {
            validate(stack);
            QFAIL("accepted");
        } catch (const InputError& error) {
            QCOMPARE(QString(error.what()).left(17), QString("stack.image.patch"));
        }
    }
};

NORMSCOPE_TEST(ImageCorpusTest)
#include "image_corpus_test.moc"
