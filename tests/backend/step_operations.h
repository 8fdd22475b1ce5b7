// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/backend/allowed_error.h"

// Sums over many entries and the operations of StepOps (operations.h).

namespace normscope::device_side::operations {

/// Terms of both signs: the sum is smaller than its terms.
template <class Verify>
void reductions(const Verify& verify) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{2849}, std::size_t{9001}}) {
        verify("add_dot", 64, [&](auto& s) {
            auto* out = s.scalar_in(0.5);
            s.elementwise.add_dot(count, s.in(drawn(count, 1)), s.in(drawn(count, 2)), s.number(3), out);
            return Outputs{{"out", s.read(out, 1)}};
        });
        verify("add_squares", 16, [&](auto& s) {
            auto* out = s.of(std::vector<double>{0.5, 0.25, 0.125});
            s.elementwise.add_squares(3, count, count + 1, s.in(drawn(3 * count + 2, 1)), out);
            return Outputs{{"out", s.read(out, 3)}};
        });
        verify("norm_of_squares", 8, [&](auto& s) {
            auto* norm = s.number(0);
            auto squares = drawn(count, 1);
            for (double& v : squares) v = std::abs(v);
            s.step.norm_of_squares(static_cast<int>(count), s.of(squares), count == 1 ? nullptr : s.number(4),
                                   norm);
            return Outputs{{"norm", s.read(norm, 1)}};
        });
    }
    const std::vector<ArenaPiece> pieces{
        {0, 10, true}, {10, 1000, false}, {1100, 33, true}, {1200, 300, true}};
    verify("piece_squares", 16, [&](auto& s) {
        auto* squares = s.of(std::vector<double>{7, 7, 7, 7});
        s.step.piece_squares(s.of(pieces), 1, 3, s.in(drawn(1500, 1)), squares);
        return Outputs{{"squares", s.read(squares, 4)}};
    });
    for (const int count : {1, 3, 20})
        for (const bool in_place : {false, true})
            verify("sum_shards", 8, [&](auto& s) {
                using T = typename std::decay_t<decltype(s)>::scalar;
                std::vector<T*> shards;
                for (int k = 0; k < count; ++k)
                    shards.push_back(s.in(drawn(1500, static_cast<std::uint64_t>(k + 1))));
                T* total = in_place ? shards[0] : s.in(drawn(1500, 99));
                auto* squares = s.of(std::vector<double>{7, 7, 7, 7});
                s.step.sum_shards(s.of(pieces), 1, 4, count, shards.data(), total, squares);
                return Outputs{{"total", s.read(total, 1500)}, {"squares", s.read(squares, 4)}};
            });
    for (const int bad : {-1, 0, 5000, 9000})
        for (const double value : {std::numeric_limits<double>::infinity(), std::nan("")})
            verify("find_first_non_finite", 0, [&](auto& s) {
                auto x = drawn(9001, 1);
                if (bad >= 0) x[static_cast<std::size_t>(bad)] = x.back() = value;
                auto* place = s.of(std::vector<std::int64_t>{-7});
                s.step.find_first_non_finite(x.size(), s.in(x), place);
                return Outputs{{"place", s.read(place, 1)}};
            });
}

template <class Verify>
void clipping(const Verify& verify) {
    for (const double clip : {0.0, 0.5, 100.0}) {
        verify("clip_gates", 4, [&](auto& s) {
            auto* g = s.in(drawn(50, 1));
            s.step.clip_gates(3, s.of(std::vector<std::size_t>{1, 4, 49}), clip, s.number(0.9), g);
            return Outputs{{"g", s.read(g, 50)}};
        });
    }
}

