// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractButton>
#include <QStringList>

namespace normscope::widgets {

/// The notices about the chosen stack, above its knobs: why the engine rejects it (✕), and which of its parts
/// the literature advises against (!). One line each; a click (Space) expands them; those that do not fit are
/// counted, and listed in the tooltip. Hidden when empty.
class NoticeStrip : public QAbstractButton {
    Q_OBJECT
  public:
    explicit NoticeStrip(QWidget* parent = nullptr);

    /// An empty `rejection` means that the stack is valid.
    void setNotices(const QString& rejection, const QStringList& warnings);
    const QString& rejection() const { return rejection_; }
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

    QString rejection_;
    QStringList warnings_;
};

}  // namespace normscope::widgets
