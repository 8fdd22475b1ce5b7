// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/dialogs/export_dialog.h"

#include "tests/support/test_main.h"
#include "tests/widgets/plots/sample_figures.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/export/figure_exporter.h"

#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QtTest>

using namespace normscope;
using namespace normscope::widgets;

class ExportDialogTest : public QObject {
    Q_OBJECT
    normscope::test::WarningsFail warnings_;
    std::unique_ptr<ExportDialog> dialog_;

    void open(Figure figure, const PlotViewState& view = {}) {
        dialog_ = std::make_unique<ExportDialog>(std::make_shared<const Figure>(std::move(figure)), view,
                                                 QStringLiteral("{}"), FigureSpec{}, nullptr);
    }
    void type(const char* field, const QString& text) {
        dialog_->findChild<QLineEdit*>(QLatin1String(field))->setText(text);
    }
    QString problems() const { return dialog_->findChild<QLabel*>("exportProblems")->text(); }
    bool canSave() const {
        for (const QPushButton* button : dialog_->findChildren<QPushButton*>())
            if (button->text().contains("Save")) return button->isEnabled();
        return false;
    }

  private Q_SLOTS:
    void cleanup() {
        dialog_.reset();
        warnings_.check();
    }

    /// The title that was typed is in the file, and in the specification that redraws it.
    void theTitleCanBeWritten() {
        open(samples::losses());
        QCOMPARE(dialog_->options().title_text, QString());
        type("exportTitleText", "Two losses, seed 42");
        const Figure figure = samples::losses();
        const QByteArray svg = renderFigure(figure, dialog_->options());
        QVERIFY(svg.contains("Two losses, seed 42"));
        QVERIFY(!svg.contains((figure.title + u' ' + figure.subtitle).toUtf8()));
        FigureSpec spec = dialog_->specFor("figure.svg");
        spec.panel = "training";
        const FigureSpec read = figureSpecFromJson(figureSpecToJson(spec));
        QVERIFY(read.paper.title);
        QCOMPARE(read.paper.title_text, QString("Two losses, seed 42"));
        dialog_->findChild<QCheckBox*>("exportTitle")->setChecked(false);
        QVERIFY(!dialog_->findChild<QLineEdit*>("exportTitleText")->isEnabled());
        spec = dialog_->specFor("figure.svg");
        spec.panel = "training";
        QVERIFY(!figureSpecFromJson(figureSpecToJson(spec)).paper.title);
    }

    /// An empty field keeps its end of the axis; the zoom that the figure came with stays otherwise.
    void theLimitsCanBeSet() {
        PlotViewState zoomed;
        zoomed.plots = {{{Range{2, 30}, {}}, {}}};
        open(samples::losses(), zoomed);
        QCOMPARE(dialog_->options().view, zoomed);
        type("limitYFrom", "0.5");
        type("limitYTo", "4");
        type("limitXTo", "20");
        const PlotViewState view = dialog_->options().view;
        QCOMPARE(view.plots.at(0).y.range, std::optional(Range(0.5, 4)));
        QCOMPARE(view.plots.at(0).x.range, std::optional(Range(2, 20)));
        QVERIFY(canSave());
    }

    void aRangeThatIsNoneIsExplained_data() {
        QTest::addColumn<QString>("from");
        QTest::addColumn<QString>("to");
        QTest::addColumn<QString>("line");
        QTest::newRow("no number") << "1,5"
                                   << "3"
                                   << "not a number";
        QTest::newRow("swapped") << "3"
                                 << "1"
                                 << "the first must be below the second";
        QTest::newRow("equal") << "3"
                               << "3"
                               << "the first must be below the second";
        QTest::newRow("infinite") << "0"
                                  << "inf"
                                  << "";
    }
    void aRangeThatIsNoneIsExplained() {
        QFETCH(QString, from);
        QFETCH(QString, to);
        QFETCH(QString, line);
        open(samples::losses());
        const PlotViewState before = dialog_->options().view;
        type("limitYFrom", from);
        type("limitYTo", to);
        QVERIFY2(problems().startsWith("Limits of y: ") && problems().contains(line), qPrintable(problems()));
        QVERIFY(!canSave());
        QCOMPARE(dialog_->options().view, before);
        type("limitYFrom", {});
        type("limitYTo", {});
        QVERIFY(canSave());
    }

    void aLogAxisBeginsAboveZero() {
        Figure figure = samples::losses();
        figure.plots[0].y.scale = Scale::Log;
        open(figure);
        type("limitYFrom", "0");
        QVERIFY2(problems().contains("a log axis begins above 0"), qPrintable(problems()));
    }

    void aMapHasNoLimits() {
        open(samples::theta());
        QVERIFY(!dialog_->findChild<QLineEdit*>("limitYFrom"));
        QVERIFY(canSave());
    }
};

NORMSCOPE_WIDGET_TEST(ExportDialogTest)
#include "export_dialog_test.moc"
