// SPDX-License-Identifier: GPL-3.0-or-later
// A selection of places: the same bits of what is selected, NaN elsewhere, and less work.
#include "core/probe/interface/places.h"
#include "core/probe/registry.h"
#include "core/train/update_norms.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <cstring>
#include <random>
#include <set>

using namespace normscope;

namespace {

constexpr int kTokens = 5, kDepth = 3;

StackSpec stack_of(Scheme scheme) {
    StackSpec s;
    s.depth = kDepth;
    s.d_model = 8;
    s.heads = 2;
    s.context = kTokens;
    s.scheme = scheme;
    s.gpas.enabled = scheme == Scheme::Pre;
    s.layout = scheme == Scheme::Peri ? Layout::Parallel : Layout::Serial;
    complete(s, 9);
    return s;
}

template <class T>
Transformer<T> model_of(const StackSpec& spec) {
    Transformer<T> model(spec, 3);
    std::mt19937 generator(4);
    std::normal_distribution<double> normal(0, 0.3);
    for (const TensorInfo& t : model.table().tensors())
        if (t.shape.size() < 2)
            for (std::size_t i = t.offset; i < t.offset + t.count; ++i)
                model.parameters()[i] += static_cast<T>(normal(generator));
    return model;
}

Batch batch_of() {
    Batch batch{3, kTokens, {}, {}};
    for (int i = 0; i < 3 * kTokens; ++i) {
        batch.tokens.push_back((7 * i + 3) % 9);
        batch.targets.push_back((4 * i + 1) % 9);
    }
    return batch;
}

struct Sample {
    ProbeResult result;
    std::int64_t pieces = 0;
};

template <class T>
Sample sample_of(const ProbeInfo& probe, const Transformer<T>& model, const std::string& only,
                 int threads = 1) {
    static const Batch batch = batch_of();
    ThreadPool pool(threads);
    ProbeInput<T> input(model, batch, pool, 0);
    input.update = [&] {
        UpdateNorms norms = no_update(model.table());
        norms.made_by = "made up";
        for (std::size_t i = 0; i < norms.groups.size(); ++i) {
            norms.ratio[i] = 0.1 * double(i + 1);
            norms.under_eps[i] = 0.01 * double(i + 1);
            norms.bf16_unmoved[i] = 0.02 * double(i + 1);
        }
        return norms;
    };
    input.only[probe.id] = PlaceSelection::parse(only, "only");
    return {run_probe(probe, input), input.pieces()};
}

std::string block(std::size_t layer) {
    return "blocks." + std::to_string(layer);
}
std::string half(std::size_t sublayer) {
    return block(sublayer / 2) + (sublayer % 2 ? ".ffn" : ".attn");
}

/// The places of the entries of an array, one name an entry; empty where it has none of its own. Written out
/// by probe and array, not by the schema.
std::vector<std::string> places_of(const std::string& probe, const std::string& name,
                                   const ProbeResult& whole) {
    const std::string array = name.ends_with("_error") ? name.substr(0, name.size() - 6) : name;
    const auto all = [](std::size_t count, const auto& place) {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < count; ++i) names.push_back(place(i));
        return names;
    };
    const auto state = [](std::size_t k) { return k == 0 ? std::string("embedding") : half(k - 1); };
    const auto attention = [](std::size_t l) { return block(l) + ".attn"; };
    const auto feed_forward = [](std::size_t l) { return block(l) + ".ffn"; };
    if (probe == "gradients")
        return array == "params"                        ? all(6, half)
               : array == "hidden" || array == "scaled" ? all(7, state)
                                                        : std::vector<std::string>();
    if (probe == "residual") return all(6, half);
    if (probe == "updates") return whole.labels.at("groups");
    if (probe == "null_space") return whole.labels.at("sites");
    if (probe == "tokens" || probe == "shift" || probe == "transport") return all(7, state);
    if (probe == "mismatch") {
        if (array.starts_with("mxe4m3_gamma")) return whole.labels.at("sites");
        if (array.starts_with("mxe4m3_weights")) return all(3, block);
        return array.ends_with("_hidden") ? all(7, state) : std::vector<std::string>();
    }
    if (probe == "attention") return all(3, attention);
    if (probe == "theta") return array == "width" ? std::vector<std::string>() : all(3, attention);
    if (probe == "gates")
        return array == "factor" ? all(6, half) : all(3, [](std::size_t l) { return block(l) + ".gate"; });
    if (probe == "importance")
        return array == "loss" ? std::vector<std::string>() : array == "layer" ? all(3, block) : all(6, half);
    if (probe == "weights") {
        if (array == "sublayer_norm") return all(6, half);
        std::vector<std::string> names;
        for (std::size_t l = 0; l < 3; ++l)
            for (const char* end : {"attn.wq", "attn.wk", "attn.wv", "attn.wo", "ffn.w1", "ffn.w2"})
                names.push_back(block(l) + "." + end);
        return names;
    }
    if (probe == "lipschitz") {
        if (array.starts_with("norm_gain")) return whole.labels.at("sites");
        if (array.starts_with("sublayer")) return all(6, half);
        if (array.starts_with("layer")) return all(3, block);
        return array.starts_with("ffn") ? all(3, feed_forward) : all(3, attention);
    }
    if (probe == "jacobian") {
        if (array.find("end_to_end") != std::string::npos || array.starts_with("cumulative")) return {};
        return array.starts_with("layer") ? all(3, block) : all(6, half);
    }
    if (probe == "fragility") {
        if (array == "c_ln" || array == "ln_term" || array == "cancellation" || array.starts_with("rho_"))
            return whole.labels.at("sites");
        if (array == "kappa_eff" || array == "predictor_v1" || array == "local_v2") return all(3, block);
        return array.starts_with("total") || array == "transport" || array == "predictor_v2"
                   ? std::vector<std::string>()
                   : all(3, attention);
    }
    if (probe == "spectra") {
        if (array == "alignment") return {};
        if (array == "sublayer_top") return all(6, half);
        return array == "layer_top" || array == "stable_rank" ? all(3, block) : std::vector<std::string>();
    }
    return {};
}

