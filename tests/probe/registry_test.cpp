// SPDX-License-Identifier: GPL-3.0-or-later
// The contract of a probe: it gives what its row declares, and the passes that it does not declare are not
// made.
#include "core/probe/registry.h"

#include "core/model/transformer.h"
#include "core/train/update_norms.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cstring>
#include <set>
#include <stdexcept>

using namespace normscope;

namespace {

StackSpec stack_of(Scheme scheme, int depth = 3, int heads = 2) {
    StackSpec s;
    s.depth = depth;
    s.d_model = 8;
    s.heads = heads;
    s.context = 6;
    s.scheme = scheme;
    s.residual_step = 0.6;
    complete(s, 9);
    return s;
}

Batch batch_of(int sequences = 3) {
    Batch batch{sequences, 6, {}, {}};
    for (int i = 0; i < sequences * 6; ++i) {
        batch.tokens.push_back((7 * i + 3) % 9);
        batch.targets.push_back((4 * i + 1) % 9);
    }
    return batch;
}

StackSizes sizes_of(const StackSpec& s) {
    return {static_cast<std::size_t>(s.depth), static_cast<std::size_t>(s.heads),
            static_cast<std::size_t>(s.d_model)};
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const auto& line : lines) text += line + "; ";
    return text;
}

/// A probe that uses the needs set by the test, regardless of its row.
int asked = 0;
template <class T>
ProbeResult greedy(ProbeInput<T>& input) {
    if (asked == 1) input.tape();
    if (asked == 2) input.backward();
    if (asked == 3) input.use_tangents();
    if (asked == 4) input.next_update();
    if (asked == 5) input.parameter_gradients();
    return {};
}
double nothing(const ProbeShape&) {
    return 0;
}
ProbeInfo greedy_probe(ProbeNeeds needs) {
    return {"greedy", "Greedy", "", "", needs, ProbeCost::Cheap, nothing, greedy<float>, greedy<double>, {}};
}

}  // namespace

class RegistryTest : public QObject {
    Q_OBJECT
    ThreadPool pool_{1};

    template <class T>
    void check(const StackSpec& spec, const Batch& batch) {
        const Transformer<T> model(spec, 3);
        for (const ProbeInfo& probe : probe_registry()) {
            ProbeInput<T> input(model, batch, pool_, 5);
            int updates = 0;
            input.update = [&] {
                ++updates;
                return no_update(model.table());
            };
            const ProbeResult result = run_probe<T>(probe, input);
            const auto problems = schema_problems(probe, result, sizes_of(spec));
            QVERIFY2(problems.empty(), (std::string(probe.id) + ": " + joined(problems)).c_str());
            QCOMPARE(result.probe, std::string(probe.id));
            for (const NamedArray& array : result.arrays) {
                std::size_t count = 1;
                for (const std::size_t n : array.shape) count *= n;
                QVERIFY2(array.data.size() == count, array.name.c_str());
                const ArrayInfo* info = find_array(probe, array.name);
                if (info && !(info->flags & kMayBeNan))
                    for (const double v : array.data) QVERIFY2(std::isfinite(v), array.name.c_str());
            }
            // One pass each, and none that is not declared.
            QCOMPARE(input.passes().forward, needs_forward(probe.needs) ? 1 : 0);
            QCOMPARE(input.passes().backward, needs_backward(probe.needs) ? 1 : 0);
            QCOMPARE(input.passes().updates, probe.needs == ProbeNeeds::Update ? 1 : 0);
            QCOMPARE(updates, input.passes().updates);
        }
    }

  private Q_SLOTS:
    void resultsAreWhatTheRowsDeclare_data() {
        QTest::addColumn<int>("scheme");
        for (int i = 0; i <= static_cast<int>(Scheme::Custom); ++i)
            QTest::addRow("%s", word_of(static_cast<Scheme>(i))) << i;
    }
    void resultsAreWhatTheRowsDeclare() {
        QFETCH(int, scheme);
        const StackSpec spec = stack_of(static_cast<Scheme>(scheme));
        check<float>(spec, batch_of());
        check<double>(spec, batch_of());
    }

    /// Shapes that leave arrays out or make axes short.
    void alsoAtTheEdges() {
        check<float>(stack_of(Scheme::Pre, 1, 1), batch_of(2));
        check<double>(stack_of(Scheme::Peri, 2, 4), batch_of(2));
    }

    void togetherTheyShareTheirPasses() {
        const Transformer<float> model(stack_of(Scheme::Pre), 3);
        const Batch batch = batch_of();
        ProbeInput<float> input(model, batch, pool_, 0);
        std::vector<const ProbeInfo*> all;
        for (const ProbeInfo& probe : probe_registry())
            if (probe.needs != ProbeNeeds::Update) all.push_back(&probe);
        std::size_t calls = 0;
        run_probes<float>(all, input, [&](const ProbeResult&) { ++calls; });
        QCOMPARE(calls, all.size());
        QCOMPARE(input.passes().forward, 1);
        QCOMPARE(input.passes().backward, 1);
        QCOMPARE(input.passes().updates, 0);
    }

