// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/sweep/sweep_fields.h"

#include <QDialog>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace normscope::widgets {

/// A new sweep: two keys with their values, the seeds and the folder, each with its reason where it is not
/// valid. The dialog stays open until the sweep starts.
class SweepDialog : public QDialog {
    Q_OBJECT
  public:
    /// `base` is trained with each combination; `name` is how the dialog names it. New folders are made in
    /// `folders`. `run_seconds`: what a run of `base` takes on this machine ("this machine", another one's
    /// name), 0 if not known.
    SweepDialog(const Recipe& base, const QString& name, QString folders, double run_seconds, QString machine,
                QWidget* parent);

    /// Only this key, with these values; of `seed` they are the seeds.
    void setVaried(const std::string& key, const std::string& values);
    /// The reason why a start was rejected.
    void showRejected(const QString& line);

  Q_SIGNALS:
    void startRequested(const normscope::SweepSpec& spec, const QString& folder);

  private:
    std::vector<SweepField> fields() const;
    QString sizeText(const std::vector<SweepField>& fields) const;
    void check();
    void useScheme(bool with_rates);
    void chooseFolder();

    std::string base_;
    const int steps_;
    const double run_seconds_;
    const QString machine_;
    QString folders_;
    struct Row {
        QComboBox* key;
        QLineEdit* values;
        QLabel* problem;
    };
    std::vector<Row> rows_;
    QLineEdit *seeds_, *folder_;
    QLabel *seeds_problem_, *folder_problem_, *count_;
    QPushButton* start_;
    bool folder_edited_ = false;
    ParsedSweep parsed_;
};

}  // namespace normscope::widgets
