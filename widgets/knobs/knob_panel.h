// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/knobs/knob_table.h"
#include "widgets/knobs/knob_comparison.h"

#include <QWidget>
#include <array>
#include <functional>
#include <vector>

class QLabel;
class QScrollArea;
class QVBoxLayout;

namespace normscope::widgets {

class DiffList;
class FoldTitle;
class GlyphButton;
class KnobRow;
class NoticeStrip;

/// The column of knobs: a header that states which runs they act on, and one row per entry of knobTable(),
/// the most used always visible, the others in a fold per section; those without an effect in the shown
/// recipe are greyed out. The differences from a preset and the notices are placed below them, where they
/// move no knob. Shows a recipe and emits requested changes; changes nothing itself.
class KnobPanel : public QWidget {
    Q_OBJECT
  public:
    explicit KnobPanel(QWidget* parent = nullptr);

    /// Shows a recipe; dots mark what differs from `defaults`. Sends no signal; ignored by a knob that is
    /// being dragged.
    void setRecipe(const Recipe& shown, const Recipe& defaults);
    /// All compared runs, one entry a group: a knob whose values differ has a field a run, or stops.
    void setCompared(const std::vector<ComparedRun>& runs);
    /// On which runs the knobs act, in the header: "linked, both runs". `brief` where it does not fit.
    void setScope(const QString& scope, const QString& brief);
    /// Greys out the words of a choice that are not in the list; `why` is their tooltip.
    void setAvailable(const QString& key, const QStringList& words, const QString& why);
    /// Whether the knobs act on all compared runs (the chain icon). Sends no signal.
    void setLinked(bool linked);
    bool isLinked() const;
    /// Opens or closes a fold, or all of them.
    void setSectionShown(KnobSection section, bool shown);
    void setAllShown(bool shown);
    /// Shows the four knobs that matter most alone, or all.
    void setBasic(bool basic);
    /// Opens the fold of a key's knob, scrolls to it and gives it the focus. Shows all where it is hidden.
    void reveal(const QString& key);
    /// The row of a key, or nullptr: for tests, presentation strips and stories.
    KnobRow* row(const QString& key) const;
    NoticeStrip* notices() const { return notices_; }
    DiffList* differences() const { return differences_; }

  Q_SIGNALS:
    void keyDragStarted(normscope::KeyRef key);
    void keyChanging(normscope::KeyRef key, const normscope::FieldValue& value);  ///< every move of a drag
    /// One for each change: the end of a drag (also back at the old value), a key, an edit, a choice, a
    /// reset. The values are of the key's type.
    void keyCommitted(normscope::KeyRef key, const normscope::FieldValue& old_value,
                      const normscope::FieldValue& new_value);
    /// From the field of one run: to be applied to that run alone.
    void runKeyCommitted(int run, normscope::KeyRef key, const normscope::FieldValue& old_value,
                         const normscope::FieldValue& new_value);
    void rangeMarked(normscope::KeyRef key, double low, double high);  ///< Shift+drag on a slider
    void linkToggled(bool linked);
    void fullRequested();  ///< a hidden knob is to be revealed

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    struct Row {
        const KnobSpec* spec;
        KnobRow* widget;
        std::function<void(const FieldValue& value, const FieldValue& default_value)> show;
    };
    Row makeRow(const KnobSpec& spec);
    Row makeNumber(const KnobSpec& spec);
    Row makeChoice(const KnobSpec& spec);
    Row makePath(const KnobSpec& spec);
    void makeFold(KnobSection section, QVBoxLayout* column);
    void showFoldTitles();
    void showScope();

    std::vector<Row> rows_;
    Recipe shown_, defaults_;
    GlyphButton* link_;
    QLabel* scope_label_;
    QString scope_, brief_scope_;
    QScrollArea* scroll_;
    QWidget* hairline_;
    bool basic_ = false;
    NoticeStrip* notices_;
    DiffList* differences_;
    struct Fold {
        FoldTitle* title = nullptr;
        QWidget* body = nullptr;
    };
    std::array<Fold, kKnobSections> folds_;  ///< by section; none for the visible ones
};

}  // namespace normscope::widgets