    /// Each need allows its own passes and throws at every other.
    void needsAreObeyed() {
        const Transformer<float> model(stack_of(Scheme::Pre), 3);
        const Batch batch = batch_of();
        const struct {
            ProbeNeeds needs;
            std::set<int> allowed;
        } cases[] = {{ProbeNeeds::Nothing, {}},
                     {ProbeNeeds::Forward, {1}},
                     {ProbeNeeds::Backward, {1, 2, 5}},
                     {ProbeNeeds::Tangents, {1, 3}},
                     {ProbeNeeds::Update, {4}}};
        for (const auto& c : cases)
            for (asked = 0; asked <= 5; ++asked) {
                ProbeInput<float> input(model, batch, pool_, 0);
                // Whoever makes the update may use any pass for it.
                input.update = [&] {
                    input.parameter_gradients();
                    return no_update(model.table());
                };
                const ProbeInfo probe = greedy_probe(c.needs);
                bool thrown = false;
                try {
                    run_probe<float>(probe, input);
                } catch (const std::logic_error&) {
                    thrown = true;
                }
                QCOMPARE(thrown, asked != 0 && c.allowed.count(asked) == 0);
                input.tape();  // outside of a probe everything may be asked for
            }
    }

    void whatDiffersIsStated() {
        const StackSpec spec = stack_of(Scheme::Pre);
        const Transformer<double> model(spec, 3);
        const Batch batch = batch_of();
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeInfo& growth = *find_probe("growth");
        const ProbeResult good = run_probe<double>(growth, input);
        const auto problem = [&](const std::function<void(ProbeResult&)>& damage) {
            ProbeResult bad = good;
            damage(bad);
            return joined(schema_problems(growth, bad, sizes_of(spec)));
        };
        QCOMPARE(problem([](ProbeResult& r) { r.arrays[0].unit = "nat"; }), "ma: unit nat, declared 1; ");
        QCOMPARE(problem([](ProbeResult& r) { r.arrays[0].axes = {"layer"}; }),
                 "ma: other axis names than declared; ");
        QCOMPARE(problem([](ProbeResult& r) { r.arrays[0].shape = {6}; }),
                 "ma: axis hidden_state has 6 entries, the recipe's stack has 7; ");
        QCOMPARE(problem([](ProbeResult& r) { r.arrays[1].name = "spread"; }),
                 "ma_error: missing; spread: not declared; ");
        QCOMPARE(problem([](ProbeResult& r) { r.labels["mood"] = {"good"}; }), "label mood: not declared; ");
        // A file of an earlier version lacks what came later, and has no errors of its averages.
        ProbeResult old = good;
        std::erase_if(old.arrays, [](const NamedArray& a) {
            return a.name.ends_with("_error") || a.name == "gpas_estimate" || a.name == "bound_uniform_ma";
        });
        QCOMPARE(joined(shape_problems(growth, old, sizes_of(spec))), "");
        QCOMPARE(joined(shape_problems(growth, old, {})), "");
        std::erase_if(old.arrays, [](const NamedArray& a) { return a.name == "rms"; });
        QCOMPARE(joined(shape_problems(growth, old, sizes_of(spec))), "rms: missing; ");
    }

    void rowsAreComplete() {
        std::set<std::string> ids;
        for (const ProbeInfo& probe : probe_registry()) {
            QVERIFY(ids.insert(probe.id).second);
            QVERIFY(!probe.arrays.empty() && probe.operations && probe.run_float && probe.run_double);
            std::set<std::string> names;
            for (const ArrayInfo& info : probe.arrays) {
                QVERIFY2(names.insert(info.name).second, info.name);
                QVERIFY2(std::strlen(info.meaning) > 0, info.name);
            }
            const auto lines = describe_probe(probe);
            // Title, formula, source, selection, of one with formats their names.
            QCOMPARE(lines.size(), 4 + probe.arrays.size() + probe.labels.size() + !probe.formats.empty());
            double share = 0;
            for (const FormatInfo& format : probe.formats) share += format.share;
            QVERIFY(probe.formats.empty() || std::abs(share - 1) < 1e-9);
            QVERIFY2(std::strlen(probe.formula) > 0 && std::strlen(probe.source) > 0, probe.id);
        }
        QCOMPARE(describe_probe(*find_probe("updates")).at(3),
                 "  update_ratio [sample, group]: ‖Δθ‖/‖θ‖ of a group of tensors in this step's update; NaN "
                 "where not defined");
    }
};

NORMSCOPE_TEST(RegistryTest)
#include "registry_test.moc"
