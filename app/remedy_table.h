// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/outcome.h"

#include <QStringList>
#include <QWidget>
#include <vector>

namespace normscope::app {

/// The runs of "Try all" as a small table of fixed height: name, outcome, loss ± its standard error and the
/// gradient's ratio at the end; one line a run. The text is also the accessible description.
class RemedyTable : public QWidget {
    Q_OBJECT
  public:
    struct Row {
        QString name, outcome, loss, gradient;
        RunState state = RunState::Prepared;
        int run = 0;  ///< index of its colour
        bool operator==(const Row&) const = default;
    };
    explicit RemedyTable(QWidget* parent = nullptr);
    void setRows(const std::vector<Row>& rows, const QString& gradient_title);
    const std::vector<Row>& rows() const { return rows_; }

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    std::vector<Row> rows_;
    QString gradient_title_;
};

}  // namespace normscope::app
