// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>

namespace normscope::widgets {

/// The box of a choice: the item's data is the word, its text the title. Ignores the wheel unless it has the
/// focus, and Home and End, which show the first and the newest step.
class ChoiceBox : public QComboBox {
    Q_OBJECT
  public:
    explicit ChoiceBox(QWidget* parent = nullptr);

    /// Sends no signal.
    void setWord(const QString& word);
    const QString& word() const { return word_; }
    /// The run whose line sample is drawn at the left; −1: none.
    void setRun(int run);
    /// The least width that shows the title whole, at this type; `sample`: with a line sample.
    int minimumChipWidth(bool sample) const;
    void showPopup() override;

  Q_SIGNALS:
    void wordChosen(const QString& old_word, const QString& new_word);

  protected:
    void keyPressEvent(QKeyEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

  private:
    QString word_;
    int run_ = -1;
};

}  // namespace normscope::widgets