/// Numbers of the whole stack that a selection does not measure.
const std::set<std::string> kNotMeasured{"theta/width",
                                         "jacobian/end_to_end_sv",
                                         "jacobian/end_to_end_exact_nulls",
                                         "jacobian/end_to_end_below_resolution",
                                         "jacobian/cumulative_median",
                                         "jacobian/cumulative_slope",
                                         "jacobian/position_end_to_end_sv",
                                         "jacobian/end_to_end_top",
                                         "jacobian/full_end_to_end",
                                         "jacobian/full_end_to_end_error",
                                         "fragility/transport",
                                         "fragility/predictor_v2",
                                         "fragility/total_v1",
                                         "fragility/total_v2",
                                         "spectra/end_to_end_top",
                                         "spectra/end_to_end_top_error",
                                         "spectra/end_to_end_bottom",
                                         "spectra/end_to_end_bottom_error",
                                         "spectra/product_gain",
                                         "spectra/lyapunov",
                                         "spectra/lyapunov_error"};

bool same_bits(double a, double b) {
    return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
}

/// What is wrong with a sample under a selection, in one line; empty: nothing. `finite` counts the selected
/// entries that are numbers.
QString problem_of(const std::string& probe, const ProbeResult& whole, const ProbeResult& part,
                   const PlaceSelection& only, int& finite) {
    if (whole.arrays.size() != part.arrays.size()) return "other arrays";
    for (std::size_t a = 0; a < whole.arrays.size(); ++a) {
        const NamedArray &all = whole.arrays[a], &some = part.arrays[a];
        const QString name = QString::fromStdString(probe + "/" + all.name);
        if (all.name != some.name || all.shape != some.shape || all.data.size() != some.data.size())
            return name + ": another shape";
        const auto places = places_of(probe, all.name, whole);
        for (std::size_t i = 0; i < all.data.size(); ++i) {
            bool selected = kNotMeasured.count(name.toStdString()) == 0;
            if (!places.empty()) selected = only.contains(places[i / (all.data.size() / places.size())]);
            if (name == "spectra/alignment")
                selected = only.contains(block(i)) && only.contains(block(i + 1));
            const QString at = QString("%1[%2]").arg(name).arg(i);
            if (!selected && !std::isnan(some.data[i])) return at + " is not selected and a number";
            if (selected && !same_bits(all.data[i], some.data[i]))
                return at + QString(": %1 instead of %2").arg(some.data[i]).arg(all.data[i]);
            finite += selected && !places.empty() && std::isfinite(some.data[i]);
        }
    }
    return {};
}

