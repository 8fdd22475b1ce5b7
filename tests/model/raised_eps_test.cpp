// SPDX-License-Identifier: GPL-3.0-or-later
// ε of single norms: a pass uses it where it is raised, and nowhere else.
#include "core/base/error.h"
#include "core/base/nan.h"
#include "core/model/transformer.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <numeric>
#include <vector>

using namespace normscope;

namespace {

StackSpec stack(Scheme scheme) {
    StackSpec s;
    s.depth = 3;
    s.d_model = 12;
    s.heads = 2;
    s.context = 5;
    s.scheme = scheme;
    s.embedding_norm = true;
    complete(s, 7);
    validate(s);
    return s;
}

Batch tokens() {
    Batch batch{2, 5, {}, {}, {}};
    for (int i = 0; i < 10; ++i) batch.tokens.push_back(i % 7), batch.targets.push_back((3 * i + 1) % 7);
    return batch;
}

struct OnePass {
    std::vector<double> logits, gradient;
    Tape<double> tape;
};

OnePass pass_of(const Transformer<double>& model) {
    ThreadPool pool(1);
    OnePass pass;
    const Batch batch = tokens();
    model.forward(batch, pass.tape, pool);
    const HostView<double> logits =
        pass.tape.view(pass.tape.logits, batch.tokens.size() * static_cast<std::size_t>(model.spec().vocab));
    pass.logits.assign(logits.begin(), logits.end());
    Gradients<double> gradients;
    model.clear(gradients, batch.sequences);
    model.backward(batch, pass.tape, 1, gradients, pool);
    model.reduce(gradients, pool);
    const HostView<double> total(gradients.total());
    pass.gradient.assign(total.begin(), total.end());
    return pass;
}

}  // namespace

class RaisedEpsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void ofAllNormsItIsTheOneOfTheStack_data() {
        QTest::addColumn<int>("scheme");
        for (const Scheme scheme : {Scheme::Pre, Scheme::Post, Scheme::Peri})
            QTest::newRow(word_of(scheme)) << static_cast<int>(scheme);
    }
    void ofAllNormsItIsTheOneOfTheStack() {
        QFETCH(int, scheme);
        Transformer<double> one(stack(static_cast<Scheme>(scheme)), 3), each = one;
        one.numerics.eps = 0.03;
        each.raise_eps(std::vector<double>(each.sites().size(), 0.03));
        const OnePass a = pass_of(one), b = pass_of(each);
        QCOMPARE(b.logits, a.logits);
        QCOMPARE(b.gradient, a.gradient);
        QVERIFY(pass_of(Transformer<double>(each.spec(), 3)).logits != a.logits);
    }

    /// 1/σ_ε of every norm against its input, in one pass that raises ε of one norm.
    void ofOneNormItIsOfThatNormAlone() {
        for (const Scheme scheme : {Scheme::Pre, Scheme::Post, Scheme::Peri}) {
            Transformer<double> model(stack(scheme), 3);
            const auto& sites = model.sites();
            for (std::size_t raised = 0; raised < sites.size(); ++raised) {
                std::vector<double> by_site(sites.size(), 0.0);
                by_site[raised] = 0.2;
                model.raise_eps(by_site);
                const OnePass pass = pass_of(model);
                for (std::size_t i = 0; i < sites.size(); ++i) {
                    const auto read = norm_site_input(sites[i], pass.tape);
                    const HostView<double> x = pass.tape.view(read.x, 10 * 12),
                                           rstd = pass.tape.view(read.statistics.rstd, 10);
                    const double eps = i == raised ? 0.2 : 1e-5;
                    QCOMPARE(norm_eps(model, sites[i]), eps);
                    for (std::size_t r = 0; r < 10; ++r) {
                        const double* token = x.data() + 12 * r;
                        const double mean = std::accumulate(token, token + 12, 0.0) / 12;
                        double squares = 0;
                        for (int c = 0; c < 12; ++c) squares += (token[c] - mean) * (token[c] - mean);
                        const double wanted = 1 / std::sqrt(squares / 12 + eps);
                        QVERIFY2(std::abs(rstd[r] - wanted) < 1e-11 * wanted,
                                 qPrintable(QString::fromStdString(sites[i].name)));
                    }
                }
            }
        }
    }

    void theGradientIsThatOfTheRaisedForwardPass() {
        Transformer<double> model(stack(Scheme::Peri), 3);
        std::vector<double> by_site(model.sites().size(), 0.0);
        for (std::size_t i = 0; i < by_site.size(); i += 2) by_site[i] = 0.1 * double(i + 1);
        model.raise_eps(by_site);
        const std::vector<double> gradient = pass_of(model).gradient;
        const auto loss = [&] { return pass_of(model).tape.mean_loss(); };
        constexpr double h = 1e-6;
        for (std::size_t at = 0; at < gradient.size(); at += gradient.size() / 23) {
            const double kept = model.parameters()[at];
            model.parameters()[at] = kept + h;
            const double above = loss();
            model.parameters()[at] = kept - h;
            const double below = loss();
            model.parameters()[at] = kept;
            QVERIFY2(std::abs((above - below) / (2 * h) - gradient[at]) < 1e-8,
                     qPrintable(QString::number(at)));
        }
    }

    void itIsNeverLowered() {
        Transformer<double> model(stack(Scheme::Pre), 3);
        const OnePass before = pass_of(model);
        model.raise_eps(std::vector<double>(model.sites().size(), 1e-9));
        QCOMPARE(norm_eps(model, model.sites().front()), 1e-5);
        QCOMPARE(pass_of(model).logits, before.logits);
    }

    void partsOfAModelKeepIt() {
        Transformer<float> model(stack(Scheme::Peri), 3);
        std::vector<double> by_site;
        for (std::size_t i = 0; i < model.sites().size(); ++i) by_site.push_back(0.01 * double(i + 1));
        model.raise_eps(by_site);
        const Transformer<double> part(model, 1, 2, false);
        for (const NormSite& site : part.sites())
            QCOMPARE(norm_eps(part, site),
                     norm_eps(model, site.place, site.sublayer < 0 ? -1 : site.sublayer + 2));
        const Transformer<float> copy = model;
        QCOMPARE(copy.raised_eps(), by_site);
    }

    void otherListsAreRejected() {
        Transformer<double> model(stack(Scheme::Pre), 3);
        QVERIFY_THROWS_EXCEPTION(InputError, model.raise_eps({0.1}));
        for (const double bad : {-1.0, kNaN, HUGE_VAL})
            QVERIFY_THROWS_EXCEPTION(InputError,
                                     model.raise_eps(std::vector<double>(model.sites().size(), bad)));
        QVERIFY(model.raised_eps().empty());
    }
};

NORMSCOPE_TEST(RaisedEpsTest)
#include "raised_eps_test.moc"
