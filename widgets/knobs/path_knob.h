// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/knobs/knob_row.h"

class QPushButton;

namespace normscope::widgets {

/// The path of a text file or of a folder of images: shows its name, a click opens a dialog.
class PathKnob : public KnobRow {
    Q_OBJECT
  public:
    PathKnob(const QString& label, const QString& name, QWidget* parent = nullptr);

    void setValue(const QString& path);
    void setDefaultValue(const QString& path);
    QString value() const { return value_; }
    void setChoosesFolder(bool folder) { folder_ = folder; }
    /// Opens the dialog (object name "fileDialog"); what is chosen is committed.
    void chooseFile();

  Q_SIGNALS:
    void valueCommitted(const QString& old_path, const QString& new_path);

  protected:
    void place(const QRect& body) override;
    void showComparison() override;

  private:
    QPushButton* button_;
    QString value_, default_;
    bool folder_ = false;
};

}  // namespace normscope::widgets
