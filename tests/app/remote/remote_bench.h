// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/lab.h"
#include "tests/app/lab/lab_bench.h"
#include "there.h"

#include <QStringList>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace normscope::test::remote {

/// A laboratory of two small runs whose engine is a device's, here or there.
struct Bench {
    QTemporaryDir place;
    std::unique_ptr<app::Lab> lab;
    QStringList lines;  ///< problems and changes of the connection, in their order

    explicit Bench(const std::string& device, int steps = 6) {
        app::Lab::Options options{1, folder()};
        options.backend = device;
        lab = std::make_unique<app::Lab>(std::move(options));
        const auto keep = [this](const QString& text) { lines << text; };
        QObject::connect(lab.get(), &app::Lab::problem, lab.get(), keep);
        QObject::connect(lab.get(), &app::Lab::connectionChanged, lab.get(), keep);
        makeSmall(*lab, steps);
        lab->view().setVisibleProbes({"growth", "gradients", "jacobian"});
    }
    QString folder() const { return place.filePath(QStringLiteral("recordings")); }
    const app::LabRun& run(std::size_t i) const { return lab->comparison().runs[i]; }
    bool connected() const { return lab->devices().chosen().find(" cpu") != std::string::npos; }
    bool ended() const { return !lab->training().playing() && !lab->comparison().anyTraining(); }
    bool exact() const { return lab->view().exact() && lab->waitingRequests().empty(); }
    bool settled() const { return ended() && exact(); }
    /// What play() trains, to its end.
    void train() const {
        lab->training().play();
        if (!QTest::qWaitFor([this] { return settled(); }, 60000))
            throw std::runtime_error("it does not end");
    }
};

/// NaN is equal to NaN.
inline bool sameBits(double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}
inline bool sameBits(const std::vector<double>& a, const std::vector<double>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](double x, double y) { return sameBits(x, y); });
}

}  // namespace normscope::test::remote

#define NORMSCOPE_CONNECTED(bench)                        \
    QTRY_VERIFY_WITH_TIMEOUT((bench).connected(), 20000); \
    QCOMPARE(normscope::test::There::engines().size(), 1u)