template <class Verify>
void step_control(const Verify& verify) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{129}, std::size_t{9001}})
        verify("add_mean", 4, [&](auto& s) {
            auto* sum = s.number(0.5);
            s.step.add_mean(count, s.in(drawn(count, 1)), 3, sum);
            return Outputs{{"sum", s.read(sum, 1)}};
        });
    const double inf = std::numeric_limits<double>::infinity();
    for (const bool scales : {false, true})
        for (const double clip : {0.0, 0.5})
            for (const double loss : {2.0, inf, std::nan("")})
                for (const auto& [norm, stopped] :
                     {std::pair{3.0, 0}, std::pair{inf, 0}, std::pair{std::nan(""), 0}, std::pair{3.0, 1}})
                    verify("finalize_step", 4, [&, norm = norm, stopped = stopped](auto& s) {
                        using T = typename std::decay_t<decltype(s)>::scalar;
                        const StepRule rule{0.9, 0.95, 1e-8, 1.5, scales};
                        StepControl before;
                        before.loss_scale = {8, LossScale::kInterval - 1};
                        before.updates = 3;
                        before.stopped = stopped;
                        for (int i = 0; i < 70; ++i) before.watch.add(i < 30 ? 0.1 : 4.0, 1.5);
                        auto* control = s.of(std::vector<StepControl>{before});
                        auto* factors = s.of(std::vector<LossFactors<T>>{{0, 0}});
                        auto* report = s.of(std::vector<StepReport>(1));
                        auto* numbers = s.of(std::vector<OptimizerNumbers>(1));
                        auto* factor = s.number(0);
                        auto* knobs = s.of(std::vector<StepKnobs>{{0.01, 0.1, clip}});
                        s.step.begin_step(rule, 3, 7, control, factors, report);
                        auto* value = s.in(std::vector<double>{loss});
                        // Two pieces; the norm is `norm`.
                        auto* squares =
                            s.of(std::vector<double>{norm * norm * 0.36 * 4, norm * norm * 0.64 * 4});
                        auto* root = s.number(0);
                        s.step.finalize_step(rule, knobs, {1, value, 1}, {2, squares, s.number(2), root},
                                             control, report, numbers, factor);
                        const auto f = s.values(factors, 1)[0];
                        const auto r = s.values(report, 1)[0];
                        const auto c = s.values(control, 1)[0];
                        return Outputs{{"token", {double(f.token)}},
                                       {"unscale", {double(f.unscale)}},
                                       {"loss", {r.loss}},
                                       {"norm", {r.grad_norm}},
                                       {"scale", {r.loss_scale, r.after.scale, c.loss_scale.scale}},
                                       {"counts",
                                        {double(c.loss_scale.good_steps), double(c.updates),
                                         double(c.watch.above), double(c.watch.seen), double(c.stopped)}},
                                       {"event", {double(r.event)}},
                                       {"numbers", s.read(&numbers->lr, 7)},
                                       {"root", s.read(root, 1)},
                                       {"clip", s.read(factor, 1)}};
                    });
}

/// kind: 0 AdamW, 1 Adam, 2 SGD.
template <class Verify>
void optimizers(const Verify& verify, int kind) {
    const OptimizerNumbers numbers{0.01, 0.9, 0.95, 1e-8, 0.1, 0.271, 0.378};
    const std::vector<ArenaPiece> pieces{
        {0, 10, true}, {10, 1000, false}, {1100, 33, true}, {1200, 300, true}};
    verify("optimizer", 4, [&](auto& s) {
        auto *p = s.in(drawn(1500, 1)), *m = s.in(drawn(1500, 3));
        auto second = drawn(1500, 4);
        for (double& v : second) v = std::abs(v);
        auto* v = s.in(second);
        auto* g = s.in(drawn(1500, 2));
        auto* at = s.of(pieces);
        auto* step = s.of(std::vector<OptimizerNumbers>{numbers});
        auto* clip = s.number(0.5);
        if (kind == 0) s.step.adamw(at, 1, 4, step, clip, g, p, m, v);
        if (kind == 1) s.step.adam(at, 1, 4, step, clip, g, p, m, v);
        if (kind == 2) s.step.sgd(at, 1, 4, step, clip, g, p, m);
        return Outputs{{"p", s.read(p, 1500)}, {"m", s.read(m, 1500)}, {"v", s.read(v, 1500)}};
    });
}

template <class Verify>
void muon(const Verify& verify) {
    const OptimizerNumbers numbers{0.01, 0.9, 0.95, 1e-8, 0.1, 0.271, 0.378};
    for (const auto& [rows, columns] :
         std::vector<std::pair<int, int>>{{37, 20}, {20, 37}, {33, 33}, {1, 65}})
        for (const bool zero : {false, true})
            verify("muon", zero ? 1 : 8, [&, rows = rows, columns = columns](auto& s) {
                const std::size_t count = area(rows, columns);
                auto *p = s.in(drawn(count, 1)),
                     *m = s.in(zero ? std::vector<double>(count) : drawn(count, 3));
                s.step.muon(rows, columns, true, s.of(std::vector<OptimizerNumbers>{numbers}), s.number(0.5),
                            s.in(zero ? std::vector<double>(count) : drawn(count, 2)), p, m);
                return Outputs{{"p", s.read(p, count)}, {"m", s.read(m, count)}};
            });
}

}  // namespace normscope::device_side::operations
