// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/outcome.h"

#include <QRectF>
#include <QString>
#include <QToolButton>

class QColor;
class QPainter;
class QPainterPath;

namespace normscope::widgets {

/// Small icons drawn by path rather than taken from a font, because common fonts lack half of them.
enum class Glyph {
    First,
    Back,
    Play,
    Pause,
    Forward,
    Last,  // transport
    Dot,
    Check,
    Cross,
    Bar,
    StepDown,
    Bang,  // outcomes (and Pause: interrupted)
    Reset,
    Restart,
    Linked,
    Unlinked,
    Theme,
    Search,
    Plus,
    Caret,
    More,
    Download,
    Expand,
    Menu,
    List,
    Undo,
    Redo,
    Arc,  // running
    Ring  // ready
};

/// Draws inside the largest centred square of `rect`. Coordinates of paths are those of a square of 16 × 16.
void paintPaths(QPainter& painter, const QRectF& rect, const QPainterPath& stroked,
                const QPainterPath& filled, const QColor& colour);
void paintGlyph(QPainter& painter, const QRectF& rect, Glyph glyph, const QColor& colour);

/// The state of a run: ○ ready, an arc running, ✓ finished, ✕ diverged, a step down collapsed, ▬ stalled,
/// ⏸ interrupted, ! failed.
Glyph outcomeGlyph(RunState state);

/// A flat button that shows a glyph in the palette's text colour. A mouse click does not take the focus; with
/// keyboard focus Space presses it rather than starting a run.
class GlyphButton : public QToolButton {
    Q_OBJECT
  public:
    /// `name` is both the accessible name and the tooltip.
    GlyphButton(Glyph glyph, const QString& name, QWidget* parent = nullptr);
    void setGlyph(Glyph glyph, const QString& name);
    Glyph glyph() const { return glyph_; }
    QSize sizeHint() const override;

  protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

  private:
    Glyph glyph_ = {};
};

/// True for the ShortcutOverride of a Space that a button with keyboard focus handles itself.
bool keepsSpace(const QWidget* button, QEvent* event);

}  // namespace normscope::widgets
