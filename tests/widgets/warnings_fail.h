// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMutex>
#include <QStringList>
#include <QtTest>

namespace normscope::test {

/// Collects every warning logged during its lifetime; a test class holds one and calls check() in its
/// cleanup(), so that a logged warning fails the test that caused it. Messages of the platform are ignored.
class WarningsFail {
  public:
    WarningsFail() {
        messages().clear();
        previous_ = qInstallMessageHandler(&WarningsFail::handle);
        chained() = previous_;
    }
    ~WarningsFail() { qInstallMessageHandler(previous_); }
    WarningsFail(const WarningsFail&) = delete;
    WarningsFail& operator=(const WarningsFail&) = delete;

    /// Fails the running test if anything was logged since the last call.
    void check() {
        QStringList logged;
        {
            const QMutexLocker lock(&mutex());
            logged.swap(messages());
        }
        QVERIFY2(logged.isEmpty(), qPrintable(logged.join(u'\n')));
    }

  private:
    static QStringList& messages() {
        static QStringList list;
        return list;
    }
    static QMutex& mutex() {
        static QMutex m;
        return m;
    }
    static QtMessageHandler& chained() {
        static QtMessageHandler handler = nullptr;
        return handler;
    }
    static void handle(QtMsgType type, const QMessageLogContext& context, const QString& text) {
        const bool noise = text.contains(QLatin1String("propagateSizeHints")) ||
                           text.contains(QLatin1String("XDG_RUNTIME_DIR"));
        if ((type == QtWarningMsg || type == QtCriticalMsg) && !noise) {
            const QMutexLocker lock(&mutex());
            messages().append(text);
        }
        if (chained()) chained()(type, context, text);
    }

    QtMessageHandler previous_ = nullptr;
};

}  // namespace normscope::test
