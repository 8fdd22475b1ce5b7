// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <functional>
#include <utility>
#include <vector>

class QHBoxLayout;
class QLabel;
class QTimer;

namespace normscope::widgets {

/// A message with buttons for possible actions; never modal. It lies over the lower end of an area, in no
/// layout: it shifts nothing.
class Banner : public QFrame {
    Q_OBJECT
  public:
    /// `parent` contains `over`, directly or not.
    Banner(QWidget* over, QWidget* parent);

    using Offer = std::pair<QString, std::function<void()>>;
    /// Shows a message; each offer is a button that also closes the banner. Without offers it closes after a
    /// time-out.
    void showMessage(const QString& message, std::vector<Offer> offers = {});
    QString message() const;

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void place();

    QWidget* over_;
    QLabel* text_;
    QHBoxLayout* row_;
    std::vector<QWidget*> buttons_;
    QTimer* hide_later_;
};

}  // namespace normscope::widgets
