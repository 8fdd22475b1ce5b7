// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/probe_costs.h"
#include "core/run/probes_preset.h"

#include <QDialog>
#include <optional>
#include <vector>

class QLabel;
class QLineEdit;
class QPushButton;
class QRadioButton;
class QTableWidget;

namespace normscope::widgets {

/// The presets of probes, each with the share of the steps' time that it is predicted to take, the places
/// that they measure, and what the probes of the selected run took by the clock.
class ProbeCostsDialog : public QDialog {
    Q_OBJECT
  public:
    /// `recipe`: of the selected run; `completed`: the same with what its data say, nullopt where that is not
    /// known, of which `problem` is the reason, a line.
    ProbeCostsDialog(Recipe recipe, std::optional<Recipe> completed, const QString& problem, QWidget* parent);

    /// What the probes of a run took in its recorded steps.
    void setTimes(const QString& run, std::size_t steps, const ProbeTimes& times);

  Q_SIGNALS:
    /// Nullopt: as they are. Emitted where one of them differs.
    void chosen(const std::optional<normscope::ProbesPreset>& preset,
                const std::optional<normscope::PlaceSelection>& places);

  private:
    void showPredictions(const QString& problem);
    void showPrediction(std::size_t preset, const std::optional<PlaceSelection>& places);
    /// The patterns in the field; nullopt where they have not been changed. Throws InputError.
    std::optional<PlaceSelection> changedPlaces() const;
    /// What is wrong with the field, and whether the choice can be taken.
    void checkPlaces();
    void apply();

    const Recipe recipe_;
    const std::optional<Recipe> completed_;
    std::vector<QRadioButton*> presets_;
    QLineEdit* only_;
    QLabel* only_problem_;
    QPushButton* ok_ = nullptr;
    QString only_before_;
    QLabel* total_;
    QTableWidget* times_;
};

/// "0.4 %", "12 %", "300 %": of a share.
QString percentText(double share);

}  // namespace normscope::widgets
