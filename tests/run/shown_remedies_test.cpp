// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/shown_remedies.h"

#include "tests/support/test_main.h"

#include <QtTest>

using namespace normscope;

namespace {

using Indices = std::vector<std::size_t>;

constexpr auto kTraining = RemedyKind::Training, kWeights = RemedyKind::Weights, kStack = RemedyKind::Stack;

struct Drafts {
    std::vector<Remedy> remedies;
    std::vector<std::optional<DraftResult>> drafts;

    Drafts& add(RemedyKind kind, double gain, bool enough = true) {
        Remedy remedy;
        remedy.kind = kind;
        remedies.push_back(remedy);
        DraftResult draft;
        draft.gain = gain;
        draft.enough = enough;
        drafts.emplace_back(draft);
        return *this;
    }
    Indices shown() const { return shown_remedies(remedies, drafts); }
};

}  // namespace

class ShownRemediesTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void byTheGradientWhereItDecides() {
        Drafts drafts;
        drafts.add(kStack, 0.03).add(kStack, 0).add(kTraining, 0.01).add(kWeights, 0).add(kWeights, 0.02);
        const double gradients[] = {0.05, 0.4, 0.3, 3, 0.1};
        for (std::size_t i = 0; i < 5; ++i) {
            drafts.drafts[i]->by_gradient = true;
            drafts.drafts[i]->gradient = gradients[i];
        }
        QCOMPARE(drafts.shown(), (Indices{1, 3, 4}));
    }

    void ofEachKindTheLargestGainInTheOrderOfTheList() {
        Drafts drafts;
        drafts.add(kTraining, 0.1).add(kTraining, 0.2).add(kWeights, 0.4).add(kWeights, 0.3);
        drafts.add(kStack, 0.8).add(kStack, 0.9).add(kStack, 0.7);
        QCOMPARE(drafts.shown(), (Indices{1, 2, 5}));
    }

    void whatIsNotEnoughIsNotShown() {
        Drafts drafts;
        drafts.add(kTraining, 5, false).add(kWeights, 0.3).add(kStack, 0.2);
        QCOMPARE(drafts.shown(), (Indices{1, 2}));
        drafts.drafts[1].reset();  // not done yet
        QCOMPARE(drafts.shown(), (Indices{2}));
        QCOMPARE(Drafts().shown(), Indices());
    }

    void theOthersFollowWhereAKindHasNone() {
        Drafts drafts;
        drafts.add(kTraining, 0.1, false).add(kWeights, 0.2).add(kStack, 0.5).add(kStack, 0.9);
        drafts.add(kStack, 0.7);
        QCOMPARE(drafts.shown(), (Indices{1, 3, 4}));
    }
};

NORMSCOPE_TEST(ShownRemediesTest)
#include "shown_remedies_test.moc"
