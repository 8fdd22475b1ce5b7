// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractButton>
#include <QStringList>

namespace normscope::widgets {

/// What is to be said about the chosen stack, above its knobs: why the engine does not build it (✕), and
/// which of its parts the literature advises against (!). One line each, a click (Space) shows them in full;
/// what would take too much room is counted, and in the tool tip. Hidden where there is nothing to say.
class NoticeStrip : public QAbstractButton {
    Q_OBJECT
  public:
    explicit NoticeStrip(QWidget* parent = nullptr);

    /// An empty `refusal` means that the stack is built.
    void setNotices(const QString& refusal, const QStringList& warnings);
    const QString& refusal() const { return refusal_; }
    const QStringList& warnings() const { return warnings_; }
    /// As they are drawn, the count of the rest last.
    QStringList shownLines() const { return linesFor(width()); }

    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize sizeHint() const override;

  protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

  private:
    int rowHeight(const QString& text, int width) const;
    QStringList lines() const;
    QStringList linesFor(int width) const;

    QString refusal_;
    QStringList warnings_;
};

}  // namespace normscope::widgets
