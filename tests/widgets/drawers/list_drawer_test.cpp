// SPDX-License-Identifier: GPL-3.0-or-later
// The list that the drawers of claims, gallery and recordings share: its filter, keys and what stays
// selected.
#include "widgets/drawers/list_drawer.h"

#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/common/row_list.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>

using namespace normscope::widgets;

namespace {

class Rows : public RowList {
  public:
    Rows() : RowList(QStringLiteral("rows"), QStringLiteral("Rows")) {}
    int painted = 0;
    int height = 20;
    using RowList::updateLayout;

  protected:
    int rowHeight(int) const override { return height; }
    void paintRow(const RowPaint& paint, int) override {
        paint.ground(paint.row, true);
        ++painted;
    }
    QString describe(const QString& id) const override { return "row " + id; }
};

class Letters : public ListDrawer {
  public:
    Letters(QWidget* over, QWidget* parent)
        : ListDrawer({"letters", "title", "search", "empty"}, new Rows, 200, over, parent),
          choice(addChoice("choice", QStringLiteral("Choice"))) {
        choice->addItems({"all", "without a vowel"});
        refresh();
    }
    void refresh() { filter(); }
    void open() { appear(); }
    Rows& rows() { return *static_cast<Rows*>(list_); }

    QStringList all = {"alpha one", "beta one", "gamma two", "xyz two"};
    QComboBox* choice;

  protected:
    QStringList allIds() const override { return all; }
    QString searched(const QString& id) const override { return id; }
    bool passes(const QString& id) const override {
        return choice->currentIndex() <= 0 || !id.contains(u'a');
    }
    QString emptyText() const override { return QStringLiteral("none of %1").arg(all.size()); }
};

struct Bench {
    QWidget window, *over = new QWidget(&window);
    Letters* drawer;
    QLineEdit* search;
    QLabel* empty;

    Bench() {
        window.resize(400, 300);
        over->setGeometry(0, 0, 400, 300);
        drawer = new Letters(over, &window);
        search = drawer->findChild<QLineEdit*>("search");
        empty = drawer->findChild<QLabel*>("empty");
        window.show();
        drawer->open();
    }
};

}  // namespace

class ListDrawerTest : public QObject {
    Q_OBJECT
    std::unique_ptr<normscope::test::WarningsFail> warnings_;

  private Q_SLOTS:
    void init() { warnings_ = std::make_unique<normscope::test::WarningsFail>(); }
    void cleanup() {
        warnings_->check();
        warnings_.reset();
    }

    void searchAndChoiceLeaveTheRowsThatMatchBoth() {
        Bench b;
        QCOMPARE(b.drawer->rows().ids(), b.drawer->all);
        b.search->setText("ONE  a");  // every word, in any case
        QCOMPARE(b.drawer->rows().ids(), QStringList({"alpha one", "beta one"}));
        b.search->setText("two");
        b.drawer->choice->setCurrentIndex(1);
        QCOMPARE(b.drawer->rows().ids(), QStringList({"xyz two"}));
        QVERIFY(b.drawer->rows().isVisible() && !b.empty->isVisible());
        b.search->setText("one");
        QVERIFY(b.drawer->rows().ids().isEmpty());
        QVERIFY(!b.drawer->rows().isVisible() && b.empty->isVisible());
        QCOMPARE(b.empty->text(), QString("none of 4"));
    }

    void theSelectedRowStaysOrTheFirstIsSelected() {
        Bench b;
        QSignalSpy chosen(&b.drawer->rows(), &RowList::chosen);
        QCOMPARE(b.drawer->rows().selected(), QString("alpha one"));
        b.drawer->rows().select("gamma two");
        QCOMPARE(chosen.takeLast().at(0).toString(), QString("gamma two"));
        b.search->setText("two");
        QCOMPARE(b.drawer->rows().selected(), QString("gamma two"));
        b.search->setText("xyz");
        QCOMPARE(b.drawer->rows().selected(), QString("xyz two"));
        QCOMPARE(chosen.takeLast().at(0).toString(), QString("xyz two"));
        b.search->setText("nothing");
        QVERIFY(b.drawer->rows().selected().isEmpty());
        QVERIFY(chosen.takeLast().at(0).toString().isEmpty());
        chosen.clear();
        b.drawer->refresh();  // the same rows
        QVERIFY(chosen.isEmpty());
    }

    void upAndDownInTheSearchFieldMoveInTheList() {
        Bench b;
        QTest::keyClick(b.search, Qt::Key_Down);
        QCOMPARE(b.drawer->rows().selected(), QString("beta one"));
        QTest::keyClick(b.search, Qt::Key_Up);
        QCOMPARE(b.drawer->rows().selected(), QString("alpha one"));
        QTest::keyClicks(b.search, "x");
        QCOMPARE(b.drawer->rows().ids(), QStringList({"xyz two"}));
        QTest::keyClick(b.search, Qt::Key_Escape);
        QVERIFY(!b.drawer->isVisible());
    }

    void rowsAreReadAndTheirHeightsFollow() {
        Bench b;
        Rows& rows = b.drawer->rows();
        QCOMPARE(rows.item(1)->data(Qt::AccessibleTextRole).toString(), QString("row beta one"));
        QCOMPARE(rows.visualItemRect(rows.item(0)).height(), 20);
        rows.grab();
        QVERIFY(rows.painted >= 4);
        rows.height = 33;
        rows.updateLayout();
        QTRY_COMPARE(rows.visualItemRect(rows.item(0)).height(), 33);
    }
};

NORMSCOPE_WIDGET_TEST(ListDrawerTest)
#include "list_drawer_test.moc"
