// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/knobs/knob_row.h"

class QPushButton;

namespace normscope::widgets {

/// A file's path: shows its name, a click opens a file dialog.
class PathKnob : public KnobRow {
    Q_OBJECT
  public:
    PathKnob(const QString& label, const QString& name, QWidget* parent = nullptr);

    void setValue(const QString& path);
    void setDefaultValue(const QString& path);
    QString value() const { return value_; }
    /// Opens the dialog (object name "fileDialog"); a chosen file is committed.
    void chooseFile();

  Q_SIGNALS:
    void valueCommitted(const QString& old_path, const QString& new_path);

  protected:
    void place(const QRect& body) override;
    void showComparison() override;

  private:
    QPushButton* button_;
    QString value_, default_;
};

}  // namespace normscope::widgets
