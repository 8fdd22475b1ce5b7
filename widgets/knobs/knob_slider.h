// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/knobs/knob_scale.h"

#include <QPointer>
#include <QWidget>
#include <optional>
#include <utility>

class QLabel;

namespace normscope::widgets {

/// The bare slider of a knob: a track with ticks below it at its detents, a thumb, small rings at the values
/// of other runs, and the value at the thumb while it is dragged. Its interface is in values, not positions.
/// Shift while dragging disables the detents, Esc cancels a drag. Where ranges can be marked, Shift at the
/// press marks one, and the value stays; Shift+click sets the value under the mouse without the detents.
class KnobSlider : public QWidget {
    Q_OBJECT
  public:
    explicit KnobSlider(QWidget* parent = nullptr);

    void setScale(const KnobScale& scale);
    const KnobScale& scale() const { return scale_; }
    /// Sends no signal. Ignored during a drag: the value may be a few frames old.
    void setValue(double value);
    double value() const { return value_; }
    /// Values marked on the track by small rings. `swept`: they are all the knob's; the thumb is drawn only
    /// while the slider is in use.
    void setStops(const std::vector<double>& stops, bool swept);
    const std::vector<double>& stops() const { return stops_; }
    bool isDragging() const { return dragging_; }
    /// Sets a value as a key press would: one valueCommitted, or none if unchanged.
    void commit(double value);
    /// From 18 px on the values of the detents are written below the groove, and all sizes grow with the
    /// text; below it they are not (12 px, the default).
    void setTextSize(int px);
    /// A value that is snapped to and written first, where values would touch; nullopt: none.
    void setTarget(std::optional<double> value);
    void setRangesMarkable(bool markable) { ranges_markable_ = markable; }
    /// The thumb's centre, in widget coordinates.
    QPointF thumb() const { return {xOf(value_), grooveY()}; }

    QSize sizeHint() const override { return {160, heightHint()}; }
    QSize minimumSizeHint() const override { return {60, heightHint()}; }

  Q_SIGNALS:
    void dragStarted();
    void valueChanging(double value);  ///< every move that changes the value
    void valueCommitted(double old_value,
                        double new_value);      ///< once at the end of a drag, or a key, or a wheel step
    void rangeMarked(double low, double high);  ///< two different values of the scale

  protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void hideEvent(QHideEvent* event) override;

  private:
    double xOf(double value) const;
    double grooveY() const { return labelled() ? 9 * size_ : height() / 2.0; }
    double margin() const;
    double length() const { return width() - 2 * margin(); }
    bool labelled() const { return text_px_ >= 18; }
    int heightHint() const;
    KnobScale snapScale() const;
    bool isThumbShown() const;
    void paintTrack(QPainter& painter) const;
    std::vector<double> stopPlaces() const;
    void paintLabels(QPainter& painter) const;
    void moveTo(double value);
    void changeTo(double value);
    void showBubble();
    void endDrag();
    void markTo(double x);
    void endMarking(bool done);
    void paintMarked(QPainter& painter) const;
    void showBubbleAt(double x, const QString& text);

    KnobScale scale_;
    int text_px_ = 12;
    double size_ = 1;  ///< of the parts, 1 at the default text size
    std::optional<double> target_;
    std::vector<double> stops_;
    bool swept_ = false;
    double value_ = 0, before_drag_ = 0;
    double grip_ = 0;  ///< the pointer's distance from the thumb at the press, so that a press moves nothing
    bool dragging_ = false;
    bool ranges_markable_ = false;
    /// A press with Shift, and where the mouse is since: in values; one value until the drag begins.
    std::optional<std::pair<double, double>> marked_;
    double pressed_x_ = 0;
    int wheel_ = 0;            ///< angle not yet used, for fine wheels
    QPointer<QLabel> bubble_;  ///< a child of the window, so that no neighbour clips it
};

}  // namespace normscope::widgets
