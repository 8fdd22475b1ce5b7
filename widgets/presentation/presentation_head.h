// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>

class QLabel;

namespace normscope::widgets {

/// The top of the presentation: the headline and the step shown, in large type.
class PresentationHead : public QWidget {
    Q_OBJECT
  public:
    explicit PresentationHead(QWidget* parent = nullptr);

    void setHeadline(const QString& text);
    /// `planned`: the last step; the number has the width of its digits.
    void setStep(qint64 step, qint64 planned);

  private:
    QLabel* headline_;
    QWidget* box_;  ///< of the step
    QLabel* of_;
    QLabel* number_;
};

}  // namespace normscope::widgets
