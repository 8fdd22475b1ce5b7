// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/outcome.h"

#include <QStringList>
#include <QWidget>
#include <vector>

namespace normscope::widgets {

/// The runs of "Try all" as a small table: name, outcome, loss ± its standard error, the gradient's ratio at
/// the end; one line of kLine pixels a run. Its parent draws the head, next to its buttons. The text is also
/// the accessible description.
class RemedyTable : public QWidget {
    Q_OBJECT
  public:
    struct Row {
        QString name, outcome, loss, gradient;
        RunState state = RunState::Prepared;
        int run = 0;  ///< index of its colour
        bool operator==(const Row&) const = default;
    };
    static constexpr int kLine = 13;
    explicit RemedyTable(QWidget* parent = nullptr);
    void setRows(const std::vector<Row>& rows, const QString& gradient_title);
    const std::vector<Row>& rows() const { return rows_; }
    /// The titles of the columns in a line of that height, the last one up to `right`.
    void paintHead(QPainter& painter, int height, int right) const;

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    /// A text from a share of the width to another, or to `right` pixels.
    void cell(QPainter& painter, double from, int right, const QRect& line, const QString& text) const;
    int at(double share) const { return static_cast<int>(share * width()); }

    std::vector<Row> rows_;
    QString gradient_title_;
};

}  // namespace normscope::widgets
