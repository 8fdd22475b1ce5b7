// SPDX-License-Identifier: GPL-3.0-or-later
// No file is replaced that was neither named nor asked about.
#include "widgets/dialogs/save_dialog.h"

#include "tests/support/test_main.h"
#include "widgets/figures/save_names.h"

#include <QApplication>
#include <QFile>
#include <QFileDialog>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

using namespace normscope;

class SaveDialogTest : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    QStringList questions_;

    QString path(const char* name) const { return folder_.filePath(name); }
    static void put(const QString& path) {
        QFile file(path);
        QVERIFY(file.open(QFile::WriteOnly) && file.write("kept") == 4);
    }
    /// What the function under test returns; the file dialogs are answered with these names in turn, the last
    /// one cancelled where there are no more, and the questions with `replace`.
    QString answered(QStringList names, bool replace,
                     const std::function<QStringList(const QString&)>& further = {}) {
        questions_.clear();
        QTimer answers;
        connect(&answers, &QTimer::timeout, this, [&] {
            QWidget* modal = QApplication::activeModalWidget();
            if (auto* dialog = qobject_cast<QFileDialog*>(modal)) {
                if (names.isEmpty()) return dialog->reject();
                dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))->setText(names.takeFirst());
                QMetaObject::invokeMethod(dialog, "accept", Qt::QueuedConnection);
            } else if (auto* question = qobject_cast<QMessageBox*>(modal)) {
                questions_ << question->text();
                question->button(replace ? QMessageBox::Yes : QMessageBox::No)->click();
            }
        });
        answers.start(50);
        return widgets::chooseSavePath(nullptr, "Save", "proposal.svg", "svg", "*.svg", further);
    }

  private Q_SLOTS:
    void initTestCase() {
        QCoreApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, folder_.path());
    }

    void namesGetTheirEnding() {
        QCOMPARE(widgets::withEnding("/a/fig", "svg"), QString("/a/fig.svg"));
        QCOMPARE(widgets::withEnding("/a.b/fig", "svg"), QString("/a.b/fig.svg"));
        QCOMPARE(widgets::withEnding("/a/fig.v2", "svg"), QString("/a/fig.v2.svg"));
        QCOMPARE(widgets::withEnding("/a/fig.SVG", "svg"), QString("/a/fig.SVG"));
    }

    void aFreeNameIsTaken() {
        QCOMPARE(answered({path("free")}, false), path("free.svg"));
        QVERIFY(questions_.isEmpty());
    }

    void whatGetsAnEndingIsAskedFor() {
        put(path("old.svg"));
        QCOMPARE(answered({path("old")}, false), QString());  // no, and then cancelled
        QCOMPARE(questions_, QStringList{"old.svg exists already. Replace it?"});
        QCOMPARE(answered({path("old")}, true), path("old.svg"));
        QCOMPARE(answered({path("old"), path("new")}, false), path("new.svg"));
    }

    void aFileNextToItIsAskedFor() {
        put(path("fig.json"));
        const auto spec = [&](const QString&) { return QStringList{path("fig.json")}; };
        QCOMPARE(answered({path("fig.svg")}, false, spec), QString());
        QCOMPARE(questions_, QStringList{"fig.json exists already. Replace it?"});
        QCOMPARE(answered({path("fig.svg")}, true, spec), path("fig.svg"));
    }
};

NORMSCOPE_WIDGET_TEST(SaveDialogTest)
#include "save_dialog_test.moc"
