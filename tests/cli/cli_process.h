// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QMap>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <functional>
#include <memory>

/// The result of a run of normscope-cli. `code` is −1 if it did not exit by itself.
struct CliResult {
    int code = -1;
    QString out, error;
    QStringList error_lines() const { return error.split('\n', Qt::SkipEmptyParts); }
};

/// Variables of the environment of the programs that are started while it lives. A null value: not set.
class WithEnvironment {
  public:
    explicit WithEnvironment(const QMap<QByteArray, QByteArray>& variables);
    ~WithEnvironment();
    WithEnvironment(const WithEnvironment&) = delete;
    WithEnvironment& operator=(const WithEnvironment&) = delete;

  private:
    QMap<QByteArray, QByteArray> before_;
};

/// Runs to the end; `in_child` is called in the new process before the program starts; it may
/// share its memory with this one.
CliResult run_cli(const QStringList& arguments, const std::function<void()>& in_child = {});

/// Starts and returns at once; both outputs are discarded.
std::unique_ptr<QProcess> start_cli(const QStringList& arguments);

/// The results.csv of a sweep's folder; "none" where there is none.
QString csv_of(const QString& folder);

/// --set options with which a step takes milliseconds.
QStringList small_stack();
