// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>
#include <map>
#include <string>

namespace normscope::app {

class LabState;

/// What the user wrote about the comparison and about each run: kept in a session's /view and for the next
/// start. It is no edit of the runs: undo leaves it. Interface thread.
class Notes : public QObject {
    Q_OBJECT
  public:
    static constexpr int kMaxLength = 10'000;  ///< characters of a note

    explicit Notes(LabState& state);

    /// Empty where nothing was written. That of the comparison belongs to the runs it had then: a new
    /// comparison has none, and undoing that brings it back.
    QString ofComparison() const;
    QString ofRun(const std::string& id) const;
    /// The session is then not saved. Longer texts are cut at kMaxLength.
    void setOfComparison(const QString& text);
    void setOfRun(const std::string& id, const QString& text);

    /// Those of the runs that are there.
    std::map<std::string, QString> ofRuns() const;
    /// Of a session that was opened, or of a restored window.
    void restore(const QString& comparison, const std::map<std::string, QString>& runs);
    /// The runs were replaced by those of a file, whose ids may be the same.
    void clear();

  Q_SIGNALS:
    void changed();

  private:
    LabState& state_;
    std::map<std::string, QString> comparison_, runs_;  ///< by run
};

}  // namespace normscope::app
