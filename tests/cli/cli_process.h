// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

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

/// Runs to the end; `in_child` is called in the new process before the program starts.
CliResult run_cli(const QStringList& arguments, const std::function<void()>& in_child = {});

/// Starts and returns at once; both outputs are discarded.
std::unique_ptr<QProcess> start_cli(const QStringList& arguments);

/// --set options with which a step takes milliseconds.
QStringList small_stack();
