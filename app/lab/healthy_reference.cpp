// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/healthy_reference.h"

#include "app/lab/state/lab_state.h"
#include "core/base/number_text.h"

#include <QFileInfo>
#include <utility>

namespace normscope::app {

HealthyReference::HealthyReference(LabState& state)
    : state_(state),
      asked_(state.requests, "healthy runs", Pending<QString>::Replies::OfNewest,
             PendingKind::Owner::Window) {
    state_.onReply(state_.io(), &IoWorker::healthyRead, this, &HealthyReference::apply);
}

void HealthyReference::read(const QString& folder) {
    QMetaObject::invokeMethod(state_.io(), [io = state_.io(), token = asked_.ask(folder), folder] {
        io->readHealthy(token, folder, kRate);
    });
}

void HealthyReference::remove() {
    asked_.drop();
    if (band_) show(nullptr, {});
}

void HealthyReference::apply(quint64 token, const QString& folder, const HealthyBandPtr& band) {
    if (asked_.take(token) && band) show(band, folder);
}

void HealthyReference::show(HealthyBandPtr band, const QString& folder) {
    band_ = std::move(band);
    folder_ = folder;
    ++version_;
    judged_.clear();
    Q_EMIT changed();
    Q_EMIT state_.viewChanged();
}

QString HealthyReference::description() const {
    if (!band_) return {};
    return tr("%1 healthy runs in %2, %3 steps; about %4 % of further ones would be outside")
        .arg(band_->runs())
        .arg(QFileInfo(folder_).fileName())
        .arg(band_->steps())
        .arg(QString::fromStdString(number_text(100 * band_->false_alarm_rate(), 2)));
}

std::optional<HealthyReference::Verdict> HealthyReference::verdict(const LabRun& run) const {
    if (!band_) return std::nullopt;
    Judged now{run.data, run.data->steps.rows(), 0, {}};
    for (const auto& [probe, samples] : run.data->probes) now.samples += samples.size();
    Judged& known = judged_[run.id];
    if (known.data == now.data && known.rows == now.rows && known.samples == now.samples)
        return known.verdict;
    if (band_->compared(*run.data) > 0) {
        const auto number = [](double v) { return QString::fromStdString(number_text(v)); };
        const QString of = tr("the band of %1 healthy runs").arg(band_->runs()),
                      rate =
                          tr("About %1 % of healthy runs would be outside.")
                              .arg(QString::fromStdString(number_text(100 * band_->false_alarm_rate(), 2)));
        const auto outside = band_->outside(*run.data);
        if (outside) {
            const std::string& series = outside->series;
            const QString what =
                QString::fromStdString(outside->place.empty() ? series : series + ", " + outside->place);
            now.verdict = {outside->step, tr("Outside %1 since step %2: %3 is %4, healthy %5 to %6. %7")
                                              .arg(of)
                                              .arg(outside->step)
                                              .arg(what, number(outside->value), number(outside->low),
                                                   number(outside->high), rate)};
        } else {
            now.verdict = {std::nullopt, tr("Inside %1. %2").arg(of, rate)};
        }
    }
    known = std::move(now);
    return known.verdict;
}

}  // namespace normscope::app
