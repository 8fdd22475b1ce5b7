// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/probes_preset.h"

#include <QDialog>
#include <optional>
#include <vector>

class QLabel;
class QLineEdit;
class QPushButton;
class QRadioButton;
class QTableWidget;

namespace normscope::app {

class Lab;

/// The presets of probes, each with the share of the steps' time that it is predicted to take, the places
/// that they measure, and what the probes of the selected run took by the clock.
class ProbeCostsDialog : public QDialog {
    Q_OBJECT
  public:
    explicit ProbeCostsDialog(Lab& lab, QWidget* parent);

  private:
    void showPredictions();
    void showPrediction(std::size_t preset, const std::optional<PlaceSelection>& places);
    void showTimes();
    /// The patterns in the field; nullopt where they have not been changed. Throws InputError.
    std::optional<PlaceSelection> changedPlaces() const;
    /// What is wrong with the field, and whether the choice can be taken.
    void checkPlaces();
    void apply();

    Lab& lab_;
    std::vector<QRadioButton*> presets_;
    QLineEdit* only_;
    QLabel* only_problem_;
    QPushButton* ok_ = nullptr;
    QString only_before_;
    std::optional<Recipe> recipe_;  ///< of the selected run, completed
    QLabel* total_;
    QTableWidget* times_;
};

/// "0.4 %", "12 %", "300 %": of a share.
QString percentText(double share);

}  // namespace normscope::app
