// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/state/pending.h"

#include "tests/support/test_main.h"

#include <QtTest>

using namespace normscope::app;
using Numbers = Pending<int>;
using Names = std::vector<std::string>;

class PendingTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aRequestIsTakenOnce() {
        PendingRequests all;
        Numbers one(all, "one", Numbers::Replies::OfEach), other(all, "other", Numbers::Replies::OfEach);
        const auto first = one.ask(1), second = one.ask(2);
        QVERIFY(second > first);
        QVERIFY(!other.take(first));  // a token is of one kind
        QVERIFY(all.waiting() == (Names{"one", "one"}));
        QCOMPARE(one.take(first).value_or(0), 1);
        QVERIFY(!one.take(first));
        QCOMPARE(one.take(second).value_or(0), 2);
        QVERIFY(all.waiting().empty());
    }

    void aNewerRequestDropsTheOlder() {
        PendingRequests all;
        std::vector<int> dropped;
        Numbers newest(all, "newest", Numbers::Replies::OfNewest, PendingKind::Owner::Session,
                       [&](int& asked) { dropped.push_back(asked); });
        const auto first = newest.ask(1), second = newest.ask(2);
        QVERIFY(dropped == std::vector<int>{1});
        QVERIFY(!newest.find(first) && !newest.take(first));
        *newest.find(second) = 3;  // a reply in parts
        QCOMPARE(*newest.newest(), 3);
        QVERIFY(newest.any([](int asked) { return asked == 3; }));
        newest.drop();
        QVERIFY((dropped == std::vector<int>{1, 3}));
        QVERIFY(!newest.waiting() && !newest.newest());
    }

    void leavingASessionDropsWhatBelongsToIt() {
        PendingRequests all;
        int dropped = 0;
        Numbers ofSession(all, "session", Numbers::Replies::OfEach, PendingKind::Owner::Session,
                          [&](int&) { ++dropped; });
        Numbers ofWindow(all, "window", Numbers::Replies::OfEach, PendingKind::Owner::Window);
        const auto lost = ofSession.ask(1), kept = ofWindow.ask(2);
        const auto session = all.session();
        all.closeSession();
        QVERIFY(all.session() != session);
        QCOMPARE(dropped, 1);
        QVERIFY(!ofSession.take(lost));
        QVERIFY(all.waiting() == Names{"window"});
        QCOMPARE(ofWindow.take(kept).value_or(0), 2);
    }

    void aKindMayEndBeforeTheOthers() {
        PendingRequests all;
        Numbers stays(all, "stays", Numbers::Replies::OfEach);
        stays.ask(1);
        {
            Numbers ends(all, "ends", Numbers::Replies::OfEach);
            ends.ask(2);
            QCOMPARE(all.waiting().size(), std::size_t{2});
        }
        QVERIFY(all.waiting() == Names{"stays"});
        all.closeSession();
        QVERIFY(all.waiting().empty());
    }
};

NORMSCOPE_TEST(PendingTest)
#include "pending_test.moc"
