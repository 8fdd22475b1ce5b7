// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/runs/run_chip.h"

#include <QWidget>
#include <vector>

class QHBoxLayout;
class QMenu;
class QScrollArea;

namespace normscope::widgets {

class BarButton;
class ComparisonTitle;

/// The top strip: at the left, as wide as the left column, the menu and the name of the comparison; then the
/// runs, which scroll where they do not fit, "+ Compare", presets, recordings, stories, sweeps, search, light
/// and dark. With many runs search and "+ Compare" are shown as glyphs.
class RunStrip : public QWidget {
    Q_OBJECT
  public:
    static constexpr int kHeight = 44;

    explicit RunStrip(QWidget* parent = nullptr);

    ComparisonTitle* title() const { return title_; }
    /// Of the left column below it.
    void setLeftWidth(int width);
    /// The setters send no signal.
    void setRuns(const std::vector<RunLabel>& runs);
    void setSelected(const QString& id);
    /// Preset names and their display texts, in the same order.
    void setPresets(const QStringList& names, const QStringList& titles);
    /// The basic window has the stories in the findings alone and no sweeps, and a button for the full one.
    void setBasic(bool basic);
    void setStories(const QStringList& names, const QStringList& titles);
    /// The menu of sweeps, filled by its owner.
    QMenu* sweepMenu() const { return sweeps_; }
    /// Opens a field over a run's chip; Enter sends runRenamed(), Esc and another click close it.
    void editName(const QString& id);
    const std::vector<RunChip*>& chips() const { return chips_; }
    QSize minimumSizeHint() const override;

  Q_SIGNALS:
    void runSelected(const QString& id);
    void runMenuRequested(const QString& id, const QPoint& global);  ///< right click or the menu key
    void runRenamed(const QString& id, const QString& name);         ///< an empty name: its own again
    void compareRequested();
    void presetChosen(const QString& name);
    void storyChosen(const QString& name);
    void recordingsRequested();
    void commandSearchRequested();  ///< button or Ctrl+K
    void themeToggled();
    void fullRequested();

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void showGlyphsOrTexts();

    ComparisonTitle* title_;
    BarButton *compare_, *search_, *full_;
    std::vector<QWidget*> not_basic_;
    std::vector<RunChip*> chips_;
    QScrollArea* scroll_;
    QHBoxLayout* runs_;
    QMenu* presets_;
    QMenu* stories_;
    QMenu* sweeps_;
};

}  // namespace normscope::widgets
