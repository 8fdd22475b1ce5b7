// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/files/kept_recordings.h"

#include "tests/support/test_main.h"

#include <QTest>

using namespace normscope::app;

class KeptRecordingsTest : public QObject {
    Q_OBJECT
    static constexpr qint64 kGigabyte = qint64{1} << 30;
    const QDateTime now_{QDate(2030, 5, 20), QTime(12, 0)};
    EndedRecording recording(const char* path, qint64 bytes, int days) const {
        return {QLatin1String(path), bytes, now_.addDays(-days)};
    }

  private Q_SLOTS:
    void theOldestGoFirstAndOnlyBeyondTheLimit() {
        QCOMPARE(recordingsToDrop({recording("a", kGigabyte, 40), recording("b", kGigabyte, 30)}, now_),
                 QStringList());
        QCOMPARE(recordingsToDrop({recording("old", kGigabyte, 40), recording("b", kGigabyte, 30),
                                   recording("c", kGigabyte, 20)},
                                  now_),
                 QStringList{"old"});
    }

    void theYoungStay() {
        QCOMPARE(recordingsToDrop({recording("a", 3 * kGigabyte, 13), recording("b", 1, 14)}, now_),
                 QStringList{"b"});
        QCOMPARE(recordingsToDrop({recording("a", 3 * kGigabyte, 1), recording("b", 3 * kGigabyte, 2)}, now_),
                 QStringList());
    }
};

NORMSCOPE_TEST(KeptRecordingsTest)
#include "kept_recordings_test.moc"