template <class T>
void compare(const ProbeInfo& probe, Scheme scheme, const std::string& only) {
    const auto model = model_of<T>(stack_of(scheme));
    const ProbeResult whole = sample_of(probe, model, "").result;
    int finite = 0;
    for (const int threads : {1, 2}) {
        const ProbeResult part = sample_of(probe, model, only, threads).result;
        const QString problem =
            problem_of(probe.id, whole, part, PlaceSelection::parse(only, "only"), finite);
        QVERIFY2(problem.isEmpty(), qPrintable(problem));
        QCOMPARE(part.only(), PlaceSelection::parse(only, "only").text());
        QVERIFY(whole.only().empty());
        const StackSizes sizes{kDepth, 2, 8};
        const auto schema = schema_problems(probe, part, sizes);
        QVERIFY2(schema.empty(), schema.empty() ? "" : schema.front().c_str());
    }
    if (only == "blocks.1") QVERIFY2(finite > 0, "nothing was compared");
}

}  // namespace

class SelectionTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void selectedEntriesHaveTheSameBits_data() {
        QTest::addColumn<QString>("probe");
        QTest::addColumn<int>("scheme");
        QTest::addColumn<QString>("only");
        for (const ProbeInfo& probe : probe_registry())
            if (has_places(probe))
                for (const Scheme scheme : {Scheme::Pre, Scheme::Post, Scheme::Peri})
                    for (const char* only : {"blocks.1", "blocks.0.attn, blocks.2.ffn", "blocks.[01]",
                                             "blocks.*.norm_in, final_norm, embedding", "blocks.*.w?, norms",
                                             "blocks.2.gate", "blocks.*"})
                        QTest::addRow("%s %s %s", probe.id, word_of(scheme), only)
                            << QString(probe.id) << static_cast<int>(scheme) << QString(only);
    }
    void selectedEntriesHaveTheSameBits() {
        QFETCH(QString, probe);
        QFETCH(int, scheme);
        QFETCH(QString, only);
        // Gates are there under Pre alone; elsewhere they are NaN.
        if (probe == "gates" && static_cast<Scheme>(scheme) != Scheme::Pre) return;
        const ProbeInfo& info = *find_probe(probe.toStdString());
        compare<double>(info, static_cast<Scheme>(scheme), only.toStdString());
        if (QTest::currentTestFailed()) return;
        compare<float>(info, static_cast<Scheme>(scheme), only.toStdString());
    }

    /// A probe without places of its own is the same under any selection.
    void wholeProbesIgnoreIt() {
        int whole = 0;
        const auto model = model_of<double>(stack_of(Scheme::Pre));
        for (const ProbeInfo& probe : probe_registry()) {
            if (has_places(probe)) continue;
            ++whole;
            const ProbeResult all = sample_of(probe, model, "").result,
                              same = sample_of(probe, model, "blocks.1").result;
            QVERIFY(same.only().empty());
            for (std::size_t a = 0; a < all.arrays.size(); ++a)
                for (std::size_t i = 0; i < all.arrays[a].data.size(); ++i)
                    QVERIFY2(same_bits(all.arrays[a].data[i], same.arrays[a].data[i]), probe.id);
        }
        QCOMPARE(whole, 3);  // growth, paths, ranges
    }

    /// Pieces of work, counted: one block of three takes about a third of what depends on the selection.
    void theWorkOfOtherPlacesIsSkipped_data() {
        QTest::addColumn<QString>("probe");
        for (const ProbeInfo& probe : probe_registry())
            if (has_places(probe) && std::string(probe.id) != "updates")
                QTest::newRow(probe.id) << QString(probe.id);
    }
    void theWorkOfOtherPlacesIsSkipped() {
        QFETCH(QString, probe);
        const ProbeInfo& info = *find_probe(probe.toStdString());
        const auto model = model_of<double>(stack_of(Scheme::Pre));
        const auto all = sample_of(info, model, "").pieces, one = sample_of(info, model, "blocks.1").pieces,
                   none = sample_of(info, model, "tok_emb").pieces;
        QVERIFY2(none < one && one < all, qPrintable(QString("%1, %2, %3").arg(none).arg(one).arg(all)));
        // At most three are of the shared passes; the perturbed and the low-precision ones are whole.
        if (probe != "shift" && probe != "mismatch")
            QVERIFY2(4 * (none - 3) <= all, qPrintable(QString("%1 of %2").arg(none).arg(all)));
        QVERIFY2(3 * (one - none) <= 1.25 * (all - none),
                 qPrintable(QString("%1, %2, %3").arg(none).arg(one).arg(all)));
    }

    /// Two sums over each tensor of a group: a tensor that is not selected is not read.
    void updatesOfOtherGroupsAreNotRead() {
        const auto model = model_of<double>(stack_of(Scheme::Post));
        const ParameterTable& table = model.table();
        const std::vector<double> before(model.parameters().begin(), model.parameters().end());
        std::vector<double> after = before;
        for (double& v : after) v *= 1.5;
        const auto only = PlaceSelection::parse("blocks.1, norms", "only");
        const UpdateNorms whole = update_norms<double>(table, before, after, nullptr),
                          part = update_norms<double>(table, before, after, nullptr, only);
        QCOMPARE(part.groups, whole.groups);
        for (std::size_t i = 0; i < whole.ratio.size(); ++i) {
            if (only.contains(whole.groups[i]))
                QVERIFY(same_bits(part.ratio[i], whole.ratio[i]) && std::isfinite(part.ratio[i]));
            else
                QVERIFY(std::isnan(part.ratio[i]));
        }
    }

    /// The operation count of a probe is that of the selected share where its work is.
    void operationCountsScale() {
        const ProbeShape shape = probe_shape(stack_of(Scheme::Pre), 2, 1);
        const auto count = [&](const ProbeInfo& probe, const char* only) {
            return selected_operations(probe, shape, PlaceSelection::parse(only, "only"));
        };
        for (const ProbeInfo& probe : probe_registry()) {
            const double all = probe.operations(shape);
            QCOMPARE(count(probe, ""), all);
            if (!has_places(probe)) {
                QCOMPARE(count(probe, "blocks.1"), all);
                continue;
            }
            // Its passes are of the whole stack; what is skipped next to them is not counted.
            if (std::string(probe.id) == "mismatch") {
                QCOMPARE(count(probe, "blocks.1"), all);
                continue;
            }
            const double one = count(probe, "blocks.1"), none = count(probe, "tok_emb");
            QVERIFY2(none < one && one < all, probe.id);
        }
        for (const char* id : {"null_space", "theta", "jacobian", "importance", "attention", "residual"}) {
            const double share = count(*find_probe(id), "blocks.1") / find_probe(id)->operations(shape);
            QVERIFY2(std::abs(share - 1.0 / 3) < 1e-9, id);
        }
    }

    void helpNamesWhatASelectionDoes() {
        for (const ProbeInfo& probe : probe_registry()) {
            const std::string last = describe_probe(probe).back();
            QCOMPARE(last.find("leaves the entries of other places NaN") != std::string::npos,
                     has_places(probe));
        }
        int nan = 0;
        for (const std::string& line : describe_probe(*find_probe("jacobian")))
            nan += line.find("NaN under a selection") != std::string::npos;
        QCOMPARE(nan, 8);
    }
};

NORMSCOPE_TEST(SelectionTest)
#include "selection_test.moc"
