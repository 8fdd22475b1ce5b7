// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <functional>
#include <utility>
#include <vector>

class QHBoxLayout;
class QLabel;
class QTimer;

namespace normscope::app {

/// A line above the panels that tells something and offers what can be done about it; never modal.
class Banner : public QFrame {
    Q_OBJECT
  public:
    explicit Banner(QWidget* parent = nullptr);

    using Offer = std::pair<QString, std::function<void()>>;
    /// Shows a message; each offer is a button that also closes the banner. Without offers it goes by itself.
    void tell(const QString& message, std::vector<Offer> offers = {});
    QString message() const;

  private:
    QLabel* text_;
    QHBoxLayout* row_;
    std::vector<QWidget*> buttons_;
    QTimer* hide_later_;
};

}  // namespace normscope::app
