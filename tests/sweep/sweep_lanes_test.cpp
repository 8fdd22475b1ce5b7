// SPDX-License-Identifier: GPL-3.0-or-later
// A sweep on a card: as many lanes as jobs, and the table of one run at a time.
#include "core/backend/cuda/emulated_cuda_device.h"
#include "core/base/error.h"
#include "core/recipe/recipe_text.h"
#include "core/session/session.h"
#include "core/sweep/sweep.h"
#include "core/sweep/sweep_folder.h"
#include "tests/support/test_main.h"

#include <QTemporaryDir>
#include <QtTest>
#include <condition_variable>
#include <mutex>
#include <optional>

using namespace normscope;

namespace {

/// A card with memory for so many lanes, and for replicas.
class Card final : public EmulatedCudaDevice {
  public:
    Card(int lanes, bool replicas)
        : EmulatedCudaDevice({grid::Schedule::Order::Ascending, 1, false}),
          left_(lanes),
          replicas_(replicas) {}
    std::vector<std::unique_ptr<Device>> replicas(int count, std::size_t bytes_each) override {
        asked = bytes_each;
        if (!replicas_) throw SystemError("Card: out of memory");
        return EmulatedCudaDevice::replicas(count, bytes_each);
    }
    std::size_t asked = 0;  ///< bytes of each replica

    std::unique_ptr<Device> lane() override {
        if (left_-- <= 0) throw SystemError("Card: out of memory");
        return EmulatedCudaDevice::lane();
    }

  private:
    int left_;
    bool replicas_;
};

struct Watcher final : SweepWatcher {
    int running = 0, most = 0;
    QStringList notes;
    void started(const SweepRun&) override { most = std::max(most, ++running); }
    void ended(const SweepRun&, const SweepRow&, const Outcome&, const SweepCount&) override { --running; }
    void note(const std::string& line) override { notes << QString::fromStdString(line); }
};

}  // namespace

class SweepLanesTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;

    /// The table of a sweep of twelve runs, of which some diverge.
    QString table_of(const char* name, int lanes, int jobs, Watcher& watcher,
                     std::optional<bool> replicas = {}) {
        SweepSpec spec{
            recipe_text("pre-ln", {"stack.depth=1", "stack.d_model=8", "stack.heads=2", "stack.context=4",
                                   "batch=2", "steps=6", R"(probes=[{"id":"growth","every":3}])"}),
            {parse_sweep_axis("stack.scheme=post,pre,peri"), parse_sweep_axis("optimizer.lr=1e-3,1e30")},
            {42, 43}};
        SweepOptions options;
        options.folder = folder_.filePath(name).toStdString();
        options.jobs = jobs;
        options.threads = 4;
        options.timed = false;
        options.replicas = replicas.has_value();
        Card card(lanes, replicas.value_or(false));
        run_sweep(spec, card, options, watcher);
        if (replicas) {
            // Of the first run, and not much more.
            QTest::qVerify(card.asked > 10'000 && card.asked < 1'000'000, "the bytes of a replica",
                           qPrintable(QString::number(card.asked)), __FILE__, __LINE__);
        }
        return QString::fromStdString(text_of_file(options.folder + "/results.csv").value_or("none"));
    }

  private Q_SLOTS:
    void theTableDoesNotDependOnLanes() {
        Watcher one, four, two;
        const QString table = table_of("one", 0, 1, one);
        QCOMPARE(table.count('\n'), 13);
        QVERIFY(table.contains("diverged") && table.contains("finished"));
        QCOMPARE(one.most, 1);
        QVERIFY(one.notes.isEmpty());

        QCOMPARE(table_of("four", 4, 4, four), table);
        QVERIFY2(four.most > 1, qPrintable(QString::number(four.most)));
        QVERIFY(four.notes.isEmpty());

        Watcher joined, apart;
        QCOMPARE(table_of("joined", 0, 4, joined, true), table);
        QVERIFY2(joined.most > 1, qPrintable(QString::number(joined.most)));
        QVERIFY(joined.notes.isEmpty());
        QCOMPARE(table_of("apart", 4, 4, apart, false), table);
        QCOMPARE(apart.notes, QStringList("no replicas: Card: out of memory"));

        // Without memory for more it states how many there are.
        QCOMPARE(table_of("two", 2, 4, two), table);
        QVERIFY(two.most <= 2);
        QCOMPARE(two.notes, QStringList("2 runs at a time: Card: out of memory"));
    }
};

NORMSCOPE_TEST(SweepLanesTest)
#include "sweep_lanes_test.moc"
