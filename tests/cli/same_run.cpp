// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/same_run.h"

#include "core/session/checkpoint.h"
#include "core/session/session.h"

#include <QtTest>
#include <cstring>

using namespace normscope;

void compare_runs(const QString& file, const QString& whole) {
    const Session a = open_session(whole.toStdString()), b = open_session(file.toStdString());
    const RunData &x = a.runs.at(0), &y = b.runs.at(0);
    QCOMPARE(y.outcome.state, RunState::Finished);
    QCOMPARE(y.steps.step, x.steps.step);
    for (const char* name : {"loss", "val_loss", "grad_norm", "lr"}) {
        const auto *one = x.steps.find(name), *other = y.steps.find(name);
        QVERIFY(one && other);
        QVERIFY2(std::memcmp(one->data(), other->data(), one->size() * sizeof(double)) == 0, name);
    }
    const auto last = [](const QString& path, const Session& session) {
        return load_checkpoint(path.toStdString(), session.runs[0].id, session.checkpoints.back().step);
    };
    QCOMPARE(last(file, b).params, last(whole, a).params);
    for (const auto& [id, samples] : y.probes)
        for (std::size_t i = 1; i < samples.size(); ++i) QVERIFY(samples[i].step > samples[i - 1].step);
}
