// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QProcess>
#include <QString>
#include <QStringList>
#include <functional>
#include <memory>

/// What a run of normscope-cli left behind. `code` is −1 when it did not end by itself.
struct CliResult {
    int code = -1;
    QString out, error;
    QStringList error_lines() const { return error.split('\n', Qt::SkipEmptyParts); }
};

/// Runs to the end; `in_child` is called in the new process before the program starts.
CliResult run_cli(const QStringList& arguments, const std::function<void()>& in_child = {});

/// Starts and returns at once; both outputs go to nowhere.
std::unique_ptr<QProcess> start_cli(const QStringList& arguments);

/// --set options that make training a matter of milliseconds a step.
QStringList small_stack();
