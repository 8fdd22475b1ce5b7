// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/gallery/findings.h"

#include <QTableWidget>
#include <vector>

namespace normscope::widgets {

/// The measures of an entry: name, what the paper states, our effect with its interval, verdict, size
/// against the paper's. As high as its rows; it scrolls with what it is in.
class GalleryMeasures : public QTableWidget {
    Q_OBJECT
  public:
    enum Column { Name, Paper, Ours, Verdict, Size };

    explicit GalleryMeasures(QWidget* parent);

    /// `findings` is one for each measure, or empty: not read.
    void setMeasures(const std::vector<GalleryMeasure>& measures,
                     const std::vector<GalleryFinding>& findings);

  protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    void showIcons();
    void fit();

    std::vector<GalleryVerdict> verdicts_;
};

}  // namespace normscope::widgets
