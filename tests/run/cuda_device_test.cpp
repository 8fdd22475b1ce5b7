// SPDX-License-Identifier: GPL-3.0-or-later
// The runs of device_runs.h on the emulated CUDA device, against the CPU. The kernels add in another order than
// the CPU's, so that results agree to a tolerance; the same run twice has the same bits.
#include "core/backend/cuda/emulated_cuda_device.h"
#include "tests/run/device_runs.h"

#include <QtTest>
#include <chrono>
#include <cmath>

using namespace normscope;
using namespace normscope::device_runs;

class CudaDeviceTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void runs_data() {
        QTest::addColumn<QString>("row");
        for (const auto& [name, settings] : kRows)
            QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }
    void runs() {
        QFETCH(QString, row);
        Recipe recipe = recipe_of(row.toStdString());
        const auto t0 = std::chrono::steady_clock::now();
        EmulatedCudaDevice device({grid::Schedule::Order::Drawn, 1, false});
        const Ran there = train(recipe, device);
        const auto t1 = std::chrono::steady_clock::now();
        const Ran here = train(recipe, cpu_device());
        qInfo("%s %.2f s", qPrintable(row), std::chrono::duration<double>(t1 - t0).count());
        for (std::size_t i = 0; i < here.columns.size(); ++i)
            for (std::size_t k = 0; k < here.columns[i].second.size(); ++k)
                qInfo("%s %zu: %.17g %.17g", here.columns[i].first.c_str(), k, there.columns[i].second[k],
                      here.columns[i].second[k]);
    }
};

QTEST_GUILESS_MAIN(CudaDeviceTest)
#include "cuda_device_test.moc"
