// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/findings/headline.h"
#include "widgets/findings/run_numbers.h"

#include <QWidget>
#include <vector>

class QLabel;

namespace normscope::widgets {

/// What a column of the findings band states of a run, or of a group of runs.
struct ColumnContent {
    QString name;
    int hue = 0;             ///< index of the colour
    Headline headline = {};  ///< next to the name, over the numbers, where it has a title
    std::vector<BandNumber> numbers = {};
    std::vector<RunState> outcomes = {};  ///< of a group, one a run: drawn as glyphs before the word
    QString outcome = {};                 ///< "1 of 3 stalled"
    QString findings = {};                ///< a sentence a line; tooltip and accessible description

    bool operator==(const ColumnContent&) const = default;
};

/// A column of the findings band: a rule in the run's hue, its name, of a failed run its headline with a link
/// to its Why card, then numbers with their captions. Every number has its tooltip. Interface thread.
class FindingsColumn : public QWidget {
    Q_OBJECT
  public:
    static constexpr int kHeadlineWidth = 240;  ///< px, the least

    explicit FindingsColumn(QWidget* parent = nullptr);
    /// Repaints where it differs.
    void setContent(const ColumnContent& content);
    const ColumnContent& content() const { return content_; }
    /// The width that it takes in this font, px; a headline takes more where there is space.
    static int widthOf(const ColumnContent& content, const QFont& font);
    /// The hue, as dark or light as a text on the window needs.
    QColor nameColour() const;
    /// All that is read in it, as plain text.
    QString text() const;
    /// The tooltip at a position: that of the number there, then the findings.
    QString tipAt(const QPoint& at) const;

  Q_SIGNALS:
    void whyRequested();

  protected:
    bool event(QEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

  private:
    void fitHeadline();
    void paintNumber(QPainter& painter, const BandNumber& number, const QRect& cell) const;
    void paintOutcomes(QPainter& painter) const;

    ColumnContent content_;
    QLabel* headline_;  ///< its text can be selected
};

}  // namespace normscope::widgets
